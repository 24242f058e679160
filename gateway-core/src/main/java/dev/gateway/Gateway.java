package dev.gateway;

import dev.gateway.admin.AdminPages;
import dev.gateway.config.DrainConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.observe.Metrics;
import dev.gateway.pool.PoolCounts;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running gateway: everything between its start and the end of its drain. Safe from any thread but event loops. */
public final class Gateway implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Gateway.class);

    private final GatewayConfig config; // that it was started with
    private final Metrics metrics = new Metrics(version());
    private final ReloadThread thread = new ReloadThread();
    private final Loops loops;
    private final Listeners listeners;
    private final Generations generations;
    private final AtomicBoolean draining = new AtomicBoolean();
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();
    private volatile boolean started;

    private Gateway(GatewayConfig config) {
        this.config = config;
        this.loops = new Loops(config, metrics);
        this.listeners = new Listeners(loops, new AdminPages(new Health(), metrics), thread.executor());
        this.generations = new Generations(loops, listeners, metrics, thread.executor());
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
        } catch (StartException | RuntimeException e) {
            gateway.stopAll();
            throw e;
        }
        return gateway;
    }

    private void startAll() throws StartException {
        loops.openDoors(config.accessLog());
        generations.advance(config);
        loops.keepHouse();
        started = true;
    }

    /**
     * Lets another configuration take over. What has begun ends as it began, on listeners and connections that are kept
     * wherever they are still wanted. Workers, transport and access log stay what they are.
     *
     * @throws StartException if it cannot, such as when a port is taken; then all is as it was before
     */
    public void reload(GatewayConfig next) throws StartException {
        thread.run(() -> generations.advance(next));
    }

    /** Returns where each listener can be reached, by name and in the order of the configuration; no admin listener. */
    public Map<String, String> urls() {
        return listeners.urls();
    }

    /** Returns where the admin listener can be reached, or null if there is none. */
    public @Nullable String adminUrl() {
        return listeners.adminUrl();
    }

    /**
     * Returns the port that a TCP listener is bound to; {@code admin} is the admin listener.
     *
     * @throws IllegalArgumentException if there is no such listener, or it is bound to a socket file
     */
    public int port(String listener) {
        return listeners.port(listener);
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
        int connections = listeners.connections();
        return loops.exchanges()
                .thenCombine(
                        loops.pools().counts(), (exchanges, pooled) -> new Activity(exchanges, connections, pooled));
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
        thread.finish();
        long start = System.nanoTime();
        DrainConfig limits = drainConfig();
        long timeout = limits.timeout().toNanos();
        long acceptFor = Math.min(limits.acceptFor().toNanos(), timeout);
        log.info("Draining: accepting for {} ms more", TimeUnit.NANOSECONDS.toMillis(acceptFor));
        try {
            TimeUnit.NANOSECONDS.sleep(acceptFor);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // whoever interrupts wants an end: go on at once
        }
        listeners.drain(timeout - (System.nanoTime() - start));
        stopAll();
    }

    /** Stops at once, ending whatever runs. Returns when everything has ended; does nothing if it already has. */
    @Override
    public void close() {
        if (!draining.compareAndSet(false, true)) {
            stopped.join();
            return;
        }
        thread.finish();
        listeners.close();
        stopAll();
    }

    private DrainConfig drainConfig() {
        InForce inForce = generations.inForce();
        return (inForce == null ? config : inForce.config).drain();
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
        listeners.stop();
        loops.stop();
        thread.stop();
        metrics.close();
        log.info("Stopped");
        stopped.complete(null);
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
