package dev.gateway.config.yaml.check;

import dev.gateway.config.ClientCertificateConfig;
import dev.gateway.config.FilterConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.ListenerConfig;
import dev.gateway.config.RouteConfig;
import dev.gateway.config.RuleConfig;
import dev.gateway.config.TlsConfig;
import dev.gateway.config.yaml.type.Scope;
import java.util.List;

/** Filters that look at client certificates are on routes of listeners that ask for them. */
final class ClientCertificateChecks {
    private ClientCertificateChecks() {}

    static void run(GatewayConfig config, Scope scope) {
        for (RouteConfig route : config.routes()) {
            for (RuleConfig rule : route.rules()) {
                for (FilterConfig filter : rule.filters()) {
                    if (filter instanceof ClientCertificateConfig certificates) {
                        check(certificates, listeners(config, route), scope);
                    }
                }
            }
        }
    }

    private static List<ListenerConfig> listeners(GatewayConfig config, RouteConfig route) {
        return config.listeners().stream()
                .filter(listener -> listener.isHttp() && route.appliesTo(listener))
                .toList();
    }

    private static void check(ClientCertificateConfig filter, List<ListenerConfig> listeners, Scope scope) {
        List<ListenerConfig> without =
                listeners.stream().filter(listener -> !asks(listener)).toList();
        boolean none = without.size() == listeners.size();
        if (without.isEmpty() || (!none && !filter.required())) {
            return;
        }
        ListenerConfig first = without.get(0);
        String message = "listener '" + first.name() + "' (line "
                + first.position().line() + ") "
                + (first.protocols().tls() == null
                        ? "has no TLS, and so no client certificates: "
                        : "does not ask for client certificates: ")
                + (filter.required() ? "this filter refuses all its requests" : "this filter does nothing there")
                + "; "
                + (first.protocols().tls() == null
                        ? "write protocol HTTPS with tls: {clientAuth: optional, caFile: …}, or name another listener in"
                                + " parentRefs"
                        : "add clientAuth: optional and caFile to its tls");
        if (none && filter.required()) {
            scope.problems.error(filter.position(), message);
        } else {
            scope.problems.warning(filter.position(), message);
        }
    }

    private static boolean asks(ListenerConfig listener) {
        TlsConfig tls = listener.protocols().tls();
        return tls == null
                ? listener.protocols().protocol() == ListenerConfig.Protocol.HTTPS // whose tls was reported
                : tls.clients().auth() != TlsConfig.ClientAuth.NONE;
    }
}
