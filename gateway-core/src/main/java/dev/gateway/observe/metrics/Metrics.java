package dev.gateway.observe.metrics;

import dev.gateway.format.JsonText;
import dev.gateway.observe.accesslog.AccessLog;
import dev.gateway.observe.accesslog.RecentFailures;
import dev.gateway.observe.counts.EndpointCounts;
import dev.gateway.observe.counts.EndpointsOfLoop;
import dev.gateway.observe.metrics.state.CertificateExpiry;
import dev.gateway.observe.metrics.state.Denials;
import dev.gateway.observe.metrics.state.ListenerFeatures;
import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.overload.Overload;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.time.TimerWheel;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Metrics registry. All that the process counts, and its forms: Prometheus text for machines, the statistics page for
 * people. Any thread may call any method. It outlives generations.
 */
public final class Metrics implements AutoCloseable {
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";
    private static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    private final List<LoopMetrics> loops = new CopyOnWriteArrayList<>();
    private final List<Exposition.Source> sources = new CopyOnWriteArrayList<>();
    private final Statistics statistics = new Statistics(loops);
    private final ProcessMeters process;
    private final EndpointSeries endpoints;
    private final LastMinutes lastMinutes = new LastMinutes(statistics);
    private final Attention attention;
    private @Nullable PrometheusMeterRegistry registry; // made when first asked for: it takes long to load
    private @Nullable JvmGcMetrics gc;

    /**
     * Makes the counters of a process.
     *
     * @param version of the build, for {@code gateway_build_info}
     */
    public Metrics(String version) {
        process = new ProcessMeters(version);
        attention = new Attention(statistics, process);
        sources.add(new MeterSource(loops, () -> process.listenerFeatures.get()));
        sources.add(new UpstreamSource(loops, () -> process.upstreams.get()));
        sources.add(process);
        endpoints = new EndpointSeries(loops, () -> process.upstreams.get());
        sources.add(endpoints);
    }

    /**
     * Returns the counters of another event loop, whose wheel is its clock.
     *
     * @param pendingTasks how many tasks wait for the loop; called on any thread
     */
    public LoopMetrics newLoop(TimerWheel wheel, IntSupplier pendingTasks) {
        LoopMetrics loop = new LoopMetrics(wheel, pendingTasks);
        loops.add(loop);
        return loop;
    }

    /** Shows how many bytes of direct memory buffers hold, which is less than what was taken from the system. */
    public void watchDirectMemory(LongSupplier held) {
        process.directHeld = held;
    }

    /** Shows how many bytes caches hold of the heap for clients. */
    public void watchCaches(LongSupplier held) {
        process.cachesHeld = held;
    }

    /** Lets scrapes and statistics tell how much room there is for new work. */
    public void watchOverload(Overload overload, MemoryBudget budget, MemoryBudget waitingBodies) {
        process.overload = overload;
        process.budget = budget;
        process.waitingBodies = waitingBodies;
    }

    /** Adds a log's count of dropped lines. */
    public void add(AccessLog log) {
        process.accessLogs.add(log);
    }

    /** Adds a count of lines of the process's own log that were dropped. */
    public void addDroppedLog(LongSupplier dropped) {
        process.droppedLog = dropped;
    }

    /** Adds a count of files of users, tokens and groups that are not as they are used. */
    public void addFaultyAccountFiles(IntSupplier faulty) {
        process.faultyAccountFiles = faulty;
    }

    /**
     * Adds counts of names.
     *
     * @param stale names whose last known addresses stay in use while DNS fails
     * @param earlyLookups lookups before the TTL was over
     */
    public void addNames(IntSupplier stale, LongSupplier earlyLookups) {
        process.staleNames = stale;
        process.earlyLookups = earlyLookups;
    }

    /**
     * Adds a count of spans that could not be exported.
     *
     * @param on whether spans are exported
     */
    public void addDroppedSpans(BooleanSupplier on, LongSupplier dropped) {
        process.exportsSpans = on;
        process.droppedSpans = dropped;
    }

    /**
     * Adds counts of exports of all metrics, by what became of them.
     *
     * @param on whether metrics are exported
     */
    public void addExports(BooleanSupplier on, LongSupplier succeeded, LongSupplier failed) {
        process.exportsMetrics = on;
        process.exportsSucceeded = succeeded;
        process.exportsFailed = failed;
    }

    /** Adds what a policy counts, which is asked at each scrape. */
    public void addDenials(Consumer<Denials> policy) {
        process.policies.add(policy);
    }

    /** Adds what another part counts, which each scrape asks for. */
    public void add(Exposition.Source source) {
        sources.add(source);
    }

    /** Lets scrapes tell when certificates end. */
    public void watch(Supplier<List<CertificateExpiry>> certificates) {
        process.certificates = certificates;
    }

    /** Lets scrapes tell which listeners have what only some can have. */
    public void watchListeners(Supplier<ListenerFeatures> features) {
        process.listenerFeatures = features;
    }

    /** Lets scrapes and statistics read upstreams; called often, so it must answer at once. */
    public void watchUpstreams(Supplier<List<UpstreamState>> upstreams) {
        process.upstreams = upstreams;
    }

    /**
     * A generation has taken over, or an earlier one has ended.
     *
     * @param number of the active generation
     * @param earlier how many before it still have exchanges
     */
    public void onGeneration(long number, int earlier) {
        process.generation.set(number);
        process.draining.set(earlier);
    }

    /**
     * Earlier generations hold more or less than before.
     *
     * @param bytes those whose time to drain is over hold, by an estimate
     * @param most beyond which exchanges of the oldest are ended
     */
    public void onEarlierHeld(long bytes, long most) {
        process.earlierHeld.set(bytes);
        process.earlierMost.set(most);
    }

    /** An endpoint of an upstream was ejected. */
    public void onEjected(String upstream) {
        process.onEjected(upstream);
    }

    /** A reload was tried. */
    public void onReload(boolean succeeded) {
        process.lastReloadFailed = !succeeded;
        (succeeded ? process.reloadsSucceeded : process.reloadsFailed).incrementAndGet();
    }

    /** Lets rates and the lag of event loops be told: takes a sample every second on that executor, from now on. */
    public void sampleOn(ScheduledExecutorService executor) {
        executor.scheduleAtFixedRate(this::sample, 0, 1, TimeUnit.SECONDS);
    }

    void sample() {
        statistics.sample();
        lastMinutes.sample();
        attention.sample();
        endpoints.forgetGone();
        loops.forEach(loop -> loop.lag().probe());
    }

    private synchronized PrometheusMeterRegistry registry() {
        if (registry == null) {
            PrometheusRegistry prometheus = new PrometheusRegistry();
            prometheus.register(collector());
            PrometheusMeterRegistry made =
                    new PrometheusMeterRegistry(PrometheusConfig.DEFAULT, prometheus, Clock.SYSTEM);
            made.config().commonTags("application", "gateway");
            new ClassLoaderMetrics().bindTo(made);
            new JvmMemoryMetrics().bindTo(made);
            gc = new JvmGcMetrics();
            gc.bindTo(made);
            new JvmThreadMetrics().bindTo(made);
            new ProcessorMetrics().bindTo(made);
            new UptimeMetrics().bindTo(made);
            new FileDescriptorMetrics().bindTo(made);
            registry = made;
        }
        return registry;
    }

    /** Returns what collects all metrics of the gateway; those of the JVM are not among them. */
    public MultiCollector collector() {
        return Exposition.collector(out -> sources.forEach(source -> source.addTo(out)));
    }

    /**
     * What a scrape reads.
     *
     * @param type the media type of the text
     */
    public record Scrape(String type, String text) {}

    /** Returns what was counted of an endpoint; null if it has no counters of its own, as it is beyond the first ones. */
    public @Nullable EndpointCounts endpoint(String upstream, int index, String address) {
        return index < EndpointsOfLoop.MOST ? new EndpointSums(loops).of(upstream, address) : null;
    }

    /**
     * Writes all metrics in the format that suits: OpenMetrics, with exemplars, to clients that accept it, else Prometheus'
     * text format.
     *
     * @param accept the request's Accept field, empty if it has none
     */
    public Scrape scrape(String accept) {
        String type = accept.contains("application/openmetrics-text") ? OPEN_METRICS : PROMETHEUS;
        return new Scrape(type, registry().scrape(type));
    }

    /** Returns all metrics as they are now. */
    public MetricSnapshots snapshots() {
        return registry().getPrometheusRegistry().scrape();
    }

    /** Returns all metrics in Prometheus' text format. */
    public String metricsText() {
        return scrape("").text();
    }

    /** Returns the statistics page, plain text for people. */
    public String statsText() {
        return new StatisticsText(statistics, process).write();
    }

    /** Returns what {@link #statsText} says, and what it is made of, as a JSON object. */
    public String statsJson() {
        return new StatisticsDocument(statistics, process, attention).write();
    }

    /** Returns what went on in the last ten minutes, as a JSON object. */
    public String historyJson() {
        return lastMinutes.json();
    }

    /** Returns the last exchanges that failed, as a JSON object, latest first. */
    public String failuresJson() {
        List<RecentFailures> loops = process.accessLogs.stream()
                .flatMap(log -> log.failures().stream())
                .toList();
        JsonText json = new JsonText();
        json.object().put("schema", 1).put("time", System.currentTimeMillis());
        json.put("leftOut", loops.stream().mapToLong(RecentFailures::leftOut).sum());
        json.array("failures");
        RecentFailures.latest(loops).forEach(each -> each.write(json));
        return json.endArray().endObject() + "\n";
    }

    @Override
    public synchronized void close() {
        if (gc != null) {
            gc.close();
        }
        if (registry != null) {
            registry.close();
        }
    }
}
