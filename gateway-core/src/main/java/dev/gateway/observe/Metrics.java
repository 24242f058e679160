package dev.gateway.observe;

import dev.gateway.time.TimerWheel;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.util.internal.PlatformDependent;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * All that the process counts, and its forms: Prometheus text for machines, the statistics page for people. Any thread
 * may call any method. It outlives generations.
 */
public final class Metrics implements AutoCloseable {
    private final List<LoopMetrics> loops = new CopyOnWriteArrayList<>();
    private final List<Exposition.Source> sources = new CopyOnWriteArrayList<>();
    private final Statistics statistics = new Statistics(loops);
    private final AtomicLong generation = new AtomicLong();
    private final AtomicLong draining = new AtomicLong();
    private final AtomicLong reloadsSucceeded = new AtomicLong();
    private final AtomicLong reloadsFailed = new AtomicLong();
    private final String version;
    private @Nullable PrometheusMeterRegistry registry; // made when first asked for: it takes long to load
    private @Nullable JvmGcMetrics gc;

    /**
     * Makes the counters of a process.
     *
     * @param version of the build, for {@code gateway_build_info}
     */
    public Metrics(String version) {
        this.version = version;
        sources.add(new MeterSource(loops));
        sources.add(this::process);
    }

    /** Returns the counters of another event loop, whose wheel is its clock. */
    public LoopMetrics newLoop(TimerWheel wheel) {
        LoopMetrics loop = new LoopMetrics(wheel);
        loops.add(loop);
        return loop;
    }

    /** Adds a log's count of dropped lines. */
    public void add(AccessLog log) {
        sources.add(out -> out.counter(
                "gateway_accesslog_dropped",
                "Lines of the access log that could not be written in time.",
                log.dropped()));
    }

    /** Takes how often a rule has refused tunnels, or requests that are forwarded like them. */
    public interface Denials {
        /** Takes one count; labels are names and words of the configuration. */
        void denied(String listener, String rule, long count);
    }

    /** Adds what a policy counts, which is asked at each scrape. */
    public void addDenials(Consumer<Denials> policy) {
        sources.add(out -> policy.accept((listener, rule, count) -> out.counter(
                "gateway_connect_denied",
                "Requests to other hosts that a rule has refused.",
                count,
                "listener",
                listener,
                "rule",
                rule)));
    }

    /** Lets scrapes tell when certificates end. */
    public void watch(Supplier<List<CertificateExpiry>> certificates) {
        sources.add(out -> certificates.get().stream()
                // Of two with the same name, such as one of RSA and one of ECDSA, the one that ends first counts.
                .collect(Collectors.toMap(
                        each -> List.of(each.kind(), each.owner(), each.name()),
                        CertificateExpiry::notAfterSeconds,
                        Math::min))
                .forEach((labels, end) -> out.gauge(
                        "gateway_certificate_not_after_seconds",
                        "When a certificate ends, in seconds since 1970.",
                        end,
                        labels.get(0),
                        labels.get(1),
                        "name",
                        labels.get(2))));
    }

    /**
     * A generation has taken over, or an earlier one has ended.
     *
     * @param number of the one in force
     * @param earlier how many before it still have exchanges
     */
    public void onGeneration(long number, int earlier) {
        generation.set(number);
        draining.set(earlier);
    }

    /** A reload was tried. */
    public void onReload(boolean succeeded) {
        (succeeded ? reloadsSucceeded : reloadsFailed).incrementAndGet();
    }

    /** Lets the statistics page tell rates: takes a sample every second on that executor, from now on. */
    public void sampleOn(ScheduledExecutorService executor) {
        executor.scheduleAtFixedRate(statistics::sample, 0, 1, TimeUnit.SECONDS);
    }

    /** Returns the registry, for gauges of others. */
    public synchronized MeterRegistry registry() {
        return prometheus();
    }

    private PrometheusMeterRegistry prometheus() {
        if (registry == null) {
            PrometheusRegistry prometheus = new PrometheusRegistry();
            prometheus.register(Exposition.collector(out -> sources.forEach(source -> source.addTo(out))));
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

    /** Returns the exposition in Prometheus' text format, {@code text/plain; version=0.0.4}. */
    public String metricsText() {
        PrometheusMeterRegistry current;
        synchronized (this) {
            current = prometheus();
        }
        return current.scrape();
    }

    /** Returns the statistics page, plain text for people. */
    public String statsText() {
        return statistics.text();
    }

    /** Returns what {@link #statsText} says as a JSON object. */
    public String statsJson() {
        return statistics.json();
    }

    private void process(Exposition out) {
        out.gauge("gateway_config_generation", "The generation in force.", generation.get());
        out.gauge(
                "gateway_config_generations_draining",
                "Earlier generations whose last exchange has not ended.",
                draining.get());
        String reloads = "gateway_config_reloads";
        out.counter(reloads, "Reloads tried.", reloadsSucceeded.get(), "result", "success");
        out.counter(reloads, "Reloads tried.", reloadsFailed.get(), "result", "failure");
        out.info("gateway_build", "The build, as labels.", "version", version, "java", javaVersion());
        out.gauge(
                "gateway_direct_memory_used_bytes",
                "Direct memory that buffers take.",
                Math.max(0, PlatformDependent.usedDirectMemory()));
        out.gauge(
                "gateway_direct_memory_max_bytes",
                "Direct memory that buffers may take.",
                PlatformDependent.maxDirectMemory());
    }

    private static String javaVersion() {
        return Integer.toString(Runtime.version().feature());
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
