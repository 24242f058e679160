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
 * Gets the TTL of addresses from Netty's resolver, whose answers do not have it. It is a cache for Netty that caches
 * nothing: Netty's own cache has no bound, and loses answers when DNS fails. Confined to one event loop.
 */
final class TimesToLive implements DnsCache {
    private static final int MAX_NOTES = 8192; // more addresses than concurrent answers have

    private final IdentityHashMap<InetAddress, Long> seconds = new IdentityHashMap<>();

    /** Returns the shortest TTL of an answer's addresses and forgets it, or -1 if it is unknown. */
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
            seconds.clear(); // most are of abandoned queries; current answers then get the minimum TTL
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
