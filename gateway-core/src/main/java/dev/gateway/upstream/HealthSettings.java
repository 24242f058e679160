package dev.gateway.upstream;

import dev.gateway.config.upstream.UpstreamConfig.ActiveCheck;
import org.jspecify.annotations.Nullable;

/**
 * Health settings: what takes endpoints of one upstream out of service, and how they come back.
 *
 * @param outliers when endpoints are ejected, null for never
 * @param check how endpoints are checked, null for not at all
 * @param panicThreshold percentage of endpoints in service below which all endpoints get requests; 0 for never
 * @param slowStartMillis for how long an endpoint that joins others gets less than its share; 0 for no slow start
 * @param localZone whose endpoints are preferred, null for no zone
 * @param closeOnFailure whether requests that wait at an endpoint fail as soon as it is found not to answer, if they cannot
 *     be sent to another one
 */
public record HealthSettings(
        @Nullable OutlierDetection outliers,
        @Nullable ActiveCheck check,
        int panicThreshold,
        long slowStartMillis,
        @Nullable String localZone,
        boolean closeOnFailure) {

    /** Makes those of an upstream that prefers no zone. */
    public HealthSettings(
            @Nullable OutlierDetection outliers,
            @Nullable ActiveCheck check,
            int panicThreshold,
            long slowStartMillis) {
        this(outliers, check, panicThreshold, slowStartMillis, null, false);
    }
}
