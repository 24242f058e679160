package dev.gateway.net.dns;

import dev.gateway.format.IpLiteral;
import dev.gateway.net.transport.Transport;
import dev.gateway.overload.memory.Account;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.dns.DefaultDnsQuestion;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import io.netty.resolver.dns.NoopAuthoritativeDnsServerCache;
import io.netty.resolver.dns.SequentialDnsServerAddressStreamProvider;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * DNS resolver: resolves host names without blocking, from the hosts file, then from DNS. All event loops share a cache,
 * which keeps answers for their TTL, within bounds. While DNS fails, the last answer for a name of the configuration is
 * used for up to an hour. Names from clients have a cache of their own, so that they cannot displace names of the
 * configuration.
 */
public final class Resolver implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Resolver.class);
    private static final int QUERY_TIMEOUT_MILLIS = 2000;
    private static final int MAX_QUERIES_IN_COMMON = 1024;
    private static final int MAX_CONFIGURED = 100_000; // more names than a configuration has
    private static final int MAX_CONFIGURED_ADDRESSES = 1000;
    private static final int MAX_REQUESTED = 1024;
    private static final int MAX_REQUESTED_ADDRESSES = 16;
    private static final long MAX_STALE_NANOS = TimeUnit.HOURS.toNanos(1);
    private static final long FAILED_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long MIN_HOLD_MILLIS = 100;

    private final IdentityHashMap<EventLoop, Lookup.Source> ipv6 = new IdentityHashMap<>();
    private final IdentityHashMap<EventLoop, Lookup.Source> ipv4 = new IdentityHashMap<>();
    private final IdentityHashMap<EventLoop, ServiceLookup.Query> services = new IdentityHashMap<>();
    private final IdentityHashMap<EventLoop, RunningLookups> running = new IdentityHashMap<>();
    private final HostsFile hosts;
    private final SearchList searchList = SearchList.ofMachine();
    private final boolean asksIpv6 = isConnected(Inet6Address.class);
    private final boolean needsIpv6 = asksIpv6 && !isConnected(Inet4Address.class);
    private final NameCache configuredNames = new NameCache(MAX_CONFIGURED, MAX_CONFIGURED_ADDRESSES);
    private final NameCache requestedNames = new NameCache(MAX_REQUESTED, MAX_REQUESTED_ADDRESSES);
    private final Map<String, Integer> configured = new ConcurrentHashMap<>(); // calls of keep, by name
    private final Renewals renewals;
    private final long maxTtlSeconds;

    /**
     * The answers for one name, which arrive separately. If the name has no address of a family, its future fails or is
     * empty.
     *
     * @param ipv6 the IPv6 addresses
     * @param ipv4 the IPv4 addresses
     */
    public record Answers(Future<List<InetAddress>> ipv6, Future<List<InetAddress>> ipv4) {}

    /**
     * Makes the resolvers of all event loops of a transport.
     *
     * @param nameServers the DNS servers to ask; empty for those of this machine
     * @param maxTtl how long an answer is used at most, at least a second
     */
    public Resolver(Transport transport, List<InetSocketAddress> nameServers, Duration maxTtl) {
        this(transport, nameServers, maxTtl, new HostsFile(HostsFile.USUAL));
    }

    /** Makes the resolvers, with a hosts file. */
    Resolver(Transport transport, List<InetSocketAddress> nameServers, Duration maxTtl, HostsFile hosts) {
        this.hosts = hosts;
        maxTtlSeconds = maxTtl.toSeconds();
        DnsServerAddressStreamProvider servers = nameServers.isEmpty()
                ? DnsServerAddressStreamProviders.platformDefault()
                : new SequentialDnsServerAddressStreamProvider(nameServers);
        for (EventLoop loop : transport.loops()) {
            DnsNameResolverBuilder builder = new DnsNameResolverBuilder(loop)
                    .datagramChannelFactory(transport.datagramFactory())
                    .socketChannelFactory(transport.socketFactory()) // for answers too long for a datagram
                    .nameServerProvider(servers)
                    .queryTimeoutMillis(QUERY_TIMEOUT_MILLIS)
                    .hostsFileEntriesResolver((name, types) -> null) // this class reads the hosts file
                    .authoritativeDnsServerCache(NoopAuthoritativeDnsServerCache.INSTANCE) // others have no bounds
                    .consolidateCacheSize(MAX_QUERIES_IN_COMMON);
            running.put(loop, new RunningLookups(loop, QUERY_TIMEOUT_MILLIS));
            TimesToLive times = new TimesToLive();
            PlainAgain one = resolver(loop, builder, ResolvedAddressTypes.IPV4_ONLY, times);
            ipv4.put(loop, new Lookup.Source(one, times));
            services.put(loop, name -> one.records(new DefaultDnsQuestion(name, DnsRecordType.SRV)));
            if (asksIpv6) {
                TimesToLive timesOfIpv6 = new TimesToLive();
                PlainAgain other = resolver(loop, builder, ResolvedAddressTypes.IPV6_ONLY, timesOfIpv6);
                ipv6.put(loop, new Lookup.Source(other, timesOfIpv6));
            }
        }
        EventLoop first = transport.loops().get(0);
        renewals = new Renewals(first, key -> ask(first, key));
    }

    private static PlainAgain resolver(
            EventLoop loop, DnsNameResolverBuilder common, ResolvedAddressTypes types, TimesToLive times) {
        return new PlainAgain(loop, (edns, observers) -> common.copy()
                .optResourceEnabled(edns)
                .dnsQueryLifecycleObserverFactory(observers)
                .resolvedAddressTypes(types)
                .resolveCache(times)
                .cnameCache(times.aliases())
                .build());
    }

    /** Whether this machine has a usable address of a family. Without one of IPv6, there are no queries for IPv6. */
    private static boolean isConnected(Class<? extends InetAddress> family) {
        return NetUtil.NETWORK_INTERFACES.stream()
                .flatMap(NetworkInterface::inetAddresses)
                .anyMatch(address ->
                        family.isInstance(address) && !address.isLoopbackAddress() && !address.isLinkLocalAddress());
    }

    /** Whether this machine can reach IPv6 addresses only. */
    public boolean needsIpv6() {
        return needsIpv6;
    }

    /**
     * Resolves a name of the configuration, or an IP literal, to all its addresses. Uses the search domains of {@code
     * resolv.conf}, as other programs on this machine do.
     *
     * @param loop the caller's event loop, on which the futures are completed
     */
    public Answers resolve(EventLoop loop, String host) {
        String name = host.toLowerCase(Locale.ROOT);
        return resolve(loop, name, null, false);
    }

    /**
     * Resolves a name from a client, or an IP literal, to all its addresses. Never uses search domains: the policy has
     * allowed this name, not a completed one. The futures fail with {@link LookupLimitException} if too many lookups of this kind
     * are running.
     *
     * @param loop the caller's event loop, on which the futures are completed
     * @param account charged while DNS is asked, even if the client has left; of the same event loop
     */
    public Answers resolveExactly(EventLoop loop, String host, Account account) {
        String name = host.toLowerCase(Locale.ROOT);
        return resolve(loop, name, account, false);
    }

    /** Returns the addresses in the hosts file, where names have no dot at their end; null if it does not have the name. */
    private @Nullable Answers known(EventLoop loop, String name, boolean exact) {
        if (!hosts.has(name)) {
            return null;
        }
        boolean both = exact || asksIpv6;
        return new Answers(
                loop.newSucceededFuture(both ? hosts.addresses(name, Family.IPV6) : List.of()),
                loop.newSucceededFuture(hosts.addresses(name, Family.IPV4)));
    }

    /**
     * Resolves an IP literal, or looks up a name.
     *
     * @param asker the account of who has chosen the name, to look it up exactly; null for a name of the configuration
     */
    private Answers resolve(EventLoop loop, String name, @Nullable Account asker, boolean renews) {
        boolean exact = asker != null;
        InetAddress literal = literal(name);
        Future<List<InetAddress>> none = loop.newSucceededFuture(List.of());
        if (literal != null) {
            Future<List<InetAddress>> one = loop.newSucceededFuture(List.of(literal));
            return literal instanceof Inet6Address ? new Answers(one, none) : new Answers(none, one);
        }
        Answers listed = known(loop, name, exact);
        if (listed != null) {
            return listed;
        }
        Lookup.Source ipv4Source = ipv4.get(loop);
        RunningLookups lookups = running.get(loop);
        if (ipv4Source == null || lookups == null) {
            throw new IllegalArgumentException("not a loop of this transport");
        }
        NameCache cache = cache(name, exact);
        String asked = exact ? name + "." : name;
        long maxStaleNanos = cache == configuredNames ? MAX_STALE_NANOS : 0;
        Lookup.Name key = new Lookup.Name(name, asked);
        Lookup known = renews ? null : lookups.find(key);
        if (known != null) {
            return answers(known);
        }
        Lookup lookup = new Lookup(loop, key, cache, new Lookup.Use(maxTtlSeconds, maxStaleNanos, renews));
        Lookup.Source ipv6Source = ipv6.get(loop);
        if (asker != null && !lookup.isKnown(ipv6Source != null)) {
            LookupLimitException refused = lookups.startFor(asker, key, lookup, ipv6Source, ipv4Source);
            return refused == null
                    ? answers(lookup)
                    : new Answers(loop.<List<InetAddress>>newFailedFuture(refused), loop.newFailedFuture(refused));
        }
        lookups.start(key, lookup, ipv6Source, ipv4Source);
        return answers(lookup);
    }

    private static Answers answers(Lookup lookup) {
        return new Answers(lookup.ipv6(), lookup.ipv4());
    }

    /** Asks DNS for a name whatever the cache has. */
    private Future<?> ask(EventLoop loop, Renewals.Key key) {
        Answers answers = resolve(loop, key.host(), key.exact() ? Account.UNLIMITED : null, true);
        Promise<Void> both = loop.newPromise();
        answers.ipv6().addListener(one -> answers.ipv4().addListener(other -> both.trySuccess(null)));
        return both;
    }

    private static Renewals.Key key(String host, boolean exact) {
        return new Renewals.Key(host.toLowerCase(Locale.ROOT), exact);
    }

    /**
     * Asks DNS again at once, because an address of the name may no longer be right. Asks for each name at most every 2 s; a
     * name that was asked for a moment ago has its turn then. Nothing to do for an IP literal.
     *
     * @param loop the caller's event loop, on which the future is completed
     * @param exact whether the caller resolves the name by {@link #resolveExactly}
     * @return true when the cache has the outcome, false at once if the name was asked for a moment ago
     */
    public Future<Boolean> doubt(EventLoop loop, String host, boolean exact) {
        if (literal(host) != null) {
            return loop.newSucceededFuture(false);
        }
        Promise<Boolean> result = loop.newPromise();
        renewals.renew(key(host, exact), result);
        return result;
    }

    /** Asks DNS again, like {@link #doubt(EventLoop, String, boolean)}, for the names of the configuration that have an address. */
    public void doubt(EventLoop loop, InetAddress address) {
        configuredNames.namesOf(address).forEach(name -> renewals.renew(key(name, false), loop.newPromise()));
    }

    /**
     * Asks DNS again for all names. Names that somebody follows are asked at once, at most every 2 s, and others when they are
     * used next. Any thread may call this.
     */
    public void doubtAll() {
        configuredNames.expire(name -> renewals.isFollowed(key(name, false)));
        requestedNames.expire(name -> renewals.isFollowed(key(name, false)) || renewals.isFollowed(key(name, true)));
        renewals.renewFollowed();
    }

    /** Reads the hosts file again if it has changed. Blocks for a moment; one thread calls this from time to time. */
    public void lookAtHosts() {
        if (hosts.look()) {
            log.info("The hosts file has changed");
            doubtAll();
        }
    }

    /**
     * Follows a name: tells each time that DNS was asked for it because of a doubt.
     *
     * @param loop where the task is called, after each such answer or failure
     * @param exact whether the caller resolves the name by {@link #resolveExactly}
     * @return ends it
     */
    public Runnable follow(EventLoop loop, String host, boolean exact, Runnable task) {
        return renewals.follow(key(host, exact), loop, task);
    }

    /**
     * Queries the SRV records of a configured name. The search list of the machine may complete the name.
     *
     * @param loop the caller's event loop, on which the future is completed
     */
    public Future<ServiceRecord.Answer> services(EventLoop loop, String name) {
        ServiceLookup.Query query = services.get(loop);
        if (query == null) {
            throw new IllegalArgumentException("not a loop of this transport");
        }
        return ServiceLookup.start(loop, query, name, searchList.forms(name.toLowerCase(Locale.ROOT)), maxTtlSeconds);
    }

    /** Adds a name to the configured ones, until {@link #drop} is called as often. Any thread may call this. */
    public void keep(String host) {
        configured.merge(host.toLowerCase(Locale.ROOT), 1, Integer::sum);
    }

    /** Ends one {@link #keep} of a name. After the last, the resolver forgets the answers for it. */
    public void drop(String host) {
        String name = host.toLowerCase(Locale.ROOT);
        if (configured.computeIfPresent(name, (key, kept) -> kept == 1 ? null : kept - 1) == null) {
            configuredNames.forget(name);
        }
    }

    /**
     * The state of a configured name.
     *
     * @param goodNanos when DNS last returned its addresses, by {@link System#nanoTime}
     * @param failure why they are out of date, null if they are not
     */
    public record Standing(long goodNanos, @Nullable Throwable failure) {}

    /** Returns the state of a configured name, null if it has no addresses. */
    public @Nullable Standing standing(String host) {
        String name = host.toLowerCase(Locale.ROOT);
        NameCache.Answer answer = hosts.has(name) ? null : cache(name, false).standing(name);
        return answer == null ? null : new Standing(answer.goodNanos(), answer.failure());
    }

    /**
     * Whether a name no longer has an address: the last answer of DNS has other addresses of the same family.
     *
     * @param exact whether the caller resolves the name by {@link #resolveExactly}
     */
    public boolean isFormer(String host, boolean exact, InetAddress address) {
        String name = host.toLowerCase(Locale.ROOT);
        if (hosts.has(name)) {
            return !hosts.addresses(name, address instanceof Inet6Address ? Family.IPV6 : Family.IPV4)
                    .contains(address);
        }
        return cache(name, exact).isFormer(name, address);
    }

    /**
     * Returns how long the answer for a name is valid, in milliseconds; a short time if DNS has failed.
     *
     * @param exact whether the caller resolves the name by {@link #resolveExactly}
     */
    public long holdsMillis(String host, boolean exact) {
        String name = host.toLowerCase(Locale.ROOT);
        if (hosts.has(name)) {
            return TimeUnit.SECONDS.toMillis(maxTtlSeconds); // its followers are told sooner if it changes
        }
        long now = System.nanoTime();
        long until = cache(name, exact).goodUntilNanos(name, now + FAILED_NANOS);
        return Math.max(MIN_HOLD_MILLIS, (until - now) / 1_000_000 + 1);
    }

    private NameCache cache(String name, boolean exact) {
        return !exact && configured.containsKey(name) ? configuredNames : requestedNames;
    }

    /** Counts lookups of names whose answers were in doubt, before their TTL was over. Any thread may ask. */
    public long earlyLookups() {
        return renewals.asked();
    }

    /** Counts names of the configuration whose last known addresses stay in use while DNS fails. */
    public int staleNames() {
        return configuredNames.stale(configured::containsKey);
    }

    /** Returns the address of an IP literal, null for a name. */
    public static @Nullable InetAddress literal(String host) {
        return IpLiteral.parse(host);
    }

    @Override
    public void close() {
        ipv6.values().forEach(source -> source.resolver().close());
        ipv4.values().forEach(source -> source.resolver().close());
    }
}
