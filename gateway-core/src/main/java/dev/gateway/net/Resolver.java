package dev.gateway.net;

import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import io.netty.resolver.dns.DefaultDnsCache;
import io.netty.resolver.dns.DnsCache;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import io.netty.resolver.dns.SequentialDnsServerAddressStreamProvider;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

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

    private final IdentityHashMap<EventLoop, DnsNameResolver> resolvers = new IdentityHashMap<>();

    /**
     * Makes the resolvers of all event loops of a transport.
     *
     * @param nameServers whom to ask; empty for those this machine is configured with
     */
    public Resolver(Transport transport, List<InetSocketAddress> nameServers) {
        DnsServerAddressStreamProvider servers = nameServers.isEmpty()
                ? DnsServerAddressStreamProviders.platformDefault()
                : new SequentialDnsServerAddressStreamProvider(nameServers);
        DnsCache cache = new DefaultDnsCache(MIN_TTL_SECONDS, MAX_TTL_SECONDS, NEGATIVE_TTL_SECONDS);
        Class<? extends SocketChannel> tcp = transport.socketType();
        for (EventLoop loop : transport.loops()) {
            resolvers.put(
                    loop,
                    new DnsNameResolverBuilder(loop)
                            .datagramChannelType(transport.datagramType())
                            .socketChannelType(tcp) // for answers too long for a datagram
                            .nameServerProvider(servers)
                            .resolveCache(cache)
                            .queryTimeoutMillis(QUERY_TIMEOUT_MILLIS)
                            .consolidateCacheSize(MAX_QUERIES_IN_COMMON)
                            .build());
        }
    }

    /**
     * Resolves a name or IP literal to all its addresses.
     *
     * @param loop the caller's event loop, on which the future is completed
     */
    public Future<List<InetAddress>> resolve(EventLoop loop, String host) {
        byte[] literal = NetUtil.createByteArrayFromIpAddressString(host);
        if (literal != null) {
            try {
                return loop.newSucceededFuture(List.of(InetAddress.getByAddress(literal)));
            } catch (UnknownHostException e) {
                return loop.newFailedFuture(e);
            }
        }
        DnsNameResolver resolver = resolvers.get(loop);
        if (resolver == null) {
            throw new IllegalArgumentException("not a loop of this transport");
        }
        return resolver.resolveAll(host);
    }

    @Override
    public void close() {
        new ArrayList<>(resolvers.values()).forEach(DnsNameResolver::close);
    }
}
