package dev.gateway.runtime;

import dev.gateway.admin.AdminDoor;
import dev.gateway.admin.AdminHandler;
import dev.gateway.admin.AdminPages;
import dev.gateway.admin.AdminWork;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.OverloadConfig;
import dev.gateway.config.ResolverConfig;
import dev.gateway.config.observe.AccessLogConfig;
import dev.gateway.config.value.ConfigEquality;
import dev.gateway.config.value.Position;
import dev.gateway.exchange.ExchangeHandler;
import dev.gateway.exchange.GenerationRef;
import dev.gateway.exchange.tunnel.OpenTunnel;
import dev.gateway.files.FileFault;
import dev.gateway.files.StartException;
import dev.gateway.filter.jwt.jwks.KeyClient;
import dev.gateway.filter.jwt.jwks.RemoteKeys;
import dev.gateway.listener.ListenerLoop;
import dev.gateway.net.dns.Resolver;
import dev.gateway.net.transport.DescriptorShare;
import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import dev.gateway.observe.CompositeObserver;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.accesslog.AccessLog;
import dev.gateway.observe.accesslog.LogAssembly;
import dev.gateway.observe.accesslog.Redaction;
import dev.gateway.observe.meters.GatewayMeters;
import dev.gateway.observe.metrics.LoopMetrics;
import dev.gateway.observe.metrics.Metrics;
import dev.gateway.overload.DirectMemoryGuard;
import dev.gateway.overload.HeapPressure;
import dev.gateway.overload.LagPressure;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.OpenFilesPressure;
import dev.gateway.overload.Overload;
import dev.gateway.overload.Resource;
import dev.gateway.overload.StallCutter;
import dev.gateway.overload.memory.CacheMemory;
import dev.gateway.overload.memory.ClientShares;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.DirectMemory;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.overload.memory.MemoryTrimmer;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.runtime.assembly.Generation;
import dev.gateway.runtime.process.NativeHeap;
import dev.gateway.runtime.process.ProcessEnvironment;
import dev.gateway.runtime.process.Watchdog;
import dev.gateway.runtime.upstreams.CrowdedUpstreams;
import dev.gateway.runtime.upstreams.UpstreamWatch;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.discovery.BuiltInSources;
import dev.gateway.upstream.discovery.EndpointSources;
import dev.gateway.upstream.health.HealthChecks;
import dev.gateway.upstream.pool.Pools;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.function.LongUnaryOperator;

/**
 * Data plane: the event loops, what each of them has (timers, counters, a request handler, pools), and what they share. Made
 * at the start and used by the threads that start and stop the gateway.
 */
public final class DataPlane {
    private static final long REVIEW_MILLIS = 100;

    private final Fixed fixed;
    private final ProcessEnvironment environment;
    private final Transport transport;
    private final Metrics metrics;
    private final List<TimerWheel> wheels = new ArrayList<>();
    private final List<LoopMetrics> loopMetrics = new ArrayList<>();
    private final Overload overload = new Overload();
    private final MemoryBudget budget;
    private final CacheMemory caches;
    private final MemoryBudget waitingBodies; // of direct memory
    private final ClientShares clients = new ClientShares();
    private final StallCutter heapCutter;
    private final StallCutter bodiesCutter;
    private final List<LoopGate> gates = new ArrayList<>();
    private final List<ExchangeHandler> handlers = new ArrayList<>();
    private final ScheduledExecutorService housekeeping = new Housekeeping();
    private final AdminWork adminWork = new AdminWork();
    private final DirectMemoryGuard directMemory;
    private final MemoryTrimmer memoryTrimmer = new MemoryTrimmer(this::gatherMemory, NativeHeap::trim);
    private final Resolver resolver;
    private final Pools pools;
    private final HealthChecks checks;
    private final AccessLog accessLog;
    private final Telemetry telemetry;

    /** What they were made by. Not all of the configuration, whose plugins could never be freed then. */
    private record Fixed(int workers, GatewayConfig.Transport transport, ResolverConfig resolver) {
        static Fixed of(GatewayConfig config) {
            return new Fixed(config.workers(), config.transport(), config.resolver());
        }
    }

    /**
     * Starts the event loops, which have nothing to do yet.
     *
     * @param environment sockets that listeners may take over, and where the access log may go
     */
    public DataPlane(GatewayConfig config, Metrics metrics, ProcessEnvironment environment) {
        this.fixed = Fixed.of(config);
        this.metrics = metrics;
        this.environment = environment;
        this.transport = Transport.start(
                kind(config.transport()),
                config.workers(),
                environment.systemd().sockets());
        this.resolver = new Resolver(
                transport, config.resolver().nameServers(), config.resolver().maxTtl());
        this.accessLog =
                new AccessLog(new LogReceivers(resolver, transport.loops().get(0)));
        metrics.add(accessLog);
        this.budget = new MemoryBudget(
                Cost.budget(Runtime.getRuntime().maxMemory(), HeapPressure.maxOld()),
                transport.loops().size());
        this.caches = new CacheMemory(budget);
        this.waitingBodies =
                new MemoryBudget(DirectMemory.max() / 4 * 3, transport.loops().size());
        this.directMemory = new DirectMemoryGuard(transport::pinnedMemory, transport.loops());
        this.heapCutter = StallCutter.of(
                "The heap for clients", budget, StalledPeers.Memory.HEAP, transport.loops(), () -> overload.actions()
                        .onCut(Resource.CLIENT_HEAP));
        this.bodiesCutter = StallCutter.of(
                "The direct memory that clients are charged",
                waitingBodies,
                StalledPeers.Memory.CHARGED_DIRECT,
                transport.loops(),
                () -> overload.actions().onCut(Resource.DIRECT_MEMORY));
        overload.watch(directMemory);
        overload.watch(new HeapPressure());
        DescriptorShare files = transport.descriptors().clients();
        overload.watch(new OpenFilesPressure(files::taken, files::max));
        overload.watch(new LagPressure(transport.loops()));
        metrics.watchOverload(overload, budget, waitingBodies);
        metrics.watchDirectMemory(transport::pinnedMemory);
        metrics.watchCaches(caches::held);
        for (EventLoop loop : transport.loops()) {
            gates.add(new LoopGate(
                    overload,
                    new LoopBudget(budget),
                    new LoopBudget(waitingBodies),
                    clients,
                    transport.loops().size()));
            TimerWheel wheel = new TimerWheel(loop);
            wheels.add(wheel);
            loopMetrics.add(metrics.newLoop(wheel, ((SingleThreadEventExecutor) loop)::pendingTasks));
        }
        metrics.addNames(resolver::staleNames, resolver::earlyLookups);
        this.pools = new Pools(
                transport, resolver, wheels, loop -> gates.get(loop).newAccount(), (upstream, loop) -> loopMetrics
                        .get(loop)
                        .upstream(upstream.name()));
        this.telemetry = new Telemetry(metrics, pools);
        this.checks = new HealthChecks(
                pools.opener(0), wheels.get(0), upstream -> loopMetrics.get(0).upstream(upstream.name()));
    }

    /** Returns what makes sets of keys, which are fetched on the first event loop. */
    KeyClient keyClient() {
        return (location, parsing) ->
                new RemoteKeys(location, pools.opener(0), wheels.get(0), parsing, System::nanoTime);
    }

    /** Returns what is charged for what the process remembers to be faster. */
    CacheMemory caches() {
        return caches;
    }

    /** Returns what asks endpoints whether they are well, on the first event loop. */
    HealthChecks checks() {
        return checks;
    }

    /** Returns the event loops and their sockets. */
    public Transport transport() {
        return transport;
    }

    private static TransportKind kind(GatewayConfig.Transport wanted) {
        return switch (wanted) {
            case AUTO, EPOLL -> TransportKind.EPOLL;
            case IO_URING -> TransportKind.IO_URING;
            case NIO -> TransportKind.NIO;
        };
    }

    /** Returns what looks up names. */
    Resolver resolver() {
        return resolver;
    }

    /** Returns the upstream connections of all loops. */
    public Pools pools() {
        return pools;
    }

    /** Returns the counters of all loops. */
    public Metrics metrics() {
        return metrics;
    }

    /** Tells what a configuration wants that the loops cannot give any more, one line each. */
    List<String> fixed(GatewayConfig wanted) {
        List<String> lines = new ArrayList<>();
        if (wanted.workers() != fixed.workers) {
            lines.add(fixed(wanted.position(), "workers"));
        }
        if (wanted.transport() != fixed.transport) {
            lines.add(fixed(wanted.position(), "transport"));
        }
        if (!ConfigEquality.isSame(wanted.resolver(), fixed.resolver)) {
            lines.add(fixed(wanted.resolver().position(), "resolver"));
        }
        return lines;
    }

    static String fixed(Position position, String key) {
        return position + ": warning: " + key + " has changed: the gateway keeps the former value until it restarts";
    }

    /** Refuses work by other settings from now on. */
    void shed(OverloadConfig settings) {
        overload.configure(settings);
    }

    /** Opens the file of the access log again, for who rotates it. */
    public void reopenLog() {
        accessLog.reopen();
    }

    /** Gets each upstream its pools, or none of them any. */
    void connectTo(List<Upstream> upstreams) throws StartException {
        List<Upstream> added = new ArrayList<>();
        for (Upstream upstream : upstreams) {
            try {
                pools.add(upstream);
                added.add(upstream);
            } catch (IOException | GeneralSecurityException e) {
                added.forEach(pools::remove);
                throw new StartException("upstream " + upstream.name() + ": " + FileFault.message(e), e);
            }
        }
    }

    /**
     * Returns what makes sources of endpoints. DNS queries run on the first event loop.
     *
     * @param thread the reload thread, which reads files
     */
    EndpointSources sources(ScheduledExecutorService thread) {
        return new EndpointSources(
                BuiltInSources.IN_ORDER, resolver, transport.loops().get(0), thread);
    }

    /** Gives each loop its request handler. */
    public void openDoors() {
        for (int i = 0; i < wheels.size(); i++) {
            TimerWheel wheel = wheels.get(i);
            ExchangeObserver records = new CompositeObserver(accessLog.newLoop(wheel), telemetry.newLoop(wheel));
            ExchangeObserver observer = new CompositeObserver(loopMetrics.get(i), records);
            handlers.add(new ExchangeHandler(pools.opener(i), wheels.get(i), observer, gates.get(i)));
        }
    }

    /** Returns what exports spans and metrics. */
    public Telemetry telemetry() {
        return telemetry;
    }

    /** Opens what the access log needs by a configuration; the change is to be committed or cancelled. */
    AccessLog.Change prepareLog(GatewayConfig config) throws StartException {
        AccessLogConfig wanted = config.accessLog();
        try {
            return accessLog.prepare(wanted, new Redaction(LogAssembly.hidden(config)), environment.out());
        } catch (IOException e) {
            throw StartException.at(wanted.position(), e);
        }
    }

    /**
     * Lets requests that begin from now on be served by another generation, and returns when every loop does.
     *
     * @param ended run when nothing uses that generation any more, on some event loop
     * @return what uses that generation, by event loop
     */
    List<GenerationRef> use(Generation next, Runnable ended) {
        AtomicInteger left = new AtomicInteger(handlers.size());
        Runnable endedHere = () -> {
            if (left.decrementAndGet() == 0) {
                ended.run();
            }
        };
        return askEach(i -> handlers.get(i).use(next, endedHere));
    }

    /** Returns how many exchanges each of some generations has. */
    int[] exchanges(List<List<GenerationRef>> generations) {
        int[] sums = new int[generations.size()];
        for (int[] ofLoop : askEach(i ->
                generations.stream().mapToInt(each -> each.get(i).exchanges()).toArray())) {
            Arrays.setAll(sums, i -> sums[i] + ofLoop[i]);
        }
        return sums;
    }

    /** Ends all exchanges of a generation for this reason, and returns when every loop has done so. */
    void endExchanges(List<GenerationRef> generation, Failure failure) {
        onEach(i -> generation.get(i).endExchanges(failure));
    }

    /** Returns how many there are. */
    int count() {
        return transport.loops().size();
    }

    /** No connection of a listener is left. */
    void forget(int listener) {
        onEach(i -> handlers.get(i).forget(listener));
    }

    /** Runs a task on every loop at the same time, given its index, and returns when all have run it. */
    private void onEach(IntConsumer task) {
        askEach(i -> {
            task.accept(i);
            return i;
        });
    }

    /** Does the same with a task that has a result, and returns the results. */
    private <T> List<T> askEach(IntFunction<T> task) {
        List<CompletableFuture<T>> asked = startOnEach(task);
        CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new)).join();
        return asked.stream().map(CompletableFuture::join).toList();
    }

    /** Runs a task on every loop at the same time, given its index, and does not wait for the results. */
    private <T> List<CompletableFuture<T>> startOnEach(IntFunction<T> task) {
        List<CompletableFuture<T>> asked = new ArrayList<>();
        for (int i = 0; i < handlers.size(); i++) {
            int loop = i;
            asked.add(CompletableFuture.supplyAsync(
                    () -> task.apply(loop), transport.loops().get(loop)));
        }
        return asked;
    }

    /** Returns when every loop has run what it had been given to run. To be called before they stop. */
    void runQueued() {
        onEach(i -> {});
    }

    /** Returns each loop's part in a listener whose requests become exchanges. */
    List<ListenerLoop> of(String listener) {
        List<ListenerLoop> loops = new ArrayList<>();
        for (int i = 0; i < wheels.size(); i++) {
            loops.add(new ListenerLoop(
                    transport.loops().get(i),
                    wheels.get(i),
                    handlers.get(i),
                    loopMetrics.get(i).listener(listener),
                    gates.get(i)));
        }
        return loops;
    }

    /** Returns each loop's part in the admin listener. */
    List<ListenerLoop> ofAdmin(AdminPages pages, AdminDoor door) {
        List<ListenerLoop> loops = new ArrayList<>();
        for (int i = 0; i < wheels.size(); i++) {
            EventLoop loop = transport.loops().get(i);
            // No budget: clients that used it up would keep probes out. Few connections and small heads bound it.
            loops.add(new ListenerLoop(
                    loop, wheels.get(i), new AdminHandler(pages, door, loop), ConnectionObserver.NONE, LoopGate.OPEN));
        }
        return loops;
    }

    /** Returns the threads that make pages of the admin listener. */
    public AdminWork adminWork() {
        return adminWork;
    }

    /** Begins what is done again and again. */
    public void keepHouse(UpstreamWatch upstreams, HealthWatch health) {
        metrics.sampleOn(housekeeping);
        housekeeping.scheduleWithFixedDelay(overload::review, REVIEW_MILLIS, REVIEW_MILLIS, TimeUnit.MILLISECONDS);
        upstreams.start(
                housekeeping,
                new CrowdedUpstreams(crowded -> startOnEach(i -> look(i, crowded)), housekeeping, System::nanoTime));
        housekeeping.scheduleWithFixedDelay(health::review, 1, 1, TimeUnit.SECONDS);
        housekeeping.scheduleWithFixedDelay(resolver::lookAtHosts, 1, 1, TimeUnit.SECONDS);
        housekeeping.scheduleWithFixedDelay(directMemory::review, 100, 100, TimeUnit.MILLISECONDS);
        housekeeping.scheduleWithFixedDelay(heapCutter::review, 100, 100, TimeUnit.MILLISECONDS);
        housekeeping.scheduleWithFixedDelay(bodiesCutter::review, 100, 100, TimeUnit.MILLISECONDS);
        housekeeping.scheduleWithFixedDelay(this::tidyMemory, 1, 1, TimeUnit.SECONDS);
    }

    private Map<Upstream, CrowdedUpstreams.LoopUse> look(int loop, Set<Upstream> upstreams) {
        Map<Upstream, CrowdedUpstreams.LoopUse> uses = new HashMap<>();
        handlers.get(loop)
                .look(upstreams)
                .forEach((upstream, use) -> uses.put(
                        upstream,
                        new CrowdedUpstreams.LoopUse(
                                use,
                                pools.countsOn(loop, upstream),
                                pools.promisedOn(loop, upstream),
                                transport.loops().get(loop))));
        return uses;
    }

    /** Refreshes meters again and again until this stops. */
    void refresh(GatewayMeters meters) {
        meters.refreshOn(housekeeping);
    }

    private void tidyMemory() {
        directMemory.trim(transport::trimMemory);
        directMemory.gather(transport::pinnedMemory, transport::gatherMemory);
        memoryTrimmer.review(DirectMemory.used());
    }

    private void gatherMemory() {
        transport.loops().forEach(loop -> loop.execute(transport::gatherMemory));
    }

    /** Has it told again and again that all loops do what they are given, three times within some time. */
    public void watch(long nanos, Runnable alive) {
        Watchdog watchdog = new Watchdog(transport.loops(), alive);
        long period = nanos / 3;
        housekeeping.scheduleAtFixedRate(watchdog::look, 0, period, TimeUnit.NANOSECONDS);
    }

    /** Counts exchanges that have not ended. */
    public CompletableFuture<Integer> exchanges() {
        CompletableFuture<Integer> exchanges = CompletableFuture.completedFuture(0);
        for (CompletableFuture<Integer> here : startOnEach(i -> handlers.get(i).active())) {
            exchanges = exchanges.thenCombine(here, Integer::sum);
        }
        return exchanges;
    }

    /**
     * Looks at open tunnels; one part of the answer comes from each event loop, in their order.
     *
     * @param after those numbered after this one, by the numbers of each loop
     * @param limit how many of each loop at most, the first in order
     */
    public List<CompletableFuture<List<OpenTunnel>>> tunnels(LongUnaryOperator after, int limit) {
        return startOnEach(i -> handlers.get(i).tunnels(after.applyAsLong(i), limit));
    }

    /** Ends everything, and returns when it has ended. */
    void stop() {
        checks.close();
        telemetry.close(); // while there are connections by which it can send what is left
        pools.close();
        resolver.close();
        housekeeping.shutdown();
        adminWork.close();
        transport.stop().awaitUninterruptibly();
        accessLog.close();
    }
}
