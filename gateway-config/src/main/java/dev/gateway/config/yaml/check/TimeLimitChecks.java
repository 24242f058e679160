package dev.gateway.config.yaml.check;

import dev.gateway.config.ExternalAuthConfig;
import dev.gateway.config.FilterConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.Position;
import dev.gateway.config.RetryConfig;
import dev.gateway.config.RouteConfig;
import dev.gateway.config.RuleConfig;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.format.Durations;
import java.time.Duration;

/** A time limit inside another ends before it. */
final class TimeLimitChecks {
    private final RuleConfig rule;
    private final Scope scope;

    private TimeLimitChecks(RuleConfig rule, Scope scope) {
        this.rule = rule;
        this.scope = scope;
    }

    static void run(GatewayConfig config, Scope scope) {
        for (RouteConfig route : config.routes()) {
            for (RuleConfig rule : route.rules()) {
                if (!rule.timeouts().request().isZero()) {
                    new TimeLimitChecks(rule, scope).run();
                }
            }
        }
    }

    private void run() {
        RetryConfig retry = rule.forwarding().retry();
        usual(rule.timeouts(), "streamIdle", rule.timeouts().streamIdle(), Duration.ofMinutes(5));
        usual(retry, "connectWait", retry.waiting().connectWait(), Duration.ofSeconds(3));
        for (FilterConfig filter : rule.filters()) {
            if (filter instanceof ExternalAuthConfig auth && scope.wrote(auth, "externalAuth", "timeout")) {
                check(scope.at(auth, "externalAuth", "timeout"), "timeout", auth.timeout());
            }
        }
    }

    /** Configurations write the default to show it, which is worth no warning. */
    private void usual(Record owner, String key, Duration inner, Duration usual) {
        if (scope.wrote(owner, key) && !inner.equals(usual)) {
            check(scope.at(owner, key), key, inner);
        }
    }

    private void check(Position position, String key, Duration inner) {
        Duration whole = rule.timeouts().request();
        if (inner.compareTo(whole) >= 0) {
            scope.problems.warning(
                    position,
                    key + " has no effect: timeouts.request of the rule (" + Durations.print(whole)
                            + ") includes it: write less than that");
        }
    }
}
