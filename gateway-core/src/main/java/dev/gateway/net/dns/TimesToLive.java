package dev.gateway.net.dns;

import io.netty.channel.EventLoop;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.resolver.dns.DnsCache;
import io.netty.resolver.dns.DnsCacheEntry;
import java.net.InetAddress;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Hears from Netty's resolver for how long addresses hold, which its answers do not say. It caches nothing: Netty's own
 * cache has no bound, and forgets what was known when DNS fails. Confined to one event loop.
 */
final class TimesToLive implements DnsCache {
    private static final int MAX_NOTES = 8192; // more than answers that come at the same time have

    private final IdentityHashMap<InetAddress, Long> seconds = new IdentityHashMap<>();

    /** Returns how long an answer holds and forgets it, or -1 if that was not said. */
    long take(List<InetAddress> answer) {
        long least = -1;
        for (InetAddress address : answer) {
            Long noted = seconds.remove(address);
            if (noted != null && (least < 0 || noted < least)) {
                least = noted;
            }
        }
        return least;
    }

    @Override
    public @Nullable DnsCacheEntry cache(
            String hostname, DnsRecord[] additionals, InetAddress address, long ttl, EventLoop loop) {
        if (seconds.size() >= MAX_NOTES) {
            seconds.clear(); // of queries that were given up; what is being asked for holds for the least time then
        }
        seconds.put(address, ttl);
        return null;
    }

    @Override
    public @Nullable DnsCacheEntry cache(String hostname, DnsRecord[] additionals, Throwable cause, EventLoop loop) {
        return null;
    }

    @Override
    public @Nullable List<? extends DnsCacheEntry> get(String hostname, DnsRecord[] additionals) {
        return null;
    }

    @Override
    public void clear() {
        seconds.clear();
    }

    @Override
    public boolean clear(String hostname) {
        return false;
    }
}
