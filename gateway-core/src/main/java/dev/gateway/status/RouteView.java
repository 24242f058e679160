package dev.gateway.status;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.MatchConfig.ValueMatch;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.status.explain.RouteExplainer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the admin listener shows of routes: each active rule, with its position in the file. Secrets are masked. */
final class RouteView {
    private RouteView() {}

    static List<Map<String, Object>> all(GatewayConfig config) {
        List<Map<String, Object>> all = new ArrayList<>();
        for (RouteConfig route : config.routes()) {
            List<String> listeners = config.listeners().stream()
                    .filter(route::appliesTo)
                    .map(ListenerConfig::name)
                    .toList();
            for (int r = 0; r < route.rules().size(); r++) {
                RuleConfig rule = route.rules().get(r);
                Map<String, Object> json = new LinkedHashMap<>();
                json.put("name", route.ruleName(r));
                json.put("at", rule.position().toString());
                json.put("listeners", listeners);
                json.put(
                        "hostnames",
                        route.hostnames().stream()
                                .map(RouteConfig.Hostname::value)
                                .toList());
                json.put(
                        "matches", rule.matches().stream().map(RouteView::match).toList());
                json.put(
                        "filters",
                        FilterTypes.inOrder(rule.filters()).stream()
                                .map(FilterConfig::type)
                                .toList());
                json.put(
                        "backendRefs",
                        rule.forwarding().backendRefs().stream()
                                .map(RouteView::backend)
                                .toList());
                json.put("timeouts", RouteExplainer.timeouts(rule));
                all.add(json);
            }
        }
        return all;
    }

    private static Map<String, Object> backend(RuleConfig.BackendRef ref) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", ref.name());
        json.put("weight", ref.weight());
        return json;
    }

    private static Map<String, Object> match(MatchConfig match) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("path", RouteExplainer.describe(match.path()));
        if (match.method() != null) {
            json.put("method", match.method());
        }
        put(json, "headers", match.headers());
        put(json, "queryParams", match.queryParams());
        json.put("at", match.position().toString());
        return json;
    }

    private static void put(Map<String, Object> json, String name, List<ValueMatch> values) {
        if (!values.isEmpty()) {
            json.put(name, values.stream().map(RouteExplainer::describe).toList());
        }
    }
}
