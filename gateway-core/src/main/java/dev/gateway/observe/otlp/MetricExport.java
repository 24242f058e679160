package dev.gateway.observe.otlp;

import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.lang.management.ManagementFactory;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * OTLP metrics exporter: sends all metrics to a receiver of OTLP, again and again and a last time at the end, in a thread
 * of its own. They are what a scrape at that moment would read.
 */
public final class MetricExport {
    private final Supplier<MetricSnapshots> metrics;
    private final Receiver.Origin origin;
    private final Results results;
    private final MetricExporter exporter;
    private final Delivery delivery;
    private final long startNanos =
            TimeUnit.MILLISECONDS.toNanos(ManagementFactory.getRuntimeMXBean().getStartTime());
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread made = new Thread(task, "metric-export");
        made.setDaemon(true);
        return made;
    });
    private boolean started;

    /** Counts exports that were taken, and those that were not. */
    public record Results(AtomicLong succeeded, AtomicLong failed) {}

    /**
     * Makes it; nothing is sent before it is started.
     *
     * @param metrics reads them; any thread may ask
     * @throws RuntimeException if a header for the receiver has an invalid name or value
     */
    public MetricExport(Supplier<MetricSnapshots> metrics, Receiver receiver, Results results) {
        this(metrics, receiver, results, receiver.metrics());
    }

    MetricExport(Supplier<MetricSnapshots> metrics, Receiver receiver, Results results, MetricExporter exporter) {
        this.metrics = metrics;
        this.origin = receiver.origin();
        this.results = results;
        this.exporter = exporter;
        this.delivery = new Delivery("metrics", receiver, results.failed());
    }

    /** Begins, once. */
    public void start(long intervalMillis) {
        started = true;
        thread.scheduleWithFixedDelay(this::send, intervalMillis, intervalMillis, TimeUnit.MILLISECONDS);
    }

    private void send() {
        if (delivery.send(() -> exporter.export(OtlpMetrics.of(metrics.get(), origin, startNanos)), 1)) {
            results.succeeded().incrementAndGet();
        }
    }

    /** Sends them a last time, unless it was never started, and ends. Does not wait. */
    public void end() {
        if (started) {
            thread.execute(this::send);
        }
        thread.shutdown();
    }

    /** Waits for the end. After the given time it ends running exports and counts what is lost. */
    public void awaitEnd(long deadlineNanos) {
        try {
            if (!thread.awaitTermination(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                cutOff();
            }
        } catch (InterruptedException e) {
            thread.shutdownNow();
            Thread.currentThread().interrupt();
        }
        exporter.shutdown();
    }

    /** What is being sent counts itself; what is to be sent after it will not be. */
    private void cutOff() throws InterruptedException {
        results.failed().addAndGet(thread.shutdownNow().size());
        thread.awaitTermination(Delivery.COUNT_MILLIS, TimeUnit.MILLISECONDS);
    }
}
