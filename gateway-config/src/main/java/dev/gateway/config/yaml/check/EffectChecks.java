package dev.gateway.config.yaml.check;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.route.HedgeConfig;
import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.RetryConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.upstream.EndpointConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.upstream.UpstreamConfig.HealthChecks;
import dev.gateway.config.upstream.UpstreamConfig.OutlierDetection;
import dev.gateway.config.upstream.UpstreamConfig.SuccessRate;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.format.Durations;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Warnings of settings that can have no effect, because of others or of the number of endpoints. */
final class EffectChecks {
    private static final double STDEV_UNIT = 1000;

    private final Scope scope;
    private final Map<String, UpstreamConfig> upstreams = new HashMap<>();

    private EffectChecks(Scope scope) {
        this.scope = scope;
    }

    static void run(GatewayConfig config, Scope scope) {
        EffectChecks checks = new EffectChecks(scope);
        config.upstreams().forEach(upstream -> checks.upstreams.put(upstream.name(), upstream));
        config.upstreams().forEach(checks::successRate);
        for (RouteConfig route : config.routes()) {
            for (RuleConfig rule : route.rules()) {
                if (rule.timeouts().tunnel() == null) {
                    checks.hedge(rule);
                    checks.silence(rule);
                }
            }
        }
    }

    /** Whether there are these endpoints and will be no others, as there may be of a name. */
    private static boolean isFixed(UpstreamConfig upstream) {
        return upstream.endpoints().stream().map(EndpointConfig::place).allMatch(EndpointConfig.Place::isAddress);
    }

    private void successRate(UpstreamConfig upstream) {
        HealthChecks checks = upstream.healthChecks();
        OutlierDetection outliers = checks == null ? null : checks.outlierDetection();
        SuccessRate rate = outliers == null ? null : outliers.successRate();
        int hosts = upstream.endpoints().size();
        if (rate == null || outliers == null || hosts == 0 || !isFixed(upstream) || rate.minimumHosts() <= hosts) {
            return;
        }
        if (hosts == 1) {
            scope.problems.warning(
                    scope.at(outliers, "successRate"),
                    "successRate has no effect: it compares endpoints, and there is one");
            return;
        }
        int most = (int) (STDEV_UNIT * Math.sqrt(hosts - 1.0)); // as far as one bad endpoint can be below the average
        scope.problems.warning(
                scope.at(rate, "minimumHosts"),
                "successRate has no effect: it needs " + rate.minimumHosts() + " endpoints, and there are " + hosts
                        + ": write minimumHosts: " + hosts
                        + (rate.stdevFactor() < most ? "" : " and stdevFactor: " + most * 9 / 10));
    }

    private void hedge(RuleConfig rule) {
        HedgeConfig hedge = rule.forwarding().hedge();
        List<UpstreamConfig> asked = asked(rule);
        if (hedge == null || asked.isEmpty()) {
            return;
        }
        if (asked.stream()
                .allMatch(upstream -> isFixed(upstream) && upstream.endpoints().size() == 1)) {
            scope.problems.warning(
                    hedge.position(), "hedge has no effect: no upstream of the rule has more than one endpoint");
        } else if (rule.matches().stream().allMatch(match -> isOther(match, hedge.methods()))) {
            scope.problems.warning(
                    scope.at(hedge, "methods"),
                    "hedge has no effect: the rule takes no request with a method of "
                            + String.join(", ", hedge.methods()));
        } else if (hedge.after().isPercentile()) {
            never(rule, hedge, "atLeast", hedge.atLeast(), "so it hedges no request");
        } else {
            never(rule, hedge, "after", hedge.after().fixed(), "so it hedges no request");
        }
    }

    private static boolean isOther(MatchConfig match, List<String> methods) {
        return match.method() != null && !methods.contains(match.method());
    }

    private void silence(RuleConfig rule) {
        RetryConfig retry = rule.forwarding().retry();
        Duration silence = retry.waiting().silentAfter();
        if (retry.attempts() > 0) {
            never(rule, retry, "silentAfter", silence, "so it leaves no silent endpoint");
        }
    }

    /** Warns if the time limits of a request are over before the gateway has waited so long for an answer. */
    private void never(RuleConfig rule, Record section, String key, Duration wait, String so) {
        List<UpstreamConfig> asked = asked(rule);
        List<@Nullable Limit> limits =
                asked.stream().map(upstream -> limit(rule, upstream)).toList();
        Limit longest = null;
        for (Limit limit : limits) {
            if (limit == null) {
                return; // this upstream has time without end
            }
            longest = longest == null || limit.time.compareTo(longest.time) > 0 ? limit : longest;
        }
        if (longest != null && !wait.isZero() && wait.compareTo(longest.time) >= 0) {
            scope.problems.warning(
                    scope.at(section, key),
                    key + ": the gateway waits at most " + Durations.print(longest.time) + " for an answer ("
                            + longest.key + "), " + so + ": write a shorter time");
        }
    }

    /** How long an attempt may wait for its answer, and by which key. */
    private record Limit(Duration time, String key) {
        private static @Nullable Limit shorter(@Nullable Limit limit, Duration time, String key) {
            return time.isZero() || (limit != null && limit.time.compareTo(time) <= 0) ? limit : new Limit(time, key);
        }
    }

    private static @Nullable Limit limit(RuleConfig rule, UpstreamConfig upstream) {
        Limit limit = Limit.shorter(null, rule.timeouts().backendRequest(), "timeouts.backendRequest");
        limit = Limit.shorter(limit, rule.timeouts().request(), "timeouts.request");
        return Limit.shorter(
                limit, upstream.timeouts().responseHeaders(), "timeouts.responseHeaders of " + upstream.name());
    }

    private List<UpstreamConfig> asked(RuleConfig rule) {
        return rule.forwarding().backendRefs().stream()
                .map(ref -> upstreams.get(ref.name()))
                .filter(Objects::nonNull)
                .toList();
    }
}
