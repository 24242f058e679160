package dev.gateway.upstream.pool;

import dev.gateway.net.dns.Resolver;
import dev.gateway.net.transport.Transport;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.dial.ParentProxy;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Connection pools: the upstream connections of the process, with a pool per event loop, upstream and endpoint. The caller
 * adds an upstream before the first request for it, retires it when its generation is replaced, and removes it when that
 * generation's last exchange has ended. An {@link Upstream} object that two generations share keeps its connections. Safe
 * from any thread.
 */
public final class Pools implements AutoCloseable {
    private final List<LoopPools> loops;
    private final Observers observers;
    private final Map<Upstream, SharedUpstream> upstreams = new ConcurrentHashMap<>();
    private final Map<Upstream, Set<String>> names = new ConcurrentHashMap<>(); // that the resolver keeps

    /** Makes the observers of upstreams. */
    public interface Observers {
        /** Observes nothing. */
        Observers NONE = (upstream, loop) -> UpstreamObserver.NONE;

        /**
         * Makes an observer.
         *
         * @param loop the position of the event loop on which it is called
         */
        UpstreamObserver observer(Upstream upstream, int loop);
    }

    /**
     * Makes the pools of all event loops of a transport.
     *
     * @param wheels the timers of each event loop, in the transport's order
     * @param accounts returns what is charged for what connections of an event loop hold for no particular client
     */
    public Pools(
            Transport transport,
            Resolver resolver,
            List<TimerWheel> wheels,
            IntFunction<Account> accounts,
            Observers observers) {
        this(loops(transport, resolver, wheels, accounts), observers);
    }

    /** Joins the pools of these event loops. */
    Pools(List<LoopPools> loops, Observers observers) {
        this.loops = List.copyOf(loops);
        this.observers = observers;
        List<DialRoom> rooms = loops.stream().map(each -> each.resources.room).toList();
        rooms.forEach(each -> each.join(rooms));
    }

    private static List<LoopPools> loops(
            Transport transport, Resolver resolver, List<TimerWheel> wheels, IntFunction<Account> accounts) {
        List<LoopPools> loops = new ArrayList<>();
        for (int i = 0; i < transport.loops().size(); i++) {
            loops.add(new LoopPools(transport, resolver, transport.loops().get(i), wheels.get(i), accounts.apply(i)));
        }
        return loops;
    }

    /** Returns the opener of streams for an event loop; used on that loop only. */
    public StreamOpener opener(int loop) {
        return loops.get(loop);
    }

    /**
     * Adds an upstream; called once, before its first request.
     *
     * @throws IOException if one of its files cannot be read
     * @throws GeneralSecurityException if its TLS settings are not usable
     */
    public void add(Upstream upstream) throws IOException, GeneralSecurityException {
        SharedUpstream shared = new SharedUpstream(upstream, ofName(upstream.name()));
        upstreams.put(upstream, shared);
        Set<String> used = names(upstream);
        used.forEach(resolver()::keep);
        names.put(upstream, used);
        for (int i = 0; i < loops.size(); i++) {
            LoopPools pools = loops.get(i);
            UpstreamObserver observer = observers.observer(upstream, i);
            run(pools.resources.loop, () -> pools.add(shared, observer));
        }
    }

    private Resolver resolver() {
        return loops.get(0).resources.resolver;
    }

    /** Returns the names in the settings of an upstream: of endpoints and parents. */
    private static Set<String> names(Upstream upstream) {
        return Stream.concat(
                        upstream.endpoints().stream().map(Endpoint::host),
                        upstream.settings().dialSettings().parents().all().stream()
                                .map(ParentProxy::host))
                .filter(host -> !host.startsWith(DialTarget.UNIX) && Resolver.literal(host) == null)
                .collect(Collectors.toSet());
    }

    /** Returns the upstreams of this name, those that only earlier generations still use included. */
    private List<SharedUpstream> ofName(String name) {
        return upstreams.values().stream()
                .filter(each -> each.upstream.name().equals(name))
                .toList();
    }

    /**
     * Reads an upstream's certificates again. New connections use them; existing ones stay.
     *
     * @throws IOException if one of its files cannot be read; then nothing changes
     * @throws GeneralSecurityException if its TLS settings are not usable; then nothing changes
     */
    public void renewTls(Upstream upstream) throws IOException, GeneralSecurityException {
        SharedUpstream shared = upstreams.get(upstream);
        UpstreamTls before = shared == null ? null : shared.renewTls();
        if (before != null) {
            // A loop that has read the former certificates uses them before it runs this task.
            onAll(pools -> {}).thenRun(before::close);
        }
    }

    /** Returns the client certificates for an upstream's endpoints and parents. */
    public List<X509Certificate> certificates(Upstream upstream) {
        SharedUpstream shared = upstreams.get(upstream);
        return shared == null ? List.of() : shared.certificates();
    }

    private CompletableFuture<Void> onAll(Consumer<LoopPools> task) {
        return CompletableFuture.allOf(loops.stream()
                .map(pools -> CompletableFuture.runAsync(() -> task.accept(pools), pools.resources.loop))
                .toArray(CompletableFuture<?>[]::new));
    }

    /** Closes idle connections, and others as soon as they are idle. Requests still get connections, which are not kept. */
    public void retire(Upstream upstream) {
        for (LoopPools pools : loops) {
            run(pools.resources.loop, () -> pools.retire(upstream));
        }
    }

    /**
     * Closes all connections to endpoints of other addresses than these at once; requests that wait for them fail.
     *
     * @param endpoints the endpoints of the upstream that has replaced this one
     */
    public void keepOnly(Upstream upstream, Collection<Endpoint> endpoints) {
        for (Endpoint endpoint : upstream.endpoints()) {
            if (endpoints.stream().noneMatch(endpoint::isSameAddress)) {
                upstream.health().drain(endpoint.toString(), true); // so that no pool gets a permit for it
            }
        }
        for (LoopPools pools : loops) {
            run(pools.resources.loop, () -> pools.keepOnly(upstream, endpoints));
        }
    }

    /** Closes all connections to removed endpoints at once; requests that wait for them fail. */
    public void end(Upstream upstream, Collection<Host> gone) {
        Set<Host> hosts = Set.copyOf(gone);
        for (LoopPools pools : loops) {
            run(pools.resources.loop, () -> pools.end(upstream, hosts));
        }
    }

    /** Closes all connections at once and forgets the upstream; requests that wait fail. */
    public void remove(Upstream upstream) {
        SharedUpstream shared = upstreams.remove(upstream);
        if (shared == null) {
            return;
        }
        names.getOrDefault(upstream, Set.of()).forEach(resolver()::drop);
        names.remove(upstream);
        onAll(pools -> pools.remove(upstream)).thenRun(shared::close);
    }

    /** Closes connections to an endpoint as soon as they are idle, or keeps them again. */
    public void drain(Upstream upstream, String endpoint, boolean drain) {
        for (LoopPools pools : loops) {
            run(pools.resources.loop, () -> pools.drain(upstream, endpoint, drain));
        }
    }

    /** Counts the requests and tunnels of all upstreams of a name by endpoint, those of earlier generations included. */
    public Map<String, Integer> requestsActive(String upstream) {
        Map<String, Integer> active = new HashMap<>();
        for (SharedUpstream each : ofName(upstream)) {
            for (Host host : each.upstream.hosts()) {
                active.merge(host.endpoint().toString(), host.requests().taken(), Integer::sum);
            }
        }
        return active;
    }

    /** Returns the statistics of an upstream's connections, one future for each event loop in their order. */
    public List<CompletableFuture<LoopView>> view(Upstream upstream) {
        Function<LoopPools, CompletableFuture<LoopView>> ask =
                pools -> CompletableFuture.supplyAsync(() -> pools.view(upstream), pools.resources.loop);
        return loops.stream().map(ask).toList();
    }

    /** Counts connections and waiting requests of all upstreams, including retired ones; the event loops answer. */
    public CompletableFuture<PoolCounts> counts() {
        return upstreams.keySet().stream()
                .map(this::counts)
                .reduce((a, b) -> a.thenCombine(b, PoolCounts::plus))
                .orElseGet(() -> CompletableFuture.completedFuture(PoolCounts.NONE));
    }

    /** Counts connections and waiting requests of an upstream; the event loops answer. */
    public CompletableFuture<PoolCounts> counts(Upstream upstream) {
        Function<LoopPools, CompletableFuture<PoolCounts>> ask =
                pools -> CompletableFuture.supplyAsync(() -> pools.counts(upstream), pools.resources.loop);
        return loops.stream()
                .map(ask)
                .reduce((a, b) -> a.thenCombine(b, PoolCounts::plus))
                .orElseGet(() -> CompletableFuture.completedFuture(PoolCounts.NONE));
    }

    /** Counts connections and waiting requests of an upstream on one event loop; called on that loop. */
    public PoolCounts countsOn(int loop, Upstream upstream) {
        return loops.get(loop).counts(upstream);
    }

    /**
     * Returns how many of the requests that wait for a connection within an upstream's limit will get one that is being made on
     * this event loop; called on that loop.
     */
    public int promisedOn(int loop, Upstream upstream) {
        return loops.get(loop).promised(upstream);
    }

    /**
     * Counts the pooled connections of all upstreams, and the requests that wait for one, by their endpoints.
     *
     * @param executor adds up the answers of the event loops
     */
    public CompletableFuture<Map<Host, PoolCounts>> countsByEndpoint(Executor executor) {
        Function<LoopPools, CompletableFuture<Map<Host, PoolCounts>>> ask =
                pools -> CompletableFuture.supplyAsync(pools::countsByEndpoint, pools.resources.loop);
        CompletableFuture<Map<Host, PoolCounts>> sum = CompletableFuture.completedFuture(new HashMap<>());
        for (LoopPools pools : loops) {
            sum = sum.thenCombineAsync(ask.apply(pools), Pools::add, executor);
        }
        return sum;
    }

    private static Map<Host, PoolCounts> add(Map<Host, PoolCounts> sum, Map<Host, PoolCounts> more) {
        more.forEach((host, counts) -> sum.merge(host, counts, PoolCounts::plus));
        return sum;
    }

    /** Removes all upstreams. */
    @Override
    public void close() {
        List.copyOf(upstreams.keySet()).forEach(this::remove);
    }

    private static void run(EventLoop loop, Runnable task) {
        if (loop.inEventLoop()) {
            task.run();
        } else {
            loop.execute(task);
        }
    }
}
