package dev.gateway.upstream;

import org.jspecify.annotations.Nullable;

/**
 * Outlier detection (ejection): when endpoints are ejected, and for how long.
 *
 * @param counts what counts as a failure
 * @param consecutive5xx after how many failures in a row; 0 for never
 * @param baseEjectionMillis how long the first time, at least 1; longer by as much each time that it is ejected soon again
 * @param maxEjectionMillis how long at most
 * @param maxEjectionPercent how many of the endpoints at the same time; one may be in any case, and so may all but one that
 *     cannot be reached or do not answer
 * @param successRate when those are, too, that succeed less often than others; null for never
 */
public record OutlierDetection(
        Counts counts,
        int consecutive5xx,
        long baseEjectionMillis,
        long maxEjectionMillis,
        int maxEjectionPercent,
        @Nullable SuccessRate successRate) {
    private static final int NOT_IMPLEMENTED = 501;
    private static final int VERSION_NOT_SUPPORTED = 505;
    private static final int NETWORK_AUTHENTICATION_REQUIRED = 511;

    /** Ejects for failures in a row only. */
    public OutlierDetection(
            Counts counts,
            int consecutive5xx,
            long baseEjectionMillis,
            long maxEjectionMillis,
            int maxEjectionPercent) {
        this(counts, consecutive5xx, baseEjectionMillis, maxEjectionMillis, maxEjectionPercent, null);
    }

    /**
     * Success rates: when an endpoint succeeds less often than others.
     *
     * @param intervalMillis over which requests are counted
     * @param minimumHosts how many endpoints must have had enough requests
     * @param requestVolume how many requests are enough
     * @param stdevFactor how far below the average is too low, in thousandths of the standard deviation
     */
    public record SuccessRate(long intervalMillis, int minimumHosts, int requestVolume, int stdevFactor) {}

    /** What counts as a failure of an endpoint; that no connection to it can be made always does. */
    public enum Counts {
        /** Answers of 502, 503 and 504, and no answer: clients can hardly cause these. */
        ABSENCE,
        /** Also other server errors, answers that break off, and what is no HTTP. */
        ANY_FAILURE
    }

    /** Whether an answer tells that its endpoint has failed, and not just the request. */
    boolean isFailure(int status) {
        return switch (counts) {
            case ABSENCE -> status >= 502 && status <= 504;
            case ANY_FAILURE ->
                status >= 500
                        && status != NOT_IMPLEMENTED
                        && status != VERSION_NOT_SUPPORTED
                        && status != NETWORK_AUTHENTICATION_REQUIRED;
        };
    }

    /** Whether so many failures in a row are as many as eject, or a multiple of it. */
    boolean isTooMany(int failures) {
        return consecutive5xx > 0 && failures % consecutive5xx == 0;
    }

    /** Returns how many of so many endpoints may be ejected at the same time, rounded up. */
    int most(int endpoints) {
        return (int) (((long) endpoints * maxEjectionPercent + 99) / 100);
    }
}
