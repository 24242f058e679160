package dev.gateway.otlp;

import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.lang.management.ManagementFactory;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Sends all metrics to a receiver of OTLP, again and again and a last time at the end, in a thread of its own. They are
 * what a scrape at that moment would read.
 */
public final class MetricExport implements AutoCloseable {
    private static final long CLOSE_MILLIS = 3_000;

    private final Supplier<MetricSnapshots> metrics;
    private final Receiver receiver;
    private final Receiver.Origin origin;
    private final Results results;
    private final MetricExporter exporter;
    private final Complaints complaints;
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
     * @throws RuntimeException if the receiver's headers or certificates are none
     */
    public MetricExport(Supplier<MetricSnapshots> metrics, Receiver receiver, Results results) {
        this.metrics = metrics;
        this.receiver = receiver;
        this.origin = receiver.origin();
        this.results = results;
        this.exporter = receiver.metrics();
        this.complaints = new Complaints("metrics", receiver.endpoint(), results.failed());
    }

    /** Begins, once. */
    public void start(long intervalMillis) {
        started = true;
        thread.scheduleWithFixedDelay(this::send, intervalMillis, intervalMillis, TimeUnit.MILLISECONDS);
    }

    private void send() {
        try {
            var data = OtlpMetrics.of(metrics.get(), origin, startNanos);
            if (complaints.await(exporter.export(data), receiver.timeoutMillis(), 1)) {
                results.succeeded().incrementAndGet();
            }
        } catch (RuntimeException e) { // else nothing would be sent any more
            complaints.failed(e.toString(), 1);
        }
    }

    /** Sends them a last time, unless it was never started, and ends. */
    @Override
    public void close() {
        try {
            if (started) {
                thread.execute(this::send);
            }
            thread.shutdown();
            if (!thread.awaitTermination(CLOSE_MILLIS, TimeUnit.MILLISECONDS)) {
                thread.shutdownNow();
            }
        } catch (InterruptedException e) {
            thread.shutdownNow();
            Thread.currentThread().interrupt();
        }
        exporter.shutdown();
    }
}
