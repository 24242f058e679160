package dev.gateway.config.yaml.check;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.JwtConfig;
import dev.gateway.config.yaml.type.Scope;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** Servers that keys of token issuers are fetched from: each is trusted for the same reason everywhere. */
final class KeyServerChecks {
    private KeyServerChecks() {}

    static void run(GatewayConfig config, Scope scope) {
        Map<String, JwtConfig.Provider> first = new HashMap<>();
        providers(config).filter(each -> scope.wrote(each, "jwksUrl")).forEach(each -> {
            JwtConfig.Provider other = first.putIfAbsent(each.origin(), each);
            if (other != null && !Objects.equals(each.caFile(), other.caFile())) {
                scope.problems.error(
                        each.position(),
                        "the provider in line " + other.position().line()
                                + " has another caFile for the same server: write the same one, or the same lack of it");
            }
        });
    }

    /** Returns the token providers of all rules. */
    static Stream<JwtConfig.Provider> providers(GatewayConfig config) {
        return config.routes().stream()
                .flatMap(route -> route.rules().stream())
                .flatMap(rule -> rule.filters().stream())
                .filter(JwtConfig.class::isInstance)
                .flatMap(filter -> ((JwtConfig) filter).providers().stream());
    }
}
