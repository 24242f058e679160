package dev.gateway.config.yaml.schema;

import dev.gateway.config.EndpointConfig;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What an endpoint is, key by key. */
final class EndpointSchema {
    private static final String ONE_PLACE = "an endpoint needs exactly one of 'host', 'dns' and 'unix'";

    private static final Map<String, Object> PLACES = Map.of(
            "oneOf",
            List.of(ObjectType.requires("host"), ObjectType.requires("dns"), ObjectType.requires("unix")),
            "dependentRequired",
            Map.of("host", List.of("port"), "dns", List.of("port")),
            "not",
            Map.of("required", List.of("unix", "port")));

    /** An entry of endpoints. */
    static final ObjectType<EndpointConfig> ENDPOINT =
            ObjectType.of("endpoint", "An address of an upstream, or all addresses of a name.", o -> {
                var host = o.optional(
                        "host",
                        Types.HOST,
                        EndpointConfig::host,
                        "Host name or IP address. The gateway looks a name up again when its DNS records " + "expire.");
                var dns = o.optional(
                        "dns",
                        Types.EXACT_HOSTNAME,
                        EndpointConfig::dns,
                        "Host name whose addresses are an endpoint each. The gateway asks again when its DNS records "
                                + "expire.");
                var port = o.optional(
                        "port",
                        Types.integer(1, 65535),
                        e -> e.unix() == null ? e.port() : null,
                        "TCP port. host and dns need it.");
                var unix = o.optional(
                        "unix", Types.PATH, EndpointConfig::unix, "Unix-domain socket, instead of host and port.");
                var weight = o.defaulted(
                        "weight",
                        Types.integer(1, 1_000_000),
                        1,
                        EndpointConfig::weight,
                        "Share of requests relative to the other endpoints. All addresses of a dns name have it "
                                + "together.");
                var zone = o.optional(
                        "zone",
                        Types.NAME,
                        EndpointConfig::zone,
                        "Zone where the endpoint is. The gateway prefers endpoints of localZone.");
                o.constraint(EndpointSchema::place, PLACES);
                return v -> {
                    Integer at = v.find(port);
                    return new EndpointConfig(
                            v.position(),
                            v.find(host),
                            v.find(dns),
                            at == null ? 0 : at,
                            v.find(unix),
                            v.get(weight),
                            v.find(zone));
                };
            });

    private EndpointSchema() {}

    /** An endpoint is in one place: a host and its port, a name and its port, or a socket file. */
    private static ObjectType.@Nullable Finding place(Values v) {
        String first = v.has("host") ? "host" : v.has("dns") ? "dns" : "unix";
        for (String other : List.of("dns", "unix")) {
            if (!first.equals(other) && v.has(other)) {
                return new ObjectType.Finding(other, ONE_PLACE);
            }
        }
        if (!v.has(first)) {
            return new ObjectType.Finding("unix", ONE_PLACE);
        }
        if (first.equals("unix") == v.has("port")) {
            return v.has("port")
                    ? new ObjectType.Finding("port", "'port' belongs to 'host' or 'dns': remove it")
                    : new ObjectType.Finding(first, "'" + first + "' and 'port' belong together: add 'port'");
        }
        return null;
    }
}
