package dev.gateway.upstream;

import org.jspecify.annotations.Nullable;

/**
 * Outlier detection (ejection): when endpoints are ejected, and for how long.
 *
 * @param counts what counts as a failure
 * @param consecutive5xx how many failures in a row eject an endpoint; 0 for never
 * @param baseEjectionMillis duration of the first ejection, at least 1; each ejection soon after another is longer by this
 * @param maxEjectionMillis maximum duration of an ejection
 * @param maxEjectionPercent how many endpoints may be ejected at the same time, rounded up. Endpoints that cannot be
 *     reached or do not answer do not count
 * @param successRate when endpoints that succeed less often than others are ejected, too; null for never
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
     * @param intervalMillis time over which requests are counted
     * @param minimumHosts how many endpoints must have had enough requests
     * @param requestVolume how many requests are enough
     * @param stdevFactor how far below the average is too low, in thousandths of the standard deviation
     */
    public record SuccessRate(long intervalMillis, int minimumHosts, int requestVolume, int stdevFactor) {}

    /** What counts as a failure of an endpoint. A failed attempt to connect always does. */
    public enum Counts {
        /** Responses with 502, 503 and 504, and missing responses: clients can hardly cause these. */
        ABSENCE,
        /** Also other server errors, responses that break off, and responses that are not HTTP. */
        ANY_FAILURE
    }

    /** Whether a response with this status is a failure of the endpoint, not of the request. */
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

    /** Whether this number of failures in a row ejects an endpoint: each multiple of the setting does. */
    boolean isTooMany(int failures) {
        return consecutive5xx > 0 && failures % consecutive5xx == 0;
    }

    /** Returns how many endpoints of this number may be ejected at the same time, rounded up. */
    int most(int endpoints) {
        return (int) (((long) endpoints * maxEjectionPercent + 99) / 100);
    }
}
