package dev.gateway.route;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Hedging delay: how long the first attempt of a request has for its answer before there is a second one. A fixed time, or a
 * percentile of what answers of the rule take at present. Shared by all event loops.
 */
public final class HedgeDelay {
    /** It is not known yet what answers take. */
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

    /** Makes one that is always the same. */
    public static HedgeDelay fixed(long millis) {
        return new HedgeDelay(millis, 0, null);
    }

    /**
     * Makes one that is a percentile.
     *
     * @param perMille the part of the answers that take no longer
     * @param leastMillis below which it never is
     * @param times what answers take, which this is to be told
     */
    public static HedgeDelay percentile(int perMille, long leastMillis, AnswerTimes times) {
        return new HedgeDelay(leastMillis, perMille, times);
    }

    /**
     * An attempt was answered, or nobody waits for its answer any more.
     *
     * @param nanos how long it has taken so far
     * @param now by the clock that all users have
     */
    public void onAnswered(long nanos, long now) {
        if (times != null) {
            times.add(nanos, now);
        }
    }

    /** Returns the delay in milliseconds, or {@link #UNKNOWN}. It is found out a few times a second. */
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
