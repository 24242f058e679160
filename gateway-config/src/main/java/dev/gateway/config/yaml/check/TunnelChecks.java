package dev.gateway.config.yaml.check;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.listener.ListenerConfig.Protocol;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.route.RouteConfig.Hostname;
import dev.gateway.config.route.RouteConfig.ParentRef;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.upstream.UpstreamConfig.SendProxyProtocol;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.Scope;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Listeners, routes and upstreams of tunnels go together, and routes of requests say nothing that is for tunnels. */
final class TunnelChecks {
    private static final List<String> OF_REQUESTS = List.of(
            "matches",
            "filters",
            "retry",
            "hedge",
            "preserveHost",
            "mergeSlashes",
            "normalizePath",
            "upgrades",
            "webSocket");

    private final Scope scope;
    private final Map<String, ListenerConfig> listeners = new HashMap<>();
    private final Map<String, UpstreamConfig> upstreams = new HashMap<>();

    /** Where TLS listeners first have a route for a name; {@code *} for all. */
    private final Map<List<String>, Position> names = new HashMap<>();

    private TunnelChecks(GatewayConfig config, Scope scope) {
        this.scope = scope;
        config.listeners().forEach(listener -> listeners.putIfAbsent(listener.name(), listener));
        config.upstreams().forEach(upstream -> upstreams.putIfAbsent(upstream.name(), upstream));
    }

    /**
     * Runs them.
     *
     * @param routesRead whether the routes are what was meant, or else are not to be missed
     */
    static void run(GatewayConfig config, Scope scope, boolean routesRead) {
        TunnelChecks checks = new TunnelChecks(config, scope);
        for (RouteConfig route : config.routes()) {
            if (checks.isUnsure(route) || checks.mixed(route)) {
                continue;
            }
            boolean tunnel =
                    route.rules().stream().anyMatch(rule -> rule.timeouts().tunnel() != null);
            if (tunnel) {
                checks.ofTunnels(route);
            } else {
                checks.ofRequests(route);
            }
        }
        for (ListenerConfig listener : config.listeners()) {
            if (!listener.isHttp() && routesRead) {
                checks.routesOf(listener, config.routes());
            }
        }
        checks.connect(config.connect());
    }

    /** Whether nobody knows what a route is for: the protocol of a listener could not be read, which was reported. */
    private boolean isUnsure(RouteConfig route) {
        return listeners.values().stream()
                .anyMatch(listener -> route.appliesTo(listener) && !scope.read(listener, "protocol"));
    }

    /** Whether a route is for requests and for tunnels, which is a problem of its own. */
    private boolean mixed(RouteConfig route) {
        Protocol first = null;
        for (ParentRef ref : route.parentRefs()) {
            ListenerConfig listener = listeners.get(ref.name());
            if (listener == null) {
                continue;
            }
            first = first == null ? listener.protocols().protocol() : first;
            if (first.isHttp() != listener.isHttp()) {
                scope.problems.error(
                        scope.at(ref, "name"),
                        "one route cannot be for " + first + " and "
                                + listener.protocols().protocol() + " listeners: write another for '" + ref.name()
                                + "'");
                return true;
            }
        }
        return false;
    }

    private void ofTunnels(RouteConfig route) {
        if (route.rules().size() > 1) {
            scope.problems.error(
                    route.rules().get(1).position(),
                    "a route of TLS and TCP listeners has one rule, because nothing selects between two");
        }
        for (ParentRef ref : route.parentRefs()) {
            ListenerConfig listener = listeners.get(ref.name());
            if (listener != null
                    && listener.protocols().protocol() == Protocol.TCP
                    && !route.hostnames().isEmpty()) {
                scope.problems.error(
                        scope.at(route, "hostnames"),
                        "a TCP listener such as '" + ref.name() + "' cannot see a host name: remove hostnames, or make"
                                + " it a TLS listener");
                break;
            }
        }
        overlap(route);
        for (RuleConfig rule : route.rules()) {
            if (rule.forwarding().backendRefs().isEmpty()) {
                scope.problems.error(rule.position(), "a rule of TLS and TCP listeners needs 'backendRefs'");
            }
            OF_REQUESTS.forEach(key -> refuse(rule, key, key.equals("filters") ? instead(rule) : "remove it"));
            List.of("request", "backendRequest", "streamIdle")
                    .forEach(key -> refuse(rule.timeouts(), key, "write idle, halfClosed or max"));
            for (RuleConfig.BackendRef ref : rule.forwarding().backendRefs()) {
                UpstreamConfig upstream = upstreams.get(ref.name());
                if (upstream != null
                        && upstream.protocols().tls() != null
                        && route.parentRefs().stream().anyMatch(this::isTls)) {
                    scope.problems.warning(
                            scope.at(ref, "name"),
                            "clients' TLS is passed through as it is, and the tls of upstream '" + ref.name()
                                    + "' encrypts it once more");
                }
            }
        }
    }

    /** What protects requests is not just left out: the listener, or another kind of listener, does the same. */
    private static String instead(RuleConfig rule) {
        List<String> types =
                rule.filters().stream().map(FilterConfig::type).distinct().toList();
        String keys = types.size() == 1 ? rule.filters().get(0).listenerKeys() : null;
        if (keys != null) {
            return "write " + keys + " into the listener";
        }
        return rule.guards()
                ? "an HTTPS listener can have " + String.join(", ", types)
                        + ", and ipAccess of a TLS or TCP listener refuses clients by their addresses"
                : "remove it";
    }

    private void overlap(RouteConfig route) {
        List<Hostname> hostnames =
                route.hostnames().isEmpty() ? List.of(new Hostname(route.position(), "*")) : route.hostnames();
        for (ParentRef ref : route.parentRefs()) {
            for (Hostname hostname : isTls(ref) ? hostnames : List.<Hostname>of()) {
                Position before = names.putIfAbsent(List.of(ref.name(), hostname.value()), hostname.position());
                if (before != null) {
                    scope.problems.warning(
                            hostname.position(),
                            "no connection reaches this route: " + before.seenFrom(hostname.position()) + " is for "
                                    + (route.hostnames().isEmpty() ? "all names" : "'" + hostname.value() + "'")
                                    + " of listener '" + ref.name() + "' too, and comes first");
                }
            }
        }
    }

    private boolean isTls(ParentRef ref) {
        ListenerConfig listener = listeners.get(ref.name());
        return listener != null && listener.protocols().protocol() == Protocol.TLS;
    }

    private void refuse(Record owner, String key, String fix) {
        if (scope.wrote(owner, key)) {
            scope.problems.error(
                    scope.at(owner, key),
                    key + " is for requests, and a route of TLS and TCP listeners has none: " + fix);
        }
    }

    private void ofRequests(RouteConfig route) {
        boolean reachable = listeners.values().stream().anyMatch(route::appliesTo);
        if (!reachable && route.parentRefs().isEmpty() && !listeners.isEmpty()) {
            scope.problems.error(
                    route.position(),
                    "without parentRefs a route is for HTTP and HTTPS listeners, and there are none: name its listener");
            return;
        }
        for (RuleConfig rule : route.rules()) {
            for (String key : List.of("idle", "halfClosed", "max")) {
                if (scope.wrote(rule.timeouts(), key)) {
                    scope.problems.error(
                            scope.at(rule.timeouts(), key),
                            key + " is for routes of TLS and TCP listeners: write webSocket: {" + key + ": …}"
                                    + (key.equals("max") ? "" : ", or streamIdle"));
                }
            }
            rule.forwarding().backendRefs().forEach(ref -> pooled(route, ref.name()));
            rule.filters().stream()
                    .flatMap(filter -> filter.upstreams().stream())
                    .forEach(ref -> pooled(route, ref.name()));
        }
    }

    private void pooled(RouteConfig route, String name) {
        UpstreamConfig upstream = upstreams.get(name);
        if (upstream != null && upstream.protocols().sendProxyProtocol() != SendProxyProtocol.NONE) {
            scope.problems.error(
                    scope.at(upstream, "sendProxyProtocol"),
                    "sendProxyProtocol is for routes of TLS and TCP listeners, and that in "
                            + route.position().seenFrom(upstream.position())
                            + " is not: a pooled connection carries requests of many clients");
        }
    }

    private void routesOf(ListenerConfig listener, List<RouteConfig> routes) {
        ParentRef first = null;
        for (RouteConfig route : routes) {
            for (ParentRef ref : route.parentRefs()) {
                if (!ref.name().equals(listener.name())) {
                    continue;
                }
                if (first != null && listener.protocols().protocol() == Protocol.TCP) {
                    scope.problems.error(
                            scope.at(ref, "name"),
                            "the TCP listener '" + listener.name() + "' has a route already, in "
                                    + first.position().seenFrom(ref.position())
                                    + ": nothing distinguishes its connections");
                }
                first = first == null ? ref : first;
            }
        }
        if (first == null) {
            scope.problems.error(
                    scope.at(listener, "name"),
                    "no route is for the " + listener.protocols().protocol() + " listener '" + listener.name()
                            + "': add one with parentRefs: [{name: " + listener.name() + "}]");
        }
    }

    private void connect(List<ConnectConfig> entries) {
        Map<String, ParentRef> taken = new HashMap<>();
        for (ConnectConfig entry : entries) {
            for (ParentRef ref : entry.parentRefs()) {
                ListenerConfig listener = listeners.get(ref.name());
                if (listener == null) {
                    continue;
                }
                ParentRef before = taken.putIfAbsent(ref.name(), ref);
                if (before != null) {
                    scope.problems.error(
                            scope.at(ref, "name"),
                            "listener '" + ref.name() + "' has a connect entry already, in "
                                    + before.position().seenFrom(ref.position())
                                    + ": use 'policies' to distinguish its clients");
                } else if (!listener.isHttp()) {
                    scope.problems.error(
                            scope.at(ref, "name"),
                            "connect is for HTTP and HTTPS listeners, and '" + ref.name() + "' is "
                                    + listener.protocols().protocol());
                }
            }
        }
    }
}
