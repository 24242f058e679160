package dev.gateway.observe.otlp;

import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.accesslog.Redaction;
import dev.gateway.time.TimerWheel;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * OTLP span exporter. Sends spans to a receiver of OTLP, in a thread of its own: event loops hand them over by a bounded
 * queue. What finds it full, or cannot be sent, is dropped and counted.
 */
public final class SpanExport {
    private static final Logger log = LoggerFactory.getLogger(SpanExport.class);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Receiver.Origin origin;
    private final Batches batches;
    private final Redaction redaction;
    private final AtomicLong dropped;
    private final BlockingQueue<SpanData> queue;
    private final SpanExporter exporter;
    private final Delivery delivery;
    private final Thread thread = new Thread(this::run, "span-export");
    private final SpanData end; // takes the place of a span when none follows
    private volatile boolean closing;

    /**
     * How spans are put together.
     *
     * @param delayMillis how long spans wait for others
     * @param maxQueued spans that may wait; those that come then are dropped
     */
    public record Batches(long delayMillis, int maxQueued, int maxSize) {}

    /**
     * Makes it; nothing is sent before it is started.
     *
     * @param dropped counts spans that are lost
     * @throws RuntimeException if a header for the receiver has an invalid name or value
     */
    public SpanExport(Receiver receiver, Batches batches, Redaction redaction, AtomicLong dropped) {
        this(receiver, batches, redaction, dropped, receiver.spans());
    }

    SpanExport(Receiver receiver, Batches batches, Redaction redaction, AtomicLong dropped, SpanExporter exporter) {
        this.origin = receiver.origin();
        this.batches = batches;
        this.redaction = redaction;
        this.dropped = dropped;
        this.end = new FinishedSpan(
                origin,
                "",
                SpanKind.INTERNAL,
                SpanContext.getInvalid(),
                SpanContext.getInvalid(),
                new FinishedSpan.Times(0, 0, List.of()),
                Attributes.empty(),
                StatusData.unset());
        this.queue = new ArrayBlockingQueue<>(batches.maxQueued());
        this.exporter = exporter;
        this.delivery = new Delivery("spans", receiver, dropped);
        thread.setDaemon(true);
    }

    /** Begins, once. */
    public void start() {
        thread.start();
    }

    /** Returns the observer of another event loop; it must hear of exchanges whose trace is recorded. */
    public ExchangeObserver newLoop(TimerWheel wheel) {
        return new LoopSpans(this::offer, origin, redaction, wheel);
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
            List<SpanData> rest = new ArrayList<>();
            queue.drainTo(rest);
            rest.remove(end);
            dropped.addAndGet(rest.size());
            log.warn("Lost {} spans that waited for export at exit", rest.size());
        }
    }

    /** Returns the next span or the end, null if none is left and none will come. */
    private @Nullable SpanData next() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException(); // while something was sent, which says no more of it
        }
        return closing ? queue.poll() : queue.take();
    }

    /** Waits a moment for others, but not at the end; not for each by itself, or event loops would wake this thread as often. */
    private List<SpanData> gather(SpanData first) {
        List<SpanData> batch = new ArrayList<>(List.of(first));
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(batches.delayMillis());
        while (true) {
            queue.drainTo(batch, batches.maxSize() - batch.size());
            if (batch.remove(end)) {
                return batch; // nothing follows
            }
            long left = until - System.nanoTime();
            if (closing || left <= 0 || batch.size() >= batches.maxSize()) {
                return batch;
            }
            LockSupport.parkNanos(Math.min(left, PAUSE_NANOS));
        }
    }

    private void send(List<SpanData> batch) {
        delivery.send(() -> exporter.export(batch), batch.size());
    }

    /** Sends what is left, and ends; do not call the observers it made afterwards. Does not wait. */
    public void end() {
        closing = true;
        if (!queue.offer(end)) {
            log.debug("No need to wake who has that much to do");
        }
        LockSupport.unpark(thread);
    }

    /** Waits for the end. After the given time it ends running exports and counts what is lost. */
    public void awaitEnd(long deadlineNanos) {
        try {
            thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime())));
            thread.interrupt();
            thread.join(Delivery.COUNT_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        exporter.shutdown();
    }
}
