package dev.gateway.config.yaml.check;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.listener.ListenerConfig.Protocol;
import dev.gateway.config.yaml.type.Scope;

/** Clients show passwords, keys and tokens over TLS: to the gateway, or to a proxy in front of it. */
final class CleartextChecks {
    private CleartextChecks() {}

    static void run(GatewayConfig config, Scope scope) {
        for (ListenerConfig listener : config.listeners()) {
            if (isExposed(listener)) {
                config.routes().stream()
                        .filter(route -> route.appliesTo(listener))
                        .flatMap(route -> route.rules().stream())
                        .flatMap(rule -> rule.filters().stream())
                        .filter(filter -> filter.credentials() != null)
                        .findFirst()
                        .ifPresent(filter -> warn(listener, filter, scope));
            }
        }
    }

    /** Whether other machines connect without TLS, and none of them is known to be a proxy. */
    private static boolean isExposed(ListenerConfig listener) {
        return listener.protocols().protocol() == Protocol.HTTP
                && listener.protocols().proxyProtocol() == null
                && listener.http().trustedProxies().isEmpty()
                && listener.bind().unix() == null
                && !AddressChecks.isLoopback(listener.bind().address());
    }

    private static void warn(ListenerConfig listener, FilterConfig filter, Scope scope) {
        scope.problems.warning(
                scope.at(listener, "protocol"),
                "clients send the credentials of " + filter.type() + " ("
                        + filter.position().seenFrom(listener.position())
                        + ") without TLS: write protocol: HTTPS, or address: 127.0.0.1, or trustedProxies if a proxy with TLS"
                        + " is in front");
    }
}
