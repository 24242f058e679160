package dev.gateway.config.yaml.schema;

import dev.gateway.config.UpstreamConfig.ActiveCheck;
import dev.gateway.config.UpstreamConfig.HealthChecks;
import dev.gateway.config.UpstreamConfig.OutlierDetection;
import dev.gateway.config.UpstreamConfig.StatusRange;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.format.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What takes endpoints of an upstream out of service, key by key. */
final class HealthChecksSchema {
    private static final Duration MIN_INTERVAL = Duration.ofMillis(100);
    private static final Pattern STATUSES = Pattern.compile("([2-5][0-9]{2})(-([2-5][0-9]{2}))?");

    private static final ScalarType<StatusRange> STATUS_RANGE = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of(
                            "anyOf",
                            List.of(
                                    Map.of("type", "integer", "minimum", 200, "maximum", 599),
                                    Map.of("type", "string", "pattern", "^" + STATUSES.pattern() + "$"))),
                    new StatusRange(200, 200),
                    (text, site) -> statuses(text),
                    range -> range.first() == range.last() ? range.first() : range.toString())
            .named("status range", "A status such as 200, or the first and the last of several, such as 200-299.");

    private static final ObjectType<ActiveCheck> ACTIVE =
            ObjectType.of("active section", "The gateway sends a GET request to each endpoint at an interval.", o -> {
                var path = o.required(
                        "path",
                        Types.text("/[!-~]*", "a path that begins with '/', without spaces or non-ASCII characters"),
                        ActiveCheck::path,
                        "Path of the request.");
                var host = o.optional(
                        "host",
                        Types.EXACT_HOSTNAME,
                        ActiveCheck::host,
                        "Host header of the request, instead of the endpoint's host.");
                var interval = o.defaulted(
                        "interval",
                        Types.DURATION,
                        Duration.ofSeconds(5),
                        ActiveCheck::interval,
                        "Time between an answer and the next request, at least 100ms. The gateway varies it "
                                + "at random.");
                var timeout = o.defaulted(
                        "timeout",
                        Types.DURATION,
                        Duration.ofSeconds(2),
                        ActiveCheck::timeout,
                        "Time for the whole check, connecting included.");
                var healthy = o.defaulted(
                        "healthyThreshold",
                        Types.integer(1, 1000),
                        2,
                        ActiveCheck::healthyThreshold,
                        "Number of successes in a row that make an endpoint healthy again.");
                var unhealthy = o.defaulted(
                        "unhealthyThreshold",
                        Types.integer(1, 1000),
                        3,
                        ActiveCheck::unhealthyThreshold,
                        "Number of failures in a row that make an endpoint unhealthy. A failure of the very "
                                + "first check is enough.");
                var expected = o.defaulted(
                        "expectedStatuses",
                        new ListType<>(STATUS_RANGE, 1),
                        List.of(new StatusRange(200, 399)),
                        ActiveCheck::expectedStatuses,
                        "Statuses of a success.");
                return v -> {
                    if (v.get(interval).compareTo(MIN_INTERVAL) < 0) {
                        v.error(v.at("interval"), "interval: expected 100ms or more");
                    }
                    if (v.get(timeout).isZero()) {
                        v.error(v.at("timeout"), "timeout: expected more than 0s");
                    }
                    return new ActiveCheck(
                            v.position(),
                            v.get(path),
                            v.find(host),
                            v.get(interval),
                            v.get(timeout),
                            v.get(healthy),
                            v.get(unhealthy),
                            v.get(expected));
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
                                + "Unreachable endpoints do not count. The last endpoint in service is never ejected.");
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
                            v.position(), v.get(consecutive), v.get(base), v.get(longest), v.get(percent));
                };
            });

    /** The section of an upstream. */
    static final ObjectType<HealthChecks> HEALTH_CHECKS = ObjectType.of(
            "healthChecks section",
            "What takes endpoints out of service. At least one of the two keys is required.",
            o -> {
                var active = o.optional("active", ACTIVE, HealthChecks::active, "Checks by requests of the gateway.");
                var outliers = o.optional(
                        "outlierDetection",
                        OUTLIER_DETECTION,
                        HealthChecks::outlierDetection,
                        "Checks by the results of forwarded requests. Without this key, five in a row of 502, "
                                + "503, 504, no answer or no connection eject an endpoint. {} also counts other "
                                + "failures. {consecutive5xx: 0} turns ejection off.");
                o.constraint(
                        values -> values.has("outlierDetection") || values.has("active")
                                ? null
                                : new ObjectType.Finding(
                                        "outlierDetection",
                                        "healthChecks is empty: add active or outlierDetection, or remove it"),
                        Map.of("minProperties", 1));
                return v -> new HealthChecks(v.position(), v.find(active), v.find(outliers));
            });

    private HealthChecksSchema() {}

    private static StatusRange statuses(String text) throws InvalidException {
        Matcher statuses = STATUSES.matcher(text);
        if (statuses.matches()) {
            int first = Integer.parseInt(statuses.group(1));
            int last = statuses.group(3) == null ? first : Integer.parseInt(statuses.group(3));
            if (first <= last) {
                return new StatusRange(first, last);
            }
            throw new InvalidException(
                    "the last status comes before the first: did you mean '" + last + "-" + first + "'?");
        }
        throw new InvalidException(
                "expected a status such as 200, or two with a dash such as 200-299, not " + MessageText.quote(text));
    }
}
