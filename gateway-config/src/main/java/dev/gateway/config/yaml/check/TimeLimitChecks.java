package dev.gateway.config.yaml.check;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.route.RetryConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.yaml.schema.filter.RuleSite;
import dev.gateway.config.yaml.type.Scope;
import java.time.Duration;

/** A time limit inside another ends before it. */
final class TimeLimitChecks {
    private final RuleSite site;

    private TimeLimitChecks(RuleSite site) {
        this.site = site;
    }

    static void run(GatewayConfig config, Scope scope) {
        for (RouteConfig route : config.routes()) {
            for (RuleConfig rule : route.rules()) {
                if (!rule.timeouts().request().isZero()) {
                    new TimeLimitChecks(new RuleSite(config, route, rule, scope)).run();
                }
            }
        }
    }

    private void run() {
        RuleConfig rule = site.rule();
        RetryConfig retry = rule.forwarding().retry();
        usual(rule.timeouts(), "streamIdle", rule.timeouts().streamIdle(), Duration.ofMinutes(5));
        usual(retry, "connectWait", retry.waiting().connectWait(), Duration.ofSeconds(3));
    }

    /** Configurations write the default to show it, which is worth no warning. */
    private void usual(Record owner, String key, Duration inner, Duration usual) {
        if (site.scope().wrote(owner, key) && !inner.equals(usual)) {
            site.includedInRequest(site.scope().at(owner, key), key, inner);
        }
    }
}
