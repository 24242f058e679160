package dev.gateway.config.yaml.schema.filter;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.format.Durations;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Rule site: where a filter is, for checks. */
public record RuleSite(GatewayConfig config, RouteConfig route, RuleConfig rule, Scope scope) {
    /** Returns the HTTP listeners whose requests may take the rule. */
    public List<ListenerConfig> listeners() {
        return config.listeners().stream()
                .filter(listener -> listener.isHttp() && route.appliesTo(listener))
                .toList();
    }

    /** Returns the filters of one kind in all rules. */
    public <C extends FilterConfig> Stream<C> everywhere(Class<C> kind) {
        return config.routes().stream()
                .flatMap(each -> each.rules().stream())
                .flatMap(each -> each.filters().stream())
                .filter(kind::isInstance)
                .map(kind::cast);
    }

    /** Reports an error. */
    public void error(Position at, String message) {
        scope.problems.error(at, message);
    }

    /** Reports a warning. */
    public void warning(Position at, String message) {
        scope.problems.warning(at, message);
    }

    /** Warns about a time limit that the one of the whole request includes. */
    public void includedInRequest(Position at, String key, Duration limit) {
        Duration whole = rule.timeouts().request();
        if (!whole.isZero() && limit.compareTo(whole) >= 0) {
            warning(
                    at,
                    key + " has no effect: timeouts.request of the rule (" + Durations.print(whole)
                            + ") includes it: write less than that");
        }
    }
}
