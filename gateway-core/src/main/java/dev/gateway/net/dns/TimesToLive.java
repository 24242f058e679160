package dev.gateway.net.dns;

import io.netty.channel.EventLoop;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.resolver.dns.DnsCache;
import io.netty.resolver.dns.DnsCacheEntry;
import io.netty.resolver.dns.DnsCnameCache;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Gets the TTL of addresses from Netty's resolver, whose answers do not have it. An address that aliases (CNAME) lead to
 * has the shortest TTL on the way. It is a cache for Netty that caches nothing: Netty's own cache has no bound, and loses
 * answers when DNS fails. Confined to one event loop.
 */
final class TimesToLive implements DnsCache {
    private static final int MAX_NOTES = 8192; // more addresses than concurrent answers have
    private static final int MAX_ALIASES = 16; // in a row, as in Netty

    private final IdentityHashMap<InetAddress, Long> seconds = new IdentityHashMap<>();
    private final Map<String, Alias> aliases = new HashMap<>(); // by name, with a dot at the end

    private record Alias(String target, long seconds) {}

    /** Notes aliases. */
    private final class Aliases implements DnsCnameCache {
        @Override
        public @Nullable String get(String hostname) {
            aliases.remove(hostname); // a query for it begins
            return null;
        }

        @Override
        public void cache(String hostname, String cname, long ttl, EventLoop loop) {
            if (aliases.size() >= MAX_NOTES) {
                aliases.clear(); // current answers then get the TTL of the address
            }
            aliases.put(hostname, new Alias(cname, ttl));
        }

        @Override
        public void clear() {
            aliases.clear();
        }

        @Override
        public boolean clear(String hostname) {
            return aliases.remove(hostname) != null;
        }
    }

    /** Returns what gets the aliases of the same resolver. */
    DnsCnameCache aliases() {
        return new Aliases();
    }

    private long shortest(String hostname, long ttl) {
        long least = ttl;
        String name = hostname.toLowerCase(Locale.ROOT);
        Alias alias = aliases.get(name.endsWith(".") ? name : name + '.');
        for (int i = 0; alias != null && i < MAX_ALIASES; i++) {
            least = Math.min(least, alias.seconds);
            alias = aliases.get(alias.target);
        }
        return least;
    }

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
        seconds.put(address, shortest(hostname, ttl));
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
