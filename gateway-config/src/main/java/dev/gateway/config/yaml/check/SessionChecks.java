package dev.gateway.config.yaml.check;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.file.SessionKeyFile;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.upstream.SessionPersistenceConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.files.FileFault;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** Keys of sessions can be read, requests can have sessions, and upstreams do not overwrite each other's cookies. */
final class SessionChecks {
    private SessionChecks() {}

    static void run(GatewayConfig config, Scope scope) {
        Map<String, Position> tunnels = tunnels(config);
        Map<String, UpstreamConfig> seen = new HashMap<>();
        for (UpstreamConfig upstream : config.upstreams()) {
            SessionPersistenceConfig sessions = upstream.sessionPersistence();
            if (sessions == null) {
                continue;
            }
            readKeys(sessions, scope);
            UpstreamConfig other = seen.putIfAbsent(sessions.sessionName(), upstream);
            if (other != null && !sessions.sessionName().isEmpty()) {
                scope.problems.warning(
                        scope.at(sessions, "sessionName"),
                        "the upstreams '" + other.name() + "' and '" + upstream.name() + "' have the same sessionName '"
                                + sessions.sessionName()
                                + "': under one host each ends the sessions of the other");
            }
            Position tunnel = tunnels.get(upstream.name());
            if (tunnel != null) {
                scope.problems.warning(
                        scope.at(upstream, "sessionPersistence"),
                        "sessionPersistence needs requests, and the route in " + tunnel.seenFrom(upstream.position())
                                + " forwards connections of a TLS or TCP listener: they have no cookies");
            }
        }
    }

    private static void readKeys(SessionPersistenceConfig sessions, Scope scope) {
        if (sessions.keyFile().getNameCount() == 0) {
            return; // that was reported where it was read
        }
        try {
            SessionKeyFile.read(sessions.keyFile());
        } catch (IOException e) {
            scope.problems.error(scope.at(sessions, "keyFile"), "keyFile: " + FileFault.message(e));
        }
    }

    /** Returns the routes of connections, by the upstreams that they lead to. */
    private static Map<String, Position> tunnels(GatewayConfig config) {
        Map<String, Position> tunnels = new HashMap<>();
        for (RouteConfig route : config.routes()) {
            for (RuleConfig rule : route.rules()) {
                if (rule.timeouts().tunnel() != null) {
                    rule.forwarding().backendRefs().forEach(ref -> tunnels.putIfAbsent(ref.name(), route.position()));
                }
            }
        }
        return tunnels;
    }
}
