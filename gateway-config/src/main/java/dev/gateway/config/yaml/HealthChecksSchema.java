package dev.gateway.config.yaml;

import dev.gateway.config.UpstreamConfig.HealthChecks;
import dev.gateway.config.UpstreamConfig.OutlierDetection;
import java.time.Duration;
import java.util.Map;

/** What takes endpoints of an upstream out of service, key by key. */
final class HealthChecksSchema {
    private static final ObjectType<OutlierDetection> OUTLIER_DETECTION = ObjectType.of(
            "outlierDetection section",
            "Endpoints that fail again and again are ejected: they get no requests for a while.",
            o -> {
                var consecutive = o.defaulted(
                        "consecutive5xx",
                        Types.integer(1, 1_000_000),
                        5,
                        OutlierDetection::consecutive5xx,
                        "How many failures in a row: answers of 500 to 599, connections that cannot be made, resets, timeouts.");
                var base = o.defaulted(
                        "baseEjectionTime",
                        Types.DURATION,
                        Duration.ofSeconds(30),
                        OutlierDetection::baseEjectionTime,
                        "How long the first time; twice that the second time in a row, and so on.");
                var longest = o.defaulted(
                        "maxEjectionTime",
                        Types.DURATION,
                        Duration.ofMinutes(5),
                        OutlierDetection::maxEjectionTime,
                        "How long at most.");
                var percent = o.defaulted(
                        "maxEjectionPercent",
                        Types.integer(1, 100),
                        50,
                        OutlierDetection::maxEjectionPercent,
                        "How many of the endpoints at the same time: at least one, never the last one in service.");
                return v -> {
                    if (v.get(base).isZero()) {
                        v.error(v.at("baseEjectionTime"), "baseEjectionTime: expected more than 0s");
                    } else if (v.get(longest).compareTo(v.get(base)) < 0) {
                        v.error(
                                v.at(v.has("maxEjectionTime") ? "maxEjectionTime" : "baseEjectionTime"),
                                "maxEjectionTime (" + Durations.print(v.get(longest))
                                        + ") is less than baseEjectionTime (" + Durations.print(v.get(base))
                                        + "): make it as long at least");
                    }
                    return new OutlierDetection(
                            v.position(), v.get(consecutive), v.get(base), v.get(longest), v.get(percent));
                };
            });

    /** The section of an upstream. */
    static final ObjectType<HealthChecks> HEALTH_CHECKS =
            ObjectType.of("healthChecks section", "What takes endpoints out of service.", o -> {
                var outliers = o.optional(
                        "outlierDetection",
                        OUTLIER_DETECTION,
                        HealthChecks::outlierDetection,
                        "By what becomes of requests; {} for the defaults.");
                o.reserve("active", "active health checks");
                o.constraint(
                        values -> values.has("outlierDetection") || values.has("active")
                                ? null
                                : new ObjectType.Finding(
                                        "outlierDetection",
                                        "healthChecks checks nothing: add outlierDetection: {}, or remove it"),
                        Map.of("minProperties", 1));
                return v -> new HealthChecks(v.position(), v.find(outliers));
            });

    private HealthChecksSchema() {}
}
