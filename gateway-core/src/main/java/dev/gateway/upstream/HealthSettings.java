package dev.gateway.upstream;

import org.jspecify.annotations.Nullable;

/**
 * Health settings: what takes endpoints of one upstream out of service, and how they come back.
 *
 * @param outliers when endpoints are ejected, null for never
 * @param check how they are asked whether they are well, null for not at all
 * @param panicThreshold the least percentage of endpoints in service; with fewer all are chosen. 0 for none
 * @param slowStartMillis for how long an endpoint that joins others gets less than its share, 0 for not at all
 * @param localZone whose endpoints are preferred, null for no zone
 */
public record HealthSettings(
        @Nullable OutlierDetection outliers,
        @Nullable ActiveCheck check,
        int panicThreshold,
        long slowStartMillis,
        @Nullable String localZone) {

    /** Makes those of an upstream that prefers no zone. */
    public HealthSettings(
            @Nullable OutlierDetection outliers,
            @Nullable ActiveCheck check,
            int panicThreshold,
            long slowStartMillis) {
        this(outliers, check, panicThreshold, slowStartMillis, null);
    }
}
