package dev.gateway.runtime;

import dev.gateway.config.GatewayConfig;
import dev.gateway.connect.assembly.ConnectEntry;
import dev.gateway.connect.assembly.ConnectShared;
import dev.gateway.exchange.GenerationRef;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.auth.ProxyAuthentication;
import dev.gateway.filter.plugin.PluginType;
import dev.gateway.filter.ratelimit.redis.RedisStore;
import dev.gateway.filter.ratelimit.redis.StoreAssembly;
import dev.gateway.observe.accesslog.AccessLog;
import dev.gateway.observe.metrics.Metrics;
import dev.gateway.runtime.assembly.ActiveConfig;
import dev.gateway.runtime.assembly.Assembly;
import dev.gateway.runtime.assembly.Generation;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.discovery.EndpointFeeds;
import dev.gateway.upstream.discovery.FirstAnswers;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reload of generations: activates one generation after the other. It frees what an earlier one does not share when
 * its last exchange has ended. Used by one thread at a time; any thread may read the active one.
 */
public final class Generations {
    private static final Logger log = LoggerFactory.getLogger(Generations.class);
    private static final long ANSWER_SECONDS = 10; // the longest timeout of a store

    private final DataPlane dataPlane;
    private final Listeners listeners;
    private final CertificateReload certificates;
    private final FilterStates filterStates = new FilterStates();
    private final Metrics metrics;
    private final ConnectShared tunnels;
    private final HealthWatch health;
    private final EndpointFeeds endpoints;
    private final SavedDrains drains;
    private final ReloadThread reloads;
    private final ScheduledExecutorService thread;
    private final List<Alive> alive = new ArrayList<>(); // the last one is active
    private final EarlierGenerations limit;
    private final Map<Integer, EarlierGenerations.Held> limited = new HashMap<>(); // by number, as last asked
    private boolean isStopped; // used by the thread only
    private volatile @Nullable ActiveConfig activeConfig;

    /** What is kept of a generation until its last exchange has ended. */
    private record Alive(
            int generation,
            int rules,
            List<Upstream> upstreams,
            List<RedisStore> stores,
            List<PluginType.Code> plugins,
            List<GenerationRef> uses) {
        EarlierGenerations.Held held(int exchanges) {
            return new EarlierGenerations.Held(Math.min(rules, exchanges), upstreams, plugins);
        }
    }

    /**
     * Makes it with no generation yet.
     *
     * @param thread the one that uses this, once the gateway has started
     */
    public Generations(
            DataPlane dataPlane,
            Listeners listeners,
            CertificateReload certificates,
            Metrics metrics,
            ReloadThread thread) {
        this.dataPlane = dataPlane;
        this.listeners = listeners;
        this.certificates = certificates;
        this.metrics = metrics;
        this.health = new HealthWatch(metrics, dataPlane.checks());
        this.endpoints = new EndpointFeeds(dataPlane.pools(), dataPlane.sources(thread.executor()), thread.executor());
        this.drains = new SavedDrains(endpoints);
        this.reloads = thread;
        this.thread = thread.executor();
        this.limit = EarlierGenerations.ofHeap(Runtime.getRuntime().maxMemory(), dataPlane.count());
        this.tunnels = new ConnectShared(dataPlane.keyClient(), dataPlane.caches());
        metrics.addDenials(tunnels::readDenials);
        metrics.onEarlierHeld(0, limit.most());
        metrics.add(filterStates);
    }

    /** Returns what the connect sections of all generations share. */
    public ConnectShared tunnels() {
        return tunnels;
    }

    /** Returns what filters keep from one generation to the next. */
    public FilterStates filterStates() {
        return filterStates;
    }

    /** Returns what updates the endpoints of upstreams. */
    public EndpointFeeds endpoints() {
        return endpoints;
    }

    /** Returns what keeps drains of endpoints for the next start. */
    public SavedDrains drains() {
        return drains;
    }

    /** Returns what looks after the health of endpoints. */
    public HealthWatch health() {
        return health;
    }

    /** Returns the active configuration, once there is a generation. */
    public ActiveConfig required() {
        return Objects.requireNonNull(activeConfig, "no generation yet");
    }

    /** Returns the number of the active generation. */
    public int number() {
        ActiveConfig current = activeConfig;
        return current == null ? 0 : current.snapshot.generation();
    }

    /** Returns a warning for each setting of the active configuration that takes effect only after a restart. */
    List<String> fixed() {
        GatewayConfig config = required().config;
        List<String> lines = new ArrayList<>(dataPlane.fixed(config));
        lines.addAll(listeners.fixed(config.admin()));
        return lines;
    }

    /** What the steps of one reload know of it. What is null is set by the step that prepares it. Nobody may keep it. */
    private final class Reload {
        final GatewayConfig config;
        final long drainNanos;
        final int number = number() + 1;
        final FilterStates.Prepared states = filterStates.prepare();
        final @Nullable ActiveConfig before = activeConfig;
        final ListenerChange listening;
        final List<Upstream> added = new ArrayList<>();
        private EndpointFeeds.@Nullable Prepared sources;
        private @Nullable StoreAssembly stores;
        private @Nullable ActiveConfig after;
        private AccessLog.@Nullable Change log;
        private Telemetry.@Nullable Change telemetry;

        Reload(GatewayConfig config) {
            this.config = config;
            this.drainNanos = config.drain().timeout().toNanos();
            this.listening = new ListenerChange(listeners, config, states);
        }

        /**
         * The steps, each with the reason for its place. First all are prepared, in this order, and then all are committed,
         * in this order. So a commit may use what a later step has prepared.
         */
        List<ReloadStep> steps() {
            return List.of(
                    // Before all commits: what drained before the start must not get requests.
                    ReloadStep.of(() -> drains.use(after())),
                    // The commit asks DNS and waits for first answers. Meanwhile stores connect, which the next step
                    // began.
                    ReloadStep.of(
                            () -> sources = endpoints.prepare(config),
                            () -> endpoints.use(after().endpoints(), set(sources), drainNanos)),
                    // Filters ask for their stores, so these are made before the snapshot.
                    new ReloadStep(
                            () -> stores =
                                    StoreAssembly.prepare(config, dataPlane.transport(), dataPlane.resolver(), states),
                            () -> FirstAnswers.await(
                                    set(stores).firstAnswers(), set(stores).startNanos()),
                            () -> set(stores).undo()),
                    // Its commit hands states of endpoints on, so it comes when upstreams know their endpoints. An
                    // endpoint
                    // may have been ejected since the snapshot was made.
                    ReloadStep.of(this::takeSnapshot, this::inherit),
                    // An address that is taken is found before anything is made that would stay, such as a file.
                    new ReloadStep(listening::prepare, () -> {}, listening::undo),
                    // What ends from now on is recorded as configured, whichever generation has served it.
                    ReloadStep.of(() -> dataPlane.shed(config.overload())),
                    new ReloadStep(
                            () -> log = dataPlane.prepareLog(config), () -> set(log).commit(), () -> set(log).cancel()),
                    new ReloadStep(
                            () -> telemetry = dataPlane.telemetry().prepare(config),
                            () -> set(telemetry).commit(),
                            () -> set(telemetry).cancel()),
                    // Endpoints are looked after before they get requests.
                    ReloadStep.of(() -> health.use(next().upstreams())),
                    ReloadStep.of(this::activate),
                    // New listeners accept when event loops have the generation that serves their requests.
                    ReloadStep.of(this::listen),
                    // Files of upstreams are watched before they are read, or a change in between would be missed.
                    new ReloadStep(
                            () -> certificates.watch(added),
                            () -> certificates.keepOnly(next().upstreams()),
                            () -> certificates.forget(added)),
                    // What is served so far needs none of these connections.
                    new ReloadStep(
                            () -> dataPlane.connectTo(added), () -> {}, () -> added.forEach(dataPlane.pools()::remove)),
                    // Last: what is not used any more ends.
                    ReloadStep.of(this::endFormer));
        }

        private static <T> T set(@Nullable T prepared) {
            return Objects.requireNonNull(prepared, "prepared");
        }

        private ActiveConfig after() {
            return set(after);
        }

        private Generation next() {
            return after().snapshot;
        }

        private void takeSnapshot() throws StartException {
            after = new ActiveConfig(
                    config, Assembly.snapshot(config, number, listening.indexes(), before, tunnels, states));
            added.addAll(next().upstreams());
            if (before != null) {
                added.removeAll(before.snapshot.upstreams());
            }
        }

        private void inherit() {
            if (before != null) {
                after().inherit(before);
            }
        }

        private void activate() {
            List<PluginType.Code> plugins = PluginType.codes(config);
            plugins.forEach(PluginType.Code::retain);
            int rules = config.routes().stream()
                    .mapToInt(each -> each.rules().size())
                    .sum();
            alive.add(new Alive(
                    number,
                    rules + config.connect().size(),
                    next().upstreams(),
                    set(stores).used(),
                    plugins,
                    dataPlane.use(next(), ending(number))));
            activeConfig = after;
        }

        private void listen() {
            dataPlane.transport().descriptors().settle();
            listening.commit(drainNanos);
            listeners.tell(tunnels);
        }

        private void endFormer() {
            filterStates.use(states);
            closeAllBut(set(stores).used());
            if (before != null) {
                endLogins(before.snapshot);
                retire(before, drainNanos);
                limitEarlierAfter(drainNanos, number - 1);
            }
            metrics.onGeneration(number, alive.size() - 1);
            set(telemetry).finish();
        }

        private void endLogins(Generation former) {
            Set<ProxyAuthentication> kept = logins(next()).collect(Collectors.toSet());
            logins(former).filter(each -> !kept.contains(each)).forEach(ProxyAuthentication::end);
        }

        private static Stream<ProxyAuthentication> logins(Generation of) {
            return of.connect().values().stream().map(ConnectEntry::login).filter(Objects::nonNull);
        }
    }

    /**
     * Lets a configuration take over: from then on it serves what begins, and what has begun ends as it began.
     *
     * @throws StartException if it cannot; then all is as it was before
     */
    public void advance(GatewayConfig config) throws StartException {
        List<ReloadStep> steps = new Reload(config).steps();
        Deque<ReloadStep> prepared = new ArrayDeque<>();
        try {
            for (ReloadStep step : steps) {
                step.prepare().run();
                prepared.push(step);
            }
            if (reloads.isOver()) { // it hung, and the gateway has gone on to stop
                throw new StartException(ReloadThread.REFUSED);
            }
        } catch (StartException | RuntimeException | Error e) {
            prepared.forEach(step -> step.undo().run());
            throw e;
        }
        steps.forEach(step -> step.commit().run());
    }

    /** Asks for endpoints and keys no more, and closes stores. To be called on the thread. */
    void stop() {
        isStopped = true;
        endpoints.stop();
        filterStates.close();
        alive.forEach(each -> each.stores().forEach(RedisStore::close));
    }

    /** Frees the plugins. To be called on the thread, when no event loop runs any more. */
    void freePlugins() {
        alive.forEach(each -> each.plugins().forEach(PluginType.Code::release));
        alive.clear();
    }

    /** Nobody asks other stores from now on, but some may wait for answers. */
    private void closeAllBut(List<RedisStore> used) {
        List<RedisStore> former = alive.stream()
                .flatMap(each -> each.stores().stream())
                .filter(each -> !used.contains(each))
                .toList();
        if (!former.isEmpty()) {
            thread.schedule(() -> former.forEach(RedisStore::close), ANSWER_SECONDS, TimeUnit.SECONDS);
        }
    }

    private void retire(ActiveConfig before, long drainNanos) {
        List<Upstream> gone = new ArrayList<>(before.snapshot.upstreams());
        gone.removeAll(alive.get(alive.size() - 1).upstreams());
        if (!gone.isEmpty()) {
            gone.forEach(dataPlane.pools()::retire);
            thread.schedule(() -> gone.forEach(this::end), drainNanos, TimeUnit.NANOSECONDS);
        }
    }

    /** An upstream that changed lets what has begun finish; what is not part of the configuration any more is cut. */
    private void end(Upstream former) {
        ActiveConfig current = activeConfig;
        Upstream heir = current == null ? null : current.heir(former);
        if (heir == null) {
            dataPlane.pools().remove(former);
        } else {
            dataPlane.pools().keepOnly(former, heir.endpoints());
        }
    }

    /** Returns what is run when nothing uses a generation any more. */
    private Runnable ending(int generation) {
        return () -> thread.execute(() -> onEnded(generation));
    }

    private void limitEarlierAfter(long drainNanos, int upTo) {
        thread.schedule(() -> limitEarlier(upTo), drainNanos, TimeUnit.NANOSECONDS);
    }

    /**
     * Ends what the oldest generations still serve, if earlier ones hold too much memory.
     *
     * @param upTo the last generation that has had the time to drain
     */
    private void limitEarlier(int upTo) {
        if (isStopped) {
            return;
        }
        Alive active = alive.get(alive.size() - 1);
        List<Alive> earlier = new ArrayList<>();
        for (Alive each : alive) { // what is still draining may soon be gone
            if (each.generation() <= upTo) {
                earlier.add(each);
            }
        }
        Collections.reverse(earlier);
        int[] exchanges = dataPlane.exchanges(earlier.stream().map(Alive::uses).toList());
        List<EarlierGenerations.Held> held = new ArrayList<>();
        limited.clear();
        for (int i = 0; i < earlier.size(); i++) {
            held.add(earlier.get(i).held(exchanges[i]));
            limited.put(earlier.get(i).generation(), held.get(i));
        }
        tellHeld();
        for (int i = limit.staying(held, active.held(0)); i < earlier.size(); i++) {
            Alive old = earlier.get(i);
            if (exchanges[i] > 0) {
                log.warn(
                        "Ending what generation {} still serves, exchanges: {}. Earlier generations hold more than {} MiB",
                        old.generation(),
                        exchanges[i],
                        limit.most() >> 20);
                dataPlane.endExchanges(
                        old.uses(),
                        Failure.of(Cause.DRAIN, "earlier generations hold too much memory; this is the oldest"));
            }
        }
    }

    private void tellHeld() {
        Alive active = alive.get(alive.size() - 1);
        metrics.onEarlierHeld(limit.bytes(limited.values(), active.held(0)), limit.most());
    }

    private void onEnded(int generation) {
        Alive ended = alive.stream()
                .filter(each -> each.generation() == generation)
                .findAny()
                .orElse(null);
        if (isStopped || ended == null) {
            return; // freePlugins does the rest, when the event loops have ended
        }
        alive.remove(ended);
        if (!ended.plugins().isEmpty()) {
            dataPlane.runQueued(); // a plugin may have given an event loop a task
            ended.plugins().forEach(PluginType.Code::release);
        }
        for (Upstream upstream : ended.upstreams()) {
            if (alive.stream().noneMatch(each -> each.upstreams().contains(upstream))) {
                dataPlane.pools().remove(upstream);
            }
        }
        for (RedisStore store : ended.stores()) {
            if (alive.stream().noneMatch(each -> each.stores().contains(store))) {
                store.close();
            }
        }
        limited.remove(generation);
        tellHeld();
        metrics.onGeneration(alive.get(alive.size() - 1).generation(), alive.size() - 1);
    }
}
