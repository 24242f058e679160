package dev.gateway.config.yaml.check;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.upstream.EndpointConfig;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.config.yaml.type.Suggestions;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** Some endpoint is in the zone whose endpoints are preferred. */
final class ZoneChecks {
    private ZoneChecks() {}

    static void run(GatewayConfig config, Scope scope) {
        String local = config.localZone();
        List<EndpointConfig> endpoints = config.upstreams().stream()
                .flatMap(upstream -> upstream.endpoints().stream())
                .toList();
        Set<String> zones = endpoints.stream()
                .map(EndpointConfig::zone)
                .filter(Objects::nonNull)
                .collect(Collectors.toSet());
        boolean open = endpoints.stream().anyMatch(each -> each.place().hasZones());
        if (local == null || local.isEmpty() || open || zones.contains(local)) {
            return;
        }
        String near = Suggestions.nearest(local, zones);
        scope.problems.warning(
                scope.at(config, "localZone"),
                "localZone has no effect: no endpoint has zone: " + local
                        + (near == null ? "" : ": did you mean '" + near + "'?"));
    }
}
