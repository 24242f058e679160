package dev.gateway;

import dev.gateway.admin.AdminPages;
import dev.gateway.admin.AdminPages.Outcome;
import dev.gateway.config.GatewayConfig;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterStates;
import dev.gateway.observe.meters.ConfiguredNames;
import dev.gateway.observe.meters.GatewayMeters;
import dev.gateway.observe.metrics.Metrics;
import dev.gateway.runtime.ApplicationMeters;
import dev.gateway.runtime.CertificateReload;
import dev.gateway.runtime.DataPlane;
import dev.gateway.runtime.EndpointDrain;
import dev.gateway.runtime.Generations;
import dev.gateway.runtime.Lifecycle;
import dev.gateway.runtime.Listeners;
import dev.gateway.runtime.Logins;
import dev.gateway.runtime.ReloadThread;
import dev.gateway.runtime.Reloads;
import dev.gateway.runtime.assembly.ActiveConfig;
import dev.gateway.runtime.process.BuildInfo;
import dev.gateway.runtime.process.OwnLog;
import dev.gateway.runtime.process.Signals;
import dev.gateway.runtime.process.Systemd;
import dev.gateway.runtime.upstreams.UpstreamWatch;
import dev.gateway.status.AdminActions;
import dev.gateway.status.Operations;
import dev.gateway.status.StatusPages;
import dev.gateway.status.TunnelPages;
import dev.gateway.upstream.pool.PoolCounts;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running gateway: everything between its start and the end of its drain. Safe from any thread but event loops. An
 * application that embeds it starts it with a configuration, gives it others, and drains it:
 *
 * <pre>{@code
 * if (!(ConfigLoader.load(file) instanceof LoadResult.Valid loaded)) {
 *     throw new IllegalStateException("see its problems");
 * }
 * try (Gateway gateway = Gateway.start(loaded.config())) {
 *     use(gateway.port("web"));
 *     gateway.reload(next); // keeps running exchanges
 *     use(gateway.port("web"));
 *     gateway.drain(); // finishes running exchanges; close alone ends them
 * }
 * }</pre>
 *
 * <p><b>What the program brings.</b> A provider of SLF4J, else nothing is logged: the gateway sets up no log and changes no
 * level. Logback, picocli and Chart.js are optional dependencies, which it does without. It adds no
 * shutdown hook, and hears no signal unless {@link #listenToSignals} is called.
 *
 * <p><b>Threads.</b> Event loops keep the JVM alive until the gateway is drained or closed; all other threads are daemons.
 * They end with the gateway, some of them a moment later.
 *
 * <p><b>Order of the end.</b> First what depends on the gateway stops sending; then {@link #drain}, which finishes what runs,
 * or {@link #close}, which cuts it; at last the program's log, which is written until then.
 */
public final class Gateway implements Operations, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Gateway.class);

    private final Metrics metrics = new Metrics(BuildInfo.version());
    private final ApplicationMeters meters;
    private final ReloadThread thread = new ReloadThread();
    private final DataPlane dataPlane;
    private final Listeners listeners;
    private final CertificateReload certificates;
    private final Logins logins = new Logins(this::activeConfig);
    private final Generations generations;
    private final EndpointDrain endpointDrain;
    private final Lifecycle lifecycle;
    private final Systemd systemd;
    private final @Nullable Reloads reloads;

    private Gateway(GatewayConfig config, GatewayOptions options) {
        this.systemd = options.environment().systemd();
        OwnLog log = options.environment().log();
        if (log != null) {
            metrics.addDroppedLog(log::dropped);
        }
        this.dataPlane = new DataPlane(config, metrics, options.environment());
        this.meters = new ApplicationMeters(metrics, this::configuredNames, options.buckets(), dataPlane);
        AdminPages pages = new AdminPages(
                new Health(), metrics, new TunnelPages(this::activeConfig, this::port), dataPlane.adminWork());
        this.listeners = new Listeners(dataPlane, pages, thread.executor());
        this.certificates = new CertificateReload(listeners, dataPlane);
        this.generations = new Generations(dataPlane, listeners, certificates, metrics, thread);
        this.endpointDrain = new EndpointDrain(generations, dataPlane, thread.executor());
        FilterStates filters = generations.filterStates();
        metrics.addFaultyAccountFiles(() -> logins.faultyFiles() + filters.faults());
        this.lifecycle = new Lifecycle(dataPlane, listeners, generations, thread, meters, metrics, options.file());
        this.reloads =
                options.file() == null ? null : new Reloads(options.file(), generations, dataPlane, thread, systemd);
        new StatusPages(
                        this::activeConfig,
                        listeners,
                        dataPlane,
                        certificates,
                        generations,
                        reloads == null ? null : reloads.history())
                .addTo(pages);
        new AdminActions(this, log == null ? null : log.levels(thread.executor()), endpointDrain).addTo(pages);
    }

    /**
     * Starts a gateway that only {@link #reload(GatewayConfig)} changes: every listener is bound when this returns.
     *
     * @throws StartException if something is unavailable, such as a port; nothing is left running then
     */
    public static Gateway start(GatewayConfig config) throws StartException {
        return start(config, GatewayOptions.defaults());
    }

    /**
     * Starts a gateway with some options: every listener is bound when this returns.
     *
     * @param config what was last loaded from the file, if the options have one
     * @throws StartException if something is unavailable, such as a port; nothing is left running then
     * @throws IllegalStateException if the registry of the options has the meters of another gateway; nothing is left
     *     running then
     */
    public static Gateway start(GatewayConfig config, GatewayOptions options) throws StartException {
        Gateway gateway = new Gateway(config, options);
        try {
            gateway.startAll(config, options.registry());
        } catch (StartException | RuntimeException | Error e) {
            gateway.lifecycle.stop();
            throw e;
        }
        return gateway;
    }

    private void startAll(GatewayConfig config, @Nullable MeterRegistry registry) throws StartException {
        dataPlane.openDoors();
        thread.run(() -> {
            generations.advance(config);
            endpointDrain.resume();
        });
        systemd.sockets().reportUnwanted();
        UpstreamWatch upstreams = new UpstreamWatch(dataPlane.pools(), generations.endpoints(), this::activeConfig);
        metrics.watchUpstreams(upstreams::states);
        metrics.watchListeners(() -> generations.required().listenerFeatures());
        dataPlane.keepHouse(upstreams, generations.health());
        lifecycle.onStarted();
        metrics.watch(certificates::expiries);
        if (registry != null) {
            meters.get().bindTo(registry);
        }
        thread.look(certificates::look);
        thread.look(logins::look);
        thread.look(generations.filterStates()::look);
        thread.look(generations.drains()::look);
        thread.look(dataPlane.telemetry()::look);
        if (reloads != null) {
            thread.look(reloads::look);
        }
    }

    /**
     * Lets another configuration take over. What has begun ends as it began, on listeners and connections that are kept
     * wherever they are still wanted. Workers, transport and resolver stay what they are.
     *
     * @throws StartException if it cannot, such as when a port is taken; then all is as it was before
     */
    public void reload(GatewayConfig next) throws StartException {
        thread.run(() -> generations.advance(next));
    }

    @Override
    public CompletableFuture<Outcome> reload(String reason) {
        return reloads == null
                ? CompletableFuture.completedFuture(
                        Outcome.failed("this gateway has no configuration file to read again"))
                : reloads.request(reason);
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
        return dataPlane
                .exchanges()
                .thenCombine(
                        dataPlane.pools().counts(),
                        (exchanges, pooled) -> new Activity(exchanges, connections, pooled));
    }

    /** Returns the counters. */
    public Metrics metrics() {
        return metrics;
    }

    /** Returns what shows the counters in meter registries of the application, and can be bound to more of them. */
    public GatewayMeters meters() {
        return meters.get();
    }

    /**
     * Stops as configured: readiness fails at once; connections are accepted and served for {@code drain.acceptFor} more,
     * so that senders of traffic can notice; then no more are accepted, and what runs is finished, at the latest
     * until {@code drain.timeout}. Returns when everything has ended; a second call waits for the first.
     */
    @Override
    public void drain() {
        systemd.stopping(generations.required().config.drain().timeout());
        lifecycle.drain();
        lifecycle.stop();
    }

    @Override
    public void drainAndStay() {
        systemd.changed("Draining");
        lifecycle.drain();
        systemd.changed("Drained");
    }

    /** Stops at once, ending whatever runs. Returns when everything has ended; does nothing if it already has. */
    @Override
    public void close() {
        lifecycle.close();
        lifecycle.stop();
    }

    private ConfiguredNames configuredNames() {
        ActiveConfig current = activeConfig();
        return current == null ? new ConfiguredNames(Set.of(), Set.of(), Set.of()) : current.names();
    }

    private @Nullable ActiveConfig activeConfig() {
        return generations.number() == 0 ? null : generations.required();
    }

    /** Reports to the service manager that it serves, and from now on, again and again, that it is alive. */
    public void tellReady() {
        if (reloads != null) {
            systemd.ready(reloads.status());
        }
        if (systemd.watchdogNanos() > 0) {
            dataPlane.watch(systemd.watchdogNanos(), systemd::alive);
        }
    }

    /**
     * Waits until somebody has drained or closed it.
     *
     * @throws IllegalStateException if it is broken: an event loop has ended by an error, and the process should end, too
     */
    public void awaitStopped() {
        lifecycle.awaitStopped();
    }

    /**
     * Reads the configuration again on SIGHUP, and opens the access log's file again on SIGUSR1, where the JVM lets them be
     * heard; else they stop it.
     */
    public void listenToSignals() {
        listenToSignals(CompletableFuture.completedFuture(this));
    }

    /**
     * Does the same before the gateway has started: a signal that comes earlier takes effect then, and does not stop the
     * process.
     *
     * @param starting completes with the gateway, or with null if the start fails
     */
    public static void listenToSignals(CompletionStage<? extends @Nullable Gateway> starting) {
        on("HUP", "reloads", starting, gateway -> gateway.reload("SIGHUP"));
        on("USR1", "reopens the access log", starting, gateway -> gateway.dataPlane.reopenLog());
    }

    private static void on(
            String signal,
            String what,
            CompletionStage<? extends @Nullable Gateway> starting,
            Consumer<Gateway> action) {
        Signals.on(signal, what, () -> starting.thenAccept(gateway -> {
                    if (gateway != null) {
                        action.accept(gateway);
                    }
                })
                .exceptionally(failure -> {
                    log.error("SIG{} failed", signal, failure);
                    return null;
                }));
    }

    private final class Health implements AdminPages.Health {
        @Override
        public boolean isStarted() {
            return lifecycle.phase() != Lifecycle.Phase.STARTING;
        }

        @Override
        public boolean isReady() {
            return lifecycle.phase() == Lifecycle.Phase.SERVING;
        }

        @Override
        public String word() {
            return switch (lifecycle.phase()) {
                case STARTING -> "starting";
                case SERVING -> "ready";
                case DRAINING -> "draining";
                case DRAINED, STOPPED -> "drained";
            };
        }

        @Override
        public String detail() {
            return switch (lifecycle.phase()) {
                case STARTING, DRAINED, STOPPED -> word();
                case SERVING -> {
                    List<String> lines = new ArrayList<>(List.of("ready"));
                    if (reloads != null && !reloads.failure().isEmpty()) {
                        lines.add(reloads.failure());
                    }
                    lines.addAll(certificates.problems());
                    lines.addAll(logins.problems());
                    lines.addAll(generations.filterStates().problems());
                    lines.addAll(generations.endpoints().problems());
                    for (String problem : List.of(
                            generations.drains().problem(),
                            dataPlane.telemetry().problem())) {
                        if (!problem.isEmpty()) {
                            lines.add(problem);
                        }
                    }
                    yield String.join("\n", lines);
                }
                case DRAINING -> "draining, connections open: " + listeners.connections();
            };
        }
    }
}
