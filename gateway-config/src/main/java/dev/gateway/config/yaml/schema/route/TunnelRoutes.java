package dev.gateway.config.yaml.schema.route;

import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.yaml.type.Values;
import java.util.ArrayList;
import java.util.List;

/** Tells the routes of TLS and TCP listeners from those of requests, by the listeners that they name. */
public final class TunnelRoutes {
    private TunnelRoutes() {}

    /** Leaves the time limits of tunnels only to routes that apply to nothing but TLS and TCP listeners. */
    public static List<RouteConfig> resolve(List<ListenerConfig> listeners, List<RouteConfig> routes, Values v) {
        List<RouteConfig> resolved = new ArrayList<>();
        for (RouteConfig route : routes) {
            resolved.add(isTunnel(route, listeners) ? route : ofRequests(route, v));
        }
        return resolved;
    }

    private static boolean isTunnel(RouteConfig route, List<ListenerConfig> listeners) {
        List<ListenerConfig> named = listeners.stream().filter(route::appliesTo).toList();
        return !named.isEmpty() && named.stream().noneMatch(ListenerConfig::isHttp);
    }

    private static RouteConfig ofRequests(RouteConfig route, Values v) {
        List<RuleConfig> rules = new ArrayList<>();
        for (RuleConfig rule : route.rules()) {
            rules.add(ofRequests(rule, v));
        }
        RouteConfig result =
                new RouteConfig(route.position(), route.name(), route.parentRefs(), route.hostnames(), rules);
        v.inherit(result, route);
        return result;
    }

    private static RuleConfig ofRequests(RuleConfig rule, Values v) {
        RuleConfig.Timeouts written = rule.timeouts();
        RuleConfig.Timeouts timeouts = new RuleConfig.Timeouts(
                written.position(), written.request(), written.backendRequest(), written.streamIdle(), null);
        v.inherit(timeouts, written);
        RuleConfig result = new RuleConfig(
                rule.position(),
                rule.name(),
                rule.matches(),
                rule.filters(),
                rule.forwarding(),
                timeouts,
                rule.upgrades(),
                rule.accessLog());
        v.inherit(result, rule);
        return result;
    }
}
