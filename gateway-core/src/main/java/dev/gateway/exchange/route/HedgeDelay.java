package dev.gateway.exchange.route;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Hedging delay: how long the first attempt of a request may take before a second one begins. A fixed time, or a percentile
 * of the rule's answer times at present. Shared by all event loops.
 */
public final class HedgeDelay {
    /** There are too few answers for a percentile. */
    public static final long UNKNOWN = -1;

    private static final long REFRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private final long leastMillis;
    private final int perMille;
    private final @Nullable AnswerTimes times; // null if the delay is fixed
    private volatile @Nullable Estimate estimate;

    private record Estimate(long millis, long madeNanos) {}

    private HedgeDelay(long leastMillis, int perMille, @Nullable AnswerTimes times) {
        this.leastMillis = leastMillis;
        this.perMille = perMille;
        this.times = times;
    }

    /** Makes a fixed delay. */
    public static HedgeDelay fixed(long millis) {
        return new HedgeDelay(millis, 0, null);
    }

    /**
     * Makes a delay that is a percentile.
     *
     * @param perMille the part of the answers that take no longer
     * @param leastMillis the minimum delay
     * @param times the answer times, which users report to the delay
     */
    public static HedgeDelay percentile(int perMille, long leastMillis, AnswerTimes times) {
        return new HedgeDelay(leastMillis, perMille, times);
    }

    /**
     * An attempt got its answer, or was canceled.
     *
     * @param nanos how long it has taken
     * @param now the same clock at each call, for all users
     */
    public void onAnswered(long nanos, long now) {
        if (times != null) {
            times.add(nanos, now);
        }
    }

    /** Returns the delay in milliseconds, or {@link #UNKNOWN}. Computes it at most ten times per second. */
    public long millis(long now) {
        if (times == null) {
            return leastMillis;
        }
        Estimate known = estimate;
        if (known == null || now - known.madeNanos >= REFRESH_NANOS) {
            long nanos = times.percentile(perMille, now);
            long millis = nanos == AnswerTimes.UNKNOWN
                    ? UNKNOWN
                    : Math.max(leastMillis, (nanos + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI);
            known = new Estimate(millis, now);
            estimate = known;
        }
        return known.millis;
    }
}
