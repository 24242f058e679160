package dev.gateway.exchange.route;

import dev.gateway.observe.counts.FineHistogram;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Live percentiles of the answer times of a rule. It counts answers in the buckets of {@link FineHistogram}, in a window of
 * ten seconds, or longer if there are too few answers; the previous window counts, too. So old answers are forgotten, and a
 * rule with few requests still has an estimate. Takes about two kilobytes. Safe from any thread, without a lock; some answers
 * may be lost when a window ends.
 */
public final class AnswerTimes {
    /** There are too few answers. */
    static final long UNKNOWN = -1;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(5);

    /** Minimum number of answers above the percentile: with fewer, an estimate would be a guess. */
    private static final int LEAST_ABOVE = 5;

    private static final int LEAST = 20;
    private static final int WHOLE = 1000;
    private static final double NANOS_PER_SECOND = 1e9;

    private final AtomicReference<@Nullable Window> window = new AtomicReference<>();

    /** The answers since a moment. */
    private static final class Window {
        final long beganNanos;
        final AtomicIntegerArray counts = new AtomicIntegerArray(FineHistogram.BUCKETS);
        final int[] before; // the counts of the previous window

        Window(int[] before, long nanos) {
            this.before = before;
            this.beganNanos = nanos;
        }
    }

    /**
     * Counts an answer.
     *
     * @param nanos its time, or the time after which its attempt was canceled
     * @param now the same clock at each call
     */
    public void add(long nanos, long now) {
        Window current = window.get();
        if (current == null) {
            window.compareAndSet(null, new Window(new int[FineHistogram.BUCKETS], now));
            current = window.get();
        }
        if (current != null) {
            current.counts.incrementAndGet(FineHistogram.bucket(nanos));
        }
    }

    /**
     * Returns the nanoseconds that this part of the answers did not exceed, or {@link #UNKNOWN}.
     *
     * @param perMille the part, from 1 to 999
     * @param now by the same clock
     */
    public long percentile(int perMille, long now) {
        Window current = window.get();
        if (current == null) {
            return UNKNOWN;
        }
        int[] counts = new int[FineHistogram.BUCKETS];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = current.counts.get(i);
        }
        long age = now - current.beganNanos;
        int needed = Math.max(LEAST, LEAST_ABOVE * WHOLE / (WHOLE - perMille));
        if (age >= 2 * LONGEST_NANOS) { // not used for a long time
            window.compareAndSet(current, new Window(new int[FineHistogram.BUCKETS], now));
            return UNKNOWN;
        }
        if (age >= LONGEST_NANOS || (age >= WINDOW_NANOS && FineHistogram.count(counts) >= needed)) {
            window.compareAndSet(current, new Window(counts.clone(), now));
        }
        for (int i = 0; i < counts.length; i++) {
            counts[i] += current.before[i];
        }
        return FineHistogram.count(counts) < needed
                ? UNKNOWN
                : (long) (FineHistogram.quantile((double) perMille / WHOLE, counts) * NANOS_PER_SECOND);
    }
}
