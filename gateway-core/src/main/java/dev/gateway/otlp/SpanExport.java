package dev.gateway.otlp;

import dev.gateway.observe.ExchangeObserver;
import dev.gateway.time.TimerWheel;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends spans to a receiver of OTLP, in a thread of its own: event loops hand them over by a bounded queue. What finds it
 * full, or cannot be sent, is dropped and counted.
 */
public final class SpanExport implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SpanExport.class);
    /** The SDK's own, which tells each failure with its stack trace on standard error; kept, or it would be made anew. */
    private static final java.util.logging.Logger SDK_LOG = java.util.logging.Logger.getLogger("io.opentelemetry");

    private static final long CLOSE_MILLIS = 5_000;
    private static final long COMPLAIN_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final SpanExportSettings settings;
    private final AtomicLong dropped;
    private final FinishedSpan.Origin origin;
    private final BlockingQueue<SpanData> queue;
    private final SpanExporter exporter;
    private final Thread thread;
    private final SpanData end; // takes the place of a span when none follows
    private volatile boolean closing;
    private boolean failing; // of the thread
    private long complainedNanos; // of the thread

    /**
     * Starts it; nothing is sent before the first span.
     *
     * @param dropped counts spans that are lost
     */
    public SpanExport(SpanExportSettings settings, AtomicLong dropped) {
        SDK_LOG.setLevel(java.util.logging.Level.OFF);
        this.settings = settings;
        this.dropped = dropped;
        SpanExportSettings.Service service = settings.service();
        this.origin = new FinishedSpan.Origin(
                Resource.create(Attributes.of(
                        AttributeKey.stringKey("service.name"),
                        service.name(),
                        AttributeKey.stringKey("service.version"),
                        service.version())),
                InstrumentationScopeInfo.builder("dev.gateway")
                        .setVersion(service.version())
                        .build());
        this.end = new FinishedSpan(
                origin,
                "",
                SpanKind.INTERNAL,
                SpanContext.getInvalid(),
                SpanContext.getInvalid(),
                new FinishedSpan.Times(0, 0, List.of()),
                Attributes.empty(),
                StatusData.unset());
        this.queue = new ArrayBlockingQueue<>(settings.batches().maxQueued());
        OtlpHttpSpanExporterBuilder builder = OtlpHttpSpanExporter.builder()
                .setEndpoint(settings.endpoint() + "/v1/traces")
                .setTimeout(settings.batches().timeoutMillis(), TimeUnit.MILLISECONDS);
        settings.headers().forEach(builder::addHeader);
        this.exporter = builder.build();
        this.thread = new Thread(this::run, "span-export");
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns the observer of another event loop, to be told of exchanges whose trace is recorded. */
    public ExchangeObserver newLoop(TimerWheel wheel) {
        return new LoopSpans(this, origin, settings.redaction(), wheel);
    }

    /** Takes a span; never waits. */
    void offer(SpanData span) {
        if (!queue.offer(span)) {
            dropped.incrementAndGet();
        }
    }

    private void run() {
        try {
            for (SpanData first = next(); first != null && first != end; first = next()) {
                send(gather(first));
            }
        } catch (InterruptedException e) {
            log.warn("Spans that could not be sent in time are lost");
        }
        exporter.shutdown();
    }

    /** Returns the next span or the end, null if none is left and none will come. */
    private @Nullable SpanData next() throws InterruptedException {
        return closing ? queue.poll() : queue.take();
    }

    /** Waits a moment for others, but for the end. */
    private List<SpanData> gather(SpanData first) throws InterruptedException {
        List<SpanData> batch = new ArrayList<>(List.of(first));
        long until = System.nanoTime()
                + TimeUnit.MILLISECONDS.toNanos(settings.batches().delayMillis());
        while (batch.size() < settings.batches().maxSize()) {
            SpanData next = closing ? queue.poll() : queue.poll(until - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (next == null || next == end) {
                break; // after the end nothing follows
            }
            batch.add(next);
        }
        return batch;
    }

    private void send(List<SpanData> batch) {
        CompletableResultCode sent =
                exporter.export(batch).join(settings.batches().timeoutMillis() + 1_000, TimeUnit.MILLISECONDS);
        if (sent.isSuccess()) {
            if (failing) {
                failing = false;
                log.info("Spans can be sent again; dropped so far: {}", dropped.get());
            }
            return;
        }
        dropped.addAndGet(batch.size());
        long now = System.nanoTime();
        if (!failing || now - complainedNanos > COMPLAIN_NANOS) {
            failing = true;
            complainedNanos = now;
            log.warn(
                    "Cannot send spans to {} (dropped so far: {}): {}",
                    settings.endpoint(),
                    dropped.get(),
                    String.valueOf(sent.getFailureThrowable()));
        }
    }

    /** Sends what is left, and ends; the observers it made must not be told of anything any more. */
    @Override
    public void close() {
        closing = true;
        try {
            if (!queue.offer(end)) {
                log.debug("No need to wake who has that much to do");
            }
            thread.join(CLOSE_MILLIS);
            thread.interrupt();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
