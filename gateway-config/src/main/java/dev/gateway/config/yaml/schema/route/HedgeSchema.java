package dev.gateway.config.yaml.schema.route;

import dev.gateway.config.route.HedgeConfig;
import dev.gateway.config.route.HedgeConfig.After;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.format.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** When requests go to a second endpoint, key by key. */
final class HedgeSchema {
    private static final String PERCENTILE = "p([5-9][0-9])(?:\\.([1-9]))?";
    private static final String PERCENT = "(100|[1-9][0-9]?)%";
    private static final Pattern WHOLE_PERCENTILE = Pattern.compile(PERCENTILE);
    private static final int PER_PERCENT = 10;
    private static final After P95 = new After(950, Duration.ZERO);
    private static final Set<String> NOT_IDEMPOTENT = Set.of("POST", "PATCH", "CONNECT");

    private static final ScalarType<After> AFTER = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of("type", "string", "pattern", "^(" + PERCENTILE + "|" + Durations.PATTERN + ")$"),
                    P95,
                    (text, site) -> after(text),
                    HedgeSchema::print)
            .named("hedge delay", "A percentile from p50 to p99.9, such as p95, or a duration such as 200ms.");

    private static final ScalarType<Integer> PERCENTAGE = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of("type", "string", "pattern", "^(" + PERCENT + ")$"),
                    1,
                    (text, site) -> {
                        if (!text.matches(PERCENT)) {
                            throw new InvalidException(
                                    "expected a percentage from 1% to 100% such as 5%, not " + MessageText.quote(text)
                                            + (text.matches("[1-9][0-9]?|100") ? ": write " + text + "%" : ""));
                        }
                        return Integer.parseInt(text.substring(0, text.length() - 1));
                    },
                    value -> value + "%")
            .named("percentage", "A whole number from 1 to 100 with a percent sign, such as 5%.");

    /** When requests of a rule go to a second endpoint. */
    static final ObjectType<HedgeConfig> HEDGE = ObjectType.of(
            "hedge section",
            "When the gateway sends a request that takes long to a second endpoint, too. The client gets the first good "
                    + "answer, and the gateway cancels the other attempt. Only requests without a body are hedged.",
            o -> {
                var after = o.defaulted(
                        "after",
                        AFTER,
                        P95,
                        HedgeConfig::after,
                        "How long the gateway waits for the first answer. A percentile is that of the rule's answers at "
                                + "present. Until enough answers are known, the gateway hedges no request.");
                var atLeast = o.defaulted(
                        "atLeast",
                        Types.DURATION,
                        Duration.ofMillis(10),
                        HedgeConfig::atLeast,
                        "Minimum wait with a percentile.");
                var budget = o.defaulted(
                        "budget",
                        PERCENTAGE,
                        5,
                        HedgeConfig::budget,
                        "Maximum number of hedges of an upstream, as a share of the requests of the last ten seconds that "
                                + "could be hedged. All routes and event loops count together.");
                var methods = o.defaulted(
                        "methods",
                        new ListType<>(Types.METHOD, 1),
                        List.of("GET", "HEAD", "OPTIONS"),
                        HedgeConfig::methods,
                        "Methods of requests that the gateway hedges. They must be idempotent, because two endpoints may "
                                + "process the request.");
                o.single("after");
                o.foreign("maxAttempts attempts", "at most one further request is sent: remove it"); // gRPC
                return v -> {
                    checkUse(v, v.get(after), v.get(methods));
                    return new HedgeConfig(v.position(), v.get(after), v.get(atLeast), v.get(budget), v.get(methods));
                };
            });

    private HedgeSchema() {}

    private static After after(String text) throws InvalidException {
        Matcher percentile = WHOLE_PERCENTILE.matcher(text);
        if (percentile.matches()) {
            int tenths = percentile.group(2) == null ? 0 : Integer.parseInt(percentile.group(2));
            return new After(Integer.parseInt(percentile.group(1)) * PER_PERCENT + tenths, Duration.ZERO);
        }
        Duration fixed = Durations.parse(text);
        if (fixed == null || fixed.isZero()) {
            throw new InvalidException(
                    "expected a percentile from p50 to p99.9 such as p95, or a duration above 0s such "
                            + "as 200ms, not " + MessageText.quote(text) + (fixed == null ? Durations.hint(text) : ""));
        }
        return new After(0, fixed);
    }

    private static Object print(After after) {
        return after.isPercentile() ? after.percentile() : Durations.print(after.fixed());
    }

    private static void checkUse(Values v, After after, List<String> methods) {
        if (!after.isPercentile() && v.has("atLeast")) {
            v.warning(v.atKey("atLeast"), "atLeast has no effect: 'after' is a fixed time");
        }
        for (String method : methods) {
            if (NOT_IDEMPOTENT.contains(method)) {
                v.error(
                        v.at("methods"),
                        "methods: " + method + " is not idempotent, and two endpoints may process a hedged request");
            }
        }
    }
}
