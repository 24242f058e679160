package dev.gateway;

import dev.gateway.admin.AdminHandler;
import dev.gateway.admin.AdminPages;
import dev.gateway.config.AccessLogConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.ListenerConfig;
import dev.gateway.exchange.ExchangeHandler;
import dev.gateway.listener.Listener;
import dev.gateway.listener.ListenerLoop;
import dev.gateway.listener.ListenerSettings;
import dev.gateway.net.Resolver;
import dev.gateway.net.Transport;
import dev.gateway.observe.AccessLog;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.LoopMetrics;
import dev.gateway.observe.Metrics;
import dev.gateway.pool.PoolCounts;
import dev.gateway.pool.Pools;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Upstream;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running gateway: everything between its start and the end of its drain. Safe from any thread but event loops. */
public final class Gateway implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Gateway.class);

    /** How long connections that were closed by force may take to be gone. */
    private static final long FORCED_CLOSE_MILLIS = 1_000;

    private final GatewayConfig config;
    private final Transport transport;
    private final List<TimerWheel> wheels = new ArrayList<>();
    private final List<ExchangeHandler> handlers = new ArrayList<>();
    private final List<LoopMetrics> loopMetrics = new ArrayList<>();
    private final List<ListenerSettings> settings = new ArrayList<>();
    private final List<Listener> listeners = new ArrayList<>();
    private final Metrics metrics = new Metrics(version());
    private final ScheduledExecutorService housekeeping =
            Executors.newSingleThreadScheduledExecutor(task -> daemon(task, "housekeeping"));
    private final Resolver resolver;
    private final Pools pools;
    private final AtomicBoolean draining = new AtomicBoolean();
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();
    private @Nullable AccessLog accessLog;
    private @Nullable Listener admin;
    private volatile @Nullable Snapshot snapshot; // one reference, read once per request
    private volatile boolean started;

    private Gateway(GatewayConfig config) {
        this.config = config;
        this.transport = Transport.start(Assembly.transport(config.transport()), config.workers());
        for (EventLoop loop : transport.loops()) {
            TimerWheel wheel = new TimerWheel(loop);
            wheels.add(wheel);
            loopMetrics.add(metrics.newLoop(wheel));
        }
        this.resolver = new Resolver(transport, List.of());
        this.pools = new Pools(transport, resolver, wheels, (upstream, loop) -> loopMetrics
                .get(loop)
                .upstream(upstream.name()));
    }

    /**
     * Starts a gateway: every listener is bound when this returns.
     *
     * @throws StartException if something of it cannot be had, such as a port; nothing is left running then
     */
    public static Gateway start(GatewayConfig config) throws StartException {
        Gateway gateway = new Gateway(config);
        try {
            gateway.startAll();
        } catch (IOException e) {
            gateway.stopAll();
            throw new StartException(String.valueOf(e.getMessage()), e);
        } catch (StartException | RuntimeException e) {
            gateway.stopAll();
            throw e;
        }
        return gateway;
    }

    private void startAll() throws StartException, IOException {
        Snapshot first = Assembly.snapshot(config, 1);
        for (ListenerConfig listener : config.listeners()) {
            settings.add(ListenerAssembly.settings(settings.size(), listener));
        }
        for (Upstream upstream : first.upstreams()) {
            try {
                pools.add(upstream);
            } catch (IOException | GeneralSecurityException e) {
                throw new StartException("upstream " + upstream.name() + ": " + e.getMessage(), e);
            }
        }
        snapshot = first;
        accessLog = openAccessLog(config.accessLog());
        for (int i = 0; i < wheels.size(); i++) {
            ExchangeObserver observer = loopMetrics.get(i);
            if (accessLog != null) {
                observer = ExchangeObserver.both(observer, accessLog.newLoop(wheels.get(i)));
            }
            handlers.add(new ExchangeHandler(pools.opener(i), wheels.get(i), this::snapshot, observer));
        }
        if (config.admin() != null) {
            admin = Listener.bind(transport, adminLoops(), ListenerAssembly.admin(settings.size(), config.admin()));
        }
        for (ListenerSettings each : settings) {
            listeners.add(Listener.bind(transport, loops(each.name()), each));
        }
        metrics.sampleOn(housekeeping);
        metrics.onGeneration(first.generation());
        started = true;
        listeners.forEach(Gateway::announce);
        if (admin != null) {
            log.info("Admin at {}", url(admin));
        }
    }

    private @Nullable AccessLog openAccessLog(AccessLogConfig wanted) throws StartException {
        if (wanted.format() == AccessLogConfig.Format.OFF) {
            return null;
        }
        try {
            AccessLog opened = new AccessLog(
                    wanted.file(),
                    wanted.format() == AccessLogConfig.Format.JSON ? AccessLog.Format.JSON : AccessLog.Format.COMBINED);
            metrics.add(opened);
            return opened;
        } catch (IOException e) {
            throw Assembly.failure(wanted.position(), e);
        }
    }

    private List<ListenerLoop> loops(String listener) {
        List<ListenerLoop> loops = new ArrayList<>();
        for (int i = 0; i < wheels.size(); i++) {
            loops.add(new ListenerLoop(
                    transport.loops().get(i),
                    wheels.get(i),
                    handlers.get(i),
                    loopMetrics.get(i).listener(listener)));
        }
        return loops;
    }

    private List<ListenerLoop> adminLoops() {
        AdminPages pages = new AdminPages(new Health(), metrics);
        List<ListenerLoop> loops = new ArrayList<>();
        for (int i = 0; i < wheels.size(); i++) {
            EventLoop loop = transport.loops().get(i);
            loops.add(new ListenerLoop(
                    loop, wheels.get(i), new AdminHandler(pages, loop, housekeeping), ConnectionObserver.NONE));
        }
        return loops;
    }

    private static void announce(Listener listener) {
        String protocols = listener.settings().protocols().http2() == null ? "HTTP/1.1" : "HTTP/1.1 and h2";
        log.info("Listener {} at {} ({})", listener.name(), url(listener), protocols);
    }

    private static String url(Listener listener) {
        if (listener.settings().bound() instanceof ListenerSettings.Address.Unix unix) {
            return "unix:" + unix.path();
        }
        InetSocketAddress address = (InetSocketAddress) listener.address();
        String host = address.getAddress().isAnyLocalAddress()
                ? "localhost" // of all addresses the one to try first
                : bracketed(address.getAddress().getHostAddress());
        return (listener.settings().tls() == null ? "http://" : "https://") + host + ":" + address.getPort() + "/";
    }

    private static String bracketed(String ip) {
        return ip.indexOf(':') < 0 ? ip : "[" + ip + "]";
    }

    private Snapshot snapshot() {
        Snapshot current = snapshot;
        if (current == null) {
            throw new IllegalStateException("a request before the first generation");
        }
        return current;
    }

    /** Returns where each listener can be reached, by name and in the order of the configuration; no admin listener. */
    public Map<String, String> urls() {
        Map<String, String> urls = new LinkedHashMap<>();
        listeners.forEach(listener -> urls.put(listener.name(), url(listener)));
        return urls;
    }

    /** Returns where the admin listener can be reached, or null if there is none. */
    public @Nullable String adminUrl() {
        return admin == null ? null : url(admin);
    }

    /**
     * Returns the port that a TCP listener is bound to; {@code admin} is the admin listener.
     *
     * @throws IllegalArgumentException if there is no such listener, or it is bound to a socket file
     */
    public int port(String listener) {
        return Stream.concat(listeners.stream(), Stream.ofNullable(admin))
                .filter(each -> each.name().equals(listener) && each.address() instanceof InetSocketAddress)
                .mapToInt(each -> ((InetSocketAddress) each.address()).getPort())
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no TCP listener " + listener));
    }

    /**
     * What is going on at some moment.
     *
     * @param exchanges requests that have not been answered whole
     * @param connections of clients, those of the admin listener not counted
     * @param upstreams connections to upstreams, and requests that wait for one
     */
    public record Activity(int exchanges, int connections, PoolCounts upstreams) {}

    /** Counts what is going on; the answer comes from the event loops. */
    public CompletableFuture<Activity> activity() {
        CompletableFuture<Integer> exchanges = CompletableFuture.completedFuture(0);
        for (int i = 0; i < handlers.size(); i++) {
            ExchangeHandler handler = handlers.get(i);
            CompletableFuture<Integer> here = CompletableFuture.supplyAsync(
                    handler::active, transport.loops().get(i));
            exchanges = exchanges.thenCombine(here, Integer::sum);
        }
        CompletableFuture<List<PoolCounts>> counts = CompletableFuture.completedFuture(new ArrayList<>());
        for (Upstream upstream : snapshot().upstreams()) {
            counts = counts.thenCombine(pools.counts(upstream), (all, one) -> {
                all.add(one);
                return all;
            });
        }
        int connections = listeners.stream().mapToInt(Listener::connections).sum();
        return exchanges.thenCombine(
                counts,
                (active, pooled) ->
                        new Activity(active, connections, pooled.stream().reduce(PoolCounts.NONE, Gateway::plus)));
    }

    private static PoolCounts plus(PoolCounts a, PoolCounts b) {
        return new PoolCounts(
                a.idle() + b.idle(),
                a.active() + b.active(),
                a.connecting() + b.connecting(),
                a.pending() + b.pending());
    }

    /** Returns the counters. */
    public Metrics metrics() {
        return metrics;
    }

    /**
     * Stops as configured: readiness fails at once; connections are accepted and served for {@code drain.acceptFor} more,
     * so that whoever sends traffic here can notice; then no more are accepted, and what runs is finished, at the latest
     * until {@code drain.timeout}. Returns when everything has ended; a second call waits for the first.
     */
    public void drain() {
        if (!draining.compareAndSet(false, true)) {
            stopped.join();
            return;
        }
        long start = System.nanoTime();
        long timeout = config.drain().timeout().toNanos();
        long acceptFor = Math.min(config.drain().acceptFor().toNanos(), timeout);
        log.info("Draining: accepting for {} ms more", TimeUnit.NANOSECONDS.toMillis(acceptFor));
        try {
            TimeUnit.NANOSECONDS.sleep(acceptFor);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // whoever interrupts wants an end: go on at once
        }
        listeners.forEach(Listener::stopAccepting);
        List<Future<Void>> drained = listeners.stream().map(Listener::drain).toList();
        boolean finished = true;
        for (Future<Void> each : drained) {
            long left = timeout - (System.nanoTime() - start);
            finished &= each.awaitUninterruptibly(Math.max(1, left), TimeUnit.NANOSECONDS);
        }
        if (!finished) {
            log.warn(
                    "Drain timeout: {} connections are closed with what runs on them",
                    listeners.stream().mapToInt(Listener::connections).sum());
        }
        closeConnections(drained);
        stopAll();
    }

    /** Stops at once, ending whatever runs. Returns when everything has ended; does nothing if it already has. */
    @Override
    public void close() {
        if (!draining.compareAndSet(false, true)) {
            stopped.join();
            return;
        }
        listeners.forEach(Listener::stopAccepting);
        closeConnections(listeners.stream().map(Listener::drain).toList());
        stopAll();
    }

    /** Each exchange ends on its loop, which is given the time to count and log it. */
    private void closeConnections(List<Future<Void>> drained) {
        listeners.forEach(Listener::closeConnections);
        drained.forEach(each -> each.awaitUninterruptibly(FORCED_CLOSE_MILLIS, TimeUnit.MILLISECONDS));
    }

    /** Waits until it has been drained or closed, by whomever. */
    public void awaitStopped() {
        stopped.join();
    }

    /**
     * Drains when the process is told to end, as by SIGTERM, and ends it with exit code 0. A JVM that a signal ends
     * exits with 143 unless a hook halts it first; the alternative, {@code sun.misc.Signal}, is not part of the platform.
     */
    public void closeOnTermination() {
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            drain();
                            Runtime.getRuntime().halt(0);
                        },
                        "drain"));
    }

    private void stopAll() {
        listeners.forEach(Listener::stopAccepting);
        if (admin != null) {
            admin.stopAccepting();
            admin.closeConnections();
        }
        pools.close();
        resolver.close();
        housekeeping.shutdown();
        transport.stop().awaitUninterruptibly();
        if (accessLog != null) {
            accessLog.close();
        }
        for (ListenerSettings each : settings) {
            if (each.tls() != null) {
                each.tls().close();
            }
        }
        metrics.close();
        log.info("Stopped");
        stopped.complete(null);
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    /** Returns the version of the build, {@code dev} if it does not come from one. */
    public static String version() {
        String version = Gateway.class.getPackage().getImplementationVersion();
        return version == null ? "dev" : version;
    }

    private final class Health implements AdminPages.Health {
        @Override
        public boolean isStarted() {
            return started;
        }

        @Override
        public boolean isReady() {
            return started && !draining.get();
        }

        @Override
        public String detail() {
            return draining.get() ? "draining" : started ? "ready" : "starting";
        }
    }
}
