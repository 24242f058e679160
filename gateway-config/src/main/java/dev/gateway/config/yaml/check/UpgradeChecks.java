package dev.gateway.config.yaml.check;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.route.RouteConfig.Hostname;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.route.RuleConfig.BackendRef;
import dev.gateway.config.upstream.EndpointConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.Scope;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Every upgrade that a rule lists can happen, and h2c leads past no rule that protects something. */
final class UpgradeChecks {
    private static final String WEBSOCKET = "websocket";
    private static final String H2C = "h2c";

    private final GatewayConfig config;
    private final Scope scope;
    private final Map<String, UpstreamConfig> upstreams = new HashMap<>();

    private UpgradeChecks(GatewayConfig config, Scope scope) {
        this.config = config;
        this.scope = scope;
        config.upstreams().forEach(upstream -> upstreams.put(upstream.name(), upstream));
    }

    static void run(GatewayConfig config, Scope scope) {
        UpgradeChecks checks = new UpgradeChecks(config, scope);
        for (RouteConfig route : config.routes()) {
            for (RuleConfig rule : route.rules()) {
                if (rule.timeouts().tunnel() == null && scope.wrote(rule, "upgrades")) {
                    checks.check(route, rule);
                }
            }
        }
    }

    private void check(RouteConfig route, RuleConfig rule) {
        List<String> tokens = rule.upgrades().tokens();
        List<BackendRef> refs = rule.forwarding().backendRefs();
        String other = tokens.stream()
                .filter(token -> !token.equals(WEBSOCKET))
                .findFirst()
                .orElse(null);
        if (other != null && refs.isEmpty() && !rule.hasUncheckedFilters()) {
            error(rule, "nothing can upgrade, because a filter answers every request: remove upgrades");
            return;
        }
        UpstreamConfig http2 = other == null ? null : http2(refs);
        if (other != null && http2 != null) {
            error(
                    rule,
                    "'" + other + "' needs HTTP/1.1, and the upstream '" + http2.name() + "' in "
                            + http2.position().seenFrom(rule.position())
                            + " speaks HTTP/2 only: write protocol: http1 or auto there");
        }
        if (tokens.contains(H2C)) {
            ownUpgrade(route, rule);
            protectedRules(route, rule);
        }
    }

    private void error(RuleConfig rule, String problem) {
        scope.problems.error(scope.at(rule, "upgrades"), "upgrades: " + problem);
    }

    private @Nullable UpstreamConfig http2(List<BackendRef> refs) {
        for (BackendRef ref : refs) {
            UpstreamConfig upstream = upstreams.get(ref.name());
            if (upstream != null) {
                Protocol protocol = upstream.protocols().protocol();
                if (protocol == Protocol.H2 || protocol == Protocol.H2C) {
                    return upstream;
                }
            }
        }
        return null;
    }

    /** A listener that speaks HTTP/2 itself after such an upgrade leaves none to the upstream. */
    private void ownUpgrade(RouteConfig route, RuleConfig rule) {
        for (ListenerConfig listener : config.listeners()) {
            if (listener.isHttp()
                    && route.appliesTo(listener)
                    && listener.http().h2cUpgrade()) {
                error(
                        rule,
                        "the listener '" + listener.name() + "' in "
                                + listener.position().seenFrom(rule.position())
                                + " answers h2c itself: remove h2cUpgrade there, or h2c here");
            }
        }
    }

    /** After the switch a client sends any request to that upstream, past all rules. */
    private void protectedRules(RouteConfig route, RuleConfig rule) {
        for (RouteConfig other : config.routes()) {
            FilterConfig filter = shares(route, rule, other) ? protection(other) : null;
            if (filter != null) {
                Position at = filter.position();
                error(
                        rule,
                        "after h2c no rule sees the requests to the upstream, so they pass the " + filter.type()
                                + " in " + at.seenFrom(rule.position())
                                + ": remove h2c, or separate hosts and upstreams");
                return;
            }
        }
        scope.problems.warning(
                scope.at(rule, "upgrades"),
                "upgrades: after h2c a client can send any request to the upstream, whatever the rules route");
    }

    private static @Nullable FilterConfig protection(RouteConfig route) {
        return route.rules().stream()
                .flatMap(rule -> rule.filters().stream())
                .filter(FilterConfig::protects)
                .findFirst()
                .orElse(null);
    }

    private boolean shares(RouteConfig route, RuleConfig rule, RouteConfig other) {
        if (other.equals(route) || hostsOverlap(route, other)) {
            return true;
        }
        Set<Object> served = servers(rule);
        return other.rules().stream().flatMap(each -> servers(each).stream()).anyMatch(served::contains);
    }

    /** Returns the names of upstreams, and the places of their endpoints: two upstreams may be the same servers. */
    private Set<Object> servers(RuleConfig rule) {
        Set<Object> servers = new HashSet<>();
        for (BackendRef ref : rule.forwarding().backendRefs()) {
            servers.add(ref.name());
            UpstreamConfig upstream = upstreams.get(ref.name());
            if (upstream != null) {
                upstream.endpoints().stream().map(EndpointConfig::place).forEach(servers::add);
            }
        }
        return servers;
    }

    private static boolean hostsOverlap(RouteConfig one, RouteConfig other) {
        return one.hostnames().isEmpty()
                || other.hostnames().isEmpty()
                || one.hostnames().stream()
                        .anyMatch(a -> other.hostnames().stream().anyMatch(b -> overlap(a, b)));
    }

    private static boolean overlap(Hostname a, Hostname b) {
        return a.value().equals(b.value()) || covers(a.value(), b.value()) || covers(b.value(), a.value());
    }

    private static boolean covers(String wildcard, String name) {
        return wildcard.startsWith("*.") && name.endsWith(wildcard.substring(1));
    }
}
