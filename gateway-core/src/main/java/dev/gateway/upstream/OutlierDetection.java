package dev.gateway.upstream;

/**
 * Outlier detection (ejection): when endpoints are ejected, and for how long.
 *
 * @param counts what counts as a failure
 * @param consecutive5xx after how many failures in a row, at least 1
 * @param baseEjectionMillis how long the first time, at least 1; longer by as much each time that it is ejected soon again
 * @param maxEjectionMillis how long at most
 * @param maxEjectionPercent how many of the endpoints at the same time; one may be in any case, and so may all but one that
 *     cannot be reached
 */
public record OutlierDetection(
        Counts counts, int consecutive5xx, long baseEjectionMillis, long maxEjectionMillis, int maxEjectionPercent) {
    private static final int NOT_IMPLEMENTED = 501;
    private static final int VERSION_NOT_SUPPORTED = 505;
    private static final int NETWORK_AUTHENTICATION_REQUIRED = 511;

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

    /** Returns how many of so many endpoints may be ejected at the same time, rounded up. */
    int most(int endpoints) {
        return (int) (((long) endpoints * maxEjectionPercent + 99) / 100);
    }
}
