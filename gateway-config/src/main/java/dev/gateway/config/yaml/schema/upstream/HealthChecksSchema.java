package dev.gateway.config.yaml.schema.upstream;

import dev.gateway.config.upstream.UpstreamConfig.HealthChecks;
import dev.gateway.config.upstream.UpstreamConfig.OutlierDetection;
import dev.gateway.config.upstream.UpstreamConfig.SuccessRate;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.format.Durations;
import java.time.Duration;
import java.util.Map;

/** What takes endpoints of an upstream out of service, key by key. */
final class HealthChecksSchema {
    private static final Duration MIN_RATE_INTERVAL = Duration.ofSeconds(1);
    private static final int STDEV_UNIT = 1000;

    private static final ObjectType<SuccessRate> SUCCESS_RATE = ObjectType.of(
            "successRate section",
            "The gateway ejects endpoints whose success rate is far below the average of all endpoints.",
            o -> {
                var interval = o.defaulted(
                        "interval",
                        Types.DURATION,
                        Duration.ofSeconds(10),
                        SuccessRate::interval,
                        "Time over which the gateway counts requests, at least 1s.");
                var hosts = o.defaulted(
                        "minimumHosts",
                        Types.integer(2, 1_000_000),
                        5,
                        SuccessRate::minimumHosts,
                        "Number of endpoints with enough requests that the comparison needs.");
                var volume = o.defaulted(
                        "requestVolume",
                        Types.integer(1, 100_000_000),
                        100,
                        SuccessRate::requestVolume,
                        "Number of requests in the interval that are enough for an endpoint to be compared.");
                var factor = o.defaulted(
                        "stdevFactor",
                        Types.integer(1, 1_000_000),
                        1900,
                        SuccessRate::stdevFactor,
                        "How far below the average a success rate is too low, in thousandths of the standard "
                                + "deviation. A difference of less than 5 percentage points never ejects.");
                return v -> {
                    if (v.get(interval).compareTo(MIN_RATE_INTERVAL) < 0) {
                        v.error(v.at("interval"), "interval: expected 1s or more");
                    }
                    // One bad endpoint of n is sqrt(n - 1) standard deviations below the average, whatever it does.
                    int most = (int) (STDEV_UNIT * Math.sqrt(v.get(hosts) - 1.0));
                    if (v.get(factor) >= most) {
                        v.warning(
                                v.at(v.has("stdevFactor") ? "stdevFactor" : "minimumHosts"),
                                "with " + v.get(hosts) + " endpoints none can be so far below the average: write "
                                        + "stdevFactor: " + most * 9 / 10 + ", or raise minimumHosts");
                    }
                    return new SuccessRate(v.get(interval), v.get(hosts), v.get(volume), v.get(factor));
                };
            });

    private static final ObjectType<OutlierDetection> OUTLIER_DETECTION = ObjectType.of(
            "outlierDetection section",
            "The gateway ejects endpoints that fail repeatedly. An ejected endpoint gets no " + "requests for a while.",
            o -> {
                var consecutive = o.defaulted(
                        "consecutive5xx",
                        Types.integer(0, 1_000_000),
                        5,
                        OutlierDetection::consecutive5xx,
                        "Number of failures in a row that eject an endpoint; 0 means never. Failures are "
                                + "failed connections, resets, timeouts and statuses 500 to 599. Exceptions are 501, "
                                + "505 and 511. gRPC calls that end with UNAVAILABLE or DATA_LOSS count, too.");
                var base = o.defaulted(
                        "baseEjectionTime",
                        Types.DURATION,
                        Duration.ofSeconds(30),
                        OutlierDetection::baseEjectionTime,
                        "Duration of the first ejection. The second in a row lasts twice as long, the third three times.");
                var longest = o.defaulted(
                        "maxEjectionTime",
                        Types.DURATION,
                        Duration.ofMinutes(5),
                        OutlierDetection::maxEjectionTime,
                        "Maximum duration of an ejection.");
                var percent = o.defaulted(
                        "maxEjectionPercent",
                        Types.integer(1, 100),
                        50,
                        OutlierDetection::maxEjectionPercent,
                        "Maximum percentage of endpoints that are ejected at the same time, rounded up. "
                                + "Endpoints that cannot be reached or do not answer do not count. "
                                + "The last endpoint in service is never ejected.");
                var rate = o.optional(
                        "successRate",
                        SUCCESS_RATE,
                        OutlierDetection::successRate,
                        "Also ejects endpoints that succeed less often than the others. {} takes the defaults.");
                o.foreign("consecutiveErrors consecutiveFailures maxFails", "consecutive5xx");
                return v -> {
                    if (v.get(base).isZero()) {
                        v.error(v.at("baseEjectionTime"), "baseEjectionTime: expected more than 0s");
                    } else if (v.get(longest).compareTo(v.get(base)) < 0) {
                        v.error(
                                v.at(v.has("maxEjectionTime") ? "maxEjectionTime" : "baseEjectionTime"),
                                "maxEjectionTime (" + Durations.print(v.get(longest))
                                        + ") is less than baseEjectionTime (" + Durations.print(v.get(base))
                                        + "): make it at least as long");
                    }
                    return new OutlierDetection(
                            v.position(),
                            v.get(consecutive),
                            v.get(base),
                            v.get(longest),
                            v.get(percent),
                            v.find(rate));
                };
            });

    /** The section of an upstream. */
    static final ObjectType<HealthChecks> HEALTH_CHECKS = ObjectType.of(
            "healthChecks section", "What takes endpoints out of service. At least one of the keys is required.", o -> {
                var active = o.optional(
                        "active", ActiveCheckSchema.ACTIVE, HealthChecks::active, "Checks by requests of the gateway.");
                var outliers = o.optional(
                        "outlierDetection",
                        OUTLIER_DETECTION,
                        HealthChecks::outlierDetection,
                        "Checks by the results of forwarded requests. Without this key, five in a row of 502, "
                                + "503, 504, no answer or no connection eject an endpoint. {} also counts other "
                                + "failures. {consecutive5xx: 0} turns ejection off.");
                var close = o.defaulted(
                        "closeOnFailure",
                        Types.BOOLEAN,
                        false,
                        HealthChecks::closeOnFailure,
                        "Whether requests that cannot be sent to another endpoint fail with 504 as soon as their endpoint "
                                + "is found not to answer. Without it, they wait until their time limits. "
                                + "Responses that have begun go on.");
                o.constraint(
                        values -> values.has("outlierDetection") || values.has("active") || values.has("closeOnFailure")
                                ? null
                                : new ObjectType.Finding(
                                        "outlierDetection",
                                        "healthChecks is empty: add active or outlierDetection, or remove it"),
                        Map.of("minProperties", 1));
                o.foreign("passive", "outlierDetection"); // nginx, Caddy
                return v -> new HealthChecks(v.position(), v.find(active), v.find(outliers), v.get(close));
            });

    private HealthChecksSchema() {}
}
