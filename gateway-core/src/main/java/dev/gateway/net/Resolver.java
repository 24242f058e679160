package dev.gateway.net;

import io.netty.channel.EventLoop;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DefaultDnsCache;
import io.netty.resolver.dns.DnsCache;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import io.netty.resolver.dns.SequentialDnsServerAddressStreamProvider;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Resolves host names without blocking: the hosts file, then DNS, whose answers are kept for as long as they say, within
 * bounds, by all event loops together.
 */
public final class Resolver implements AutoCloseable {
    private static final int MIN_TTL_SECONDS = 1;
    private static final int MAX_TTL_SECONDS = 300;
    /** A name that does not exist is not asked for again by every request. */
    private static final int NEGATIVE_TTL_SECONDS = 2;

    private static final int QUERY_TIMEOUT_MILLIS = 2000;
    private static final int MAX_QUERIES_IN_COMMON = 1024;

    private final IdentityHashMap<EventLoop, DnsNameResolver> ipv6 = new IdentityHashMap<>();
    private final IdentityHashMap<EventLoop, DnsNameResolver> ipv4 = new IdentityHashMap<>();
    private final boolean asksIpv6 = isIpv6Connected();

    /**
     * The answers for one name, which come separately. A family that the name has no address of fails, or is empty.
     *
     * @param ipv6 done with addresses that are all IPv6
     * @param ipv4 done with addresses that are all IPv4
     */
    public record Answers(Future<List<InetAddress>> ipv6, Future<List<InetAddress>> ipv4) {}

    /**
     * Makes the resolvers of all event loops of a transport.
     *
     * @param nameServers whom to ask; empty for those this machine is configured with
     */
    public Resolver(Transport transport, List<InetSocketAddress> nameServers) {
        DnsServerAddressStreamProvider servers = nameServers.isEmpty()
                ? DnsServerAddressStreamProviders.platformDefault()
                : new SequentialDnsServerAddressStreamProvider(nameServers);
        // A cache each, because one name's entries are kept or replaced together.
        DnsCache ipv6Cache = new DefaultDnsCache(MIN_TTL_SECONDS, MAX_TTL_SECONDS, NEGATIVE_TTL_SECONDS);
        DnsCache ipv4Cache = new DefaultDnsCache(MIN_TTL_SECONDS, MAX_TTL_SECONDS, NEGATIVE_TTL_SECONDS);
        for (EventLoop loop : transport.loops()) {
            DnsNameResolverBuilder builder = new DnsNameResolverBuilder(loop)
                    .datagramChannelFactory(transport.datagramFactory())
                    .socketChannelFactory(transport.socketFactory()) // for answers too long for a datagram
                    .nameServerProvider(servers)
                    .queryTimeoutMillis(QUERY_TIMEOUT_MILLIS)
                    .consolidateCacheSize(MAX_QUERIES_IN_COMMON);
            ipv4.put(
                    loop,
                    builder.resolvedAddressTypes(ResolvedAddressTypes.IPV4_ONLY)
                            .resolveCache(ipv4Cache)
                            .build());
            if (asksIpv6) {
                ipv6.put(
                        loop,
                        builder.resolvedAddressTypes(ResolvedAddressTypes.IPV6_ONLY)
                                .resolveCache(ipv6Cache)
                                .build());
            }
        }
    }

    /** Whether IPv6 leads anywhere from here; if not, name servers are not asked for it. */
    private static boolean isIpv6Connected() {
        return NetUtil.NETWORK_INTERFACES.stream()
                .flatMap(NetworkInterface::inetAddresses)
                .anyMatch(address -> address instanceof Inet6Address
                        && !address.isLoopbackAddress()
                        && !address.isLinkLocalAddress());
    }

    /**
     * Resolves a name or IP literal to all its addresses.
     *
     * @param loop the caller's event loop, on which the futures are completed
     */
    public Answers resolve(EventLoop loop, String host) {
        InetAddress literal = literal(host);
        Future<List<InetAddress>> none = loop.newSucceededFuture(List.of());
        if (literal != null) {
            Future<List<InetAddress>> one = loop.newSucceededFuture(List.of(literal));
            return literal instanceof Inet6Address ? new Answers(one, none) : new Answers(none, one);
        }
        DnsNameResolver ipv4Resolver = ipv4.get(loop);
        DnsNameResolver ipv6Resolver = ipv6.get(loop);
        if (ipv4Resolver == null) {
            throw new IllegalArgumentException("not a loop of this transport");
        }
        return new Answers(ipv6Resolver == null ? none : ipv6Resolver.resolveAll(host), ipv4Resolver.resolveAll(host));
    }

    /** Returns the address that an IP literal is, null for a name. */
    public static @Nullable InetAddress literal(String host) {
        byte[] bytes = NetUtil.createByteArrayFromIpAddressString(host);
        try {
            return bytes == null ? null : InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e); // the length is that of an address
        }
    }

    @Override
    public void close() {
        List.copyOf(ipv6.values()).forEach(DnsNameResolver::close);
        List.copyOf(ipv4.values()).forEach(DnsNameResolver::close);
    }
}
