package dev.gateway.route;

import dev.gateway.observe.FineHistogram;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Live percentiles: how long the answers of a rule take at present. Answers are counted in the buckets of {@link
 * FineHistogram}, in a window that lasts ten seconds, or until there are enough of them; the window before counts, too. So
 * what was long ago is forgotten, and a rule with few requests still has an estimate. Takes some two kilobytes. Safe from
 * any thread, and without a lock; of answers that come while one window follows another, some may be forgotten.
 */
public final class AnswerTimes {
    /** Too few answers are known. */
    static final long UNKNOWN = -1;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(5);

    /** An estimate is a guess if fewer answers than these took longer. */
    private static final int LEAST_ABOVE = 5;

    private static final int LEAST = 20;
    private static final int WHOLE = 1000;
    private static final double NANOS_PER_SECOND = 1e9;

    private final AtomicReference<@Nullable Window> window = new AtomicReference<>();

    /** The answers since a moment. */
    private static final class Window {
        final long beganNanos;
        final AtomicIntegerArray counts = new AtomicIntegerArray(FineHistogram.BUCKETS);
        final int[] before; // those of the window before

        Window(int[] before, long nanos) {
            this.before = before;
            this.beganNanos = nanos;
        }
    }

    /**
     * An answer took so long, or longer if nobody has waited for it.
     *
     * @param now on any clock of which a user never uses another
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
     * Returns the nanoseconds that a part of the answers did not exceed, or {@link #UNKNOWN}.
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
        if (age >= 2 * LONGEST_NANOS) { // nobody has asked for so long
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
