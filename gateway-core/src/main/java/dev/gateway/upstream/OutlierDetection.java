package dev.gateway.upstream;

import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.value.Position;
import java.time.Duration;

/**
 * Outlier detection (ejection): when endpoints are ejected, and for how long.
 *
 * @param counts what counts as a failure
 * @param config the rest: how many failures in a row eject an endpoint, 0 for never; and for how long. Each ejection soon
 *     after another is longer by the first one's duration. Of endpoints that may be ejected at the same time, those that
 *     cannot be reached or do not answer do not count
 */
public record OutlierDetection(Counts counts, UpstreamConfig.OutlierDetection config) {
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
        this(
                counts,
                new UpstreamConfig.OutlierDetection(
                        Position.NOWHERE,
                        consecutive5xx,
                        Duration.ofMillis(baseEjectionMillis),
                        Duration.ofMillis(maxEjectionMillis),
                        maxEjectionPercent,
                        null));
    }

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
        int most = config.consecutive5xx();
        return most > 0 && failures % most == 0;
    }

    /** Returns how many endpoints of this number may be ejected at the same time, rounded up. */
    int most(int endpoints) {
        return (int) (((long) endpoints * config.maxEjectionPercent() + 99) / 100);
    }
}
