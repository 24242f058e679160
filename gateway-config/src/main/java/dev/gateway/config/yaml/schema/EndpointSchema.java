package dev.gateway.config.yaml.schema;

import dev.gateway.config.EndpointConfig;
import dev.gateway.config.EndpointConfig.Dns;
import dev.gateway.config.EndpointConfig.File;
import dev.gateway.config.EndpointConfig.Host;
import dev.gateway.config.EndpointConfig.Place;
import dev.gateway.config.EndpointConfig.Srv;
import dev.gateway.config.EndpointConfig.Unix;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.format.IpLiteral;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What an endpoint is, key by key. */
public final class EndpointSchema {
    /** The keys of addresses and sources; an entry has one of them. */
    private static final List<String> PLACES = List.of("host", "dns", "srv", "file", "unix");

    /**
     * An address as a URL has it, with a scheme, a port and a path if others write them. A scheme with TLS is left out: a hint
     * must not take TLS away.
     */
    private static final Pattern ADDRESS = Pattern.compile(
            "(?:(?:http|tcp|grpc|h2c)://)?(?:\\[([0-9A-Fa-f:.]+)\\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?(?:/.*)?");

    private static final List<String> WITH_PORT = List.of("host", "dns");
    private static final Place NOWHERE = new Host("localhost", 0); // stands in after an error

    private static final Map<String, Object> PLACES_SCHEMA = Map.of(
            "oneOf",
            PLACES.stream().map(ObjectType::requires).toList(),
            "dependentRequired",
            Map.of("host", List.of("port"), "dns", List.of("port")),
            "not",
            Map.of(
                    "anyOf",
                    PLACES.stream()
                            .filter(place -> !WITH_PORT.contains(place))
                            .map(place -> Map.of("required", List.of(place, "port")))
                            .toList()));

    /** An entry of endpoints. */
    static final ObjectType<EndpointConfig> ENDPOINT =
            ObjectType.of("endpoint", "An address of an upstream, or a source of endpoints.", o -> {
                var host = o.optional(
                        "host",
                        Types.HOST,
                        e -> e.place() instanceof Host at ? at.name() : null,
                        "Host name or IP address. The gateway looks a name up again when its DNS records " + "expire.");
                var dns = o.optional(
                        "dns",
                        Types.EXACT_HOSTNAME,
                        e -> e.place() instanceof Dns at ? at.name() : null,
                        "Host name whose addresses are an endpoint each. The gateway asks again when its DNS records "
                                + "expire.");
                var srv = o.optional(
                        "srv",
                        Types.EXACT_HOSTNAME,
                        e -> e.place() instanceof Srv at ? at.name() : null,
                        "Name of SRV records (RFC 2782), such as _http._tcp.app.example.com. They have hosts, "
                                + "ports, priorities and weights. The gateway asks again when they expire.");
                var file = o.optional(
                        "file",
                        Types.PATH,
                        e -> e.place() instanceof File at ? at.path() : null,
                        "YAML or JSON file with a list of endpoints. These have the same keys, but not srv and file. "
                                + "The gateway reads the file again when it has changed.");
                var port = o.optional(
                        "port", Types.integer(1, 65535), EndpointSchema::port, "TCP port. host and dns need it.");
                var unix = o.optional(
                        "unix",
                        Types.PATH,
                        e -> e.place() instanceof Unix at ? at.path() : null,
                        "Unix-domain socket, instead of host and port.");
                var weight = o.defaulted(
                        "weight",
                        Types.integer(1, 1_000_000),
                        1,
                        EndpointConfig::weight,
                        "Share of requests relative to the other endpoints. All endpoints of a dns name, of SRV "
                                + "records or of a file have it together.");
                var zone = o.optional(
                        "zone",
                        Types.NAME,
                        EndpointConfig::zone,
                        "Zone where the endpoint is. The gateway prefers endpoints of localZone. In a file, each "
                                + "endpoint may have its own.");
                o.single(EndpointSchema::rewritten);
                o.foreign("address addr server ip", "host");
                o.foreign("url", "write host and port");
                o.foreign("socket path", "unix");
                o.foreign("backup", "all endpoints are used: remove it"); // nginx
                o.constraint(EndpointSchema::place, PLACES_SCHEMA);
                o.foreign(
                        "maxConnections maxConn",
                        "write circuitBreaker: {maxConnections: …} into the upstream: endpoints share it"); // nginx,
                // HAProxy
                o.foreign("tls ssl scheme", "write tls into the upstream");
                o.foreign("priority", "endpoints have no priority, but those of SRV records: remove it");
                return v -> {
                    Integer written = v.find(port);
                    int at = written == null ? 0 : written;
                    Place place = made(NOWHERE, v.find(host), each -> new Host(each, at));
                    String name = v.find(dns);
                    if (name != null && IpLiteral.parse(name) != null) {
                        v.warning(v.atKey("dns"), "dns: '" + name + "' is an address: write host");
                    }
                    place = made(place, name, each -> new Dns(each, at));
                    place = made(place, v.find(srv), Srv::new);
                    place = made(place, v.find(file), File::new);
                    place = made(place, v.find(unix), Unix::new);
                    return new EndpointConfig(v.position(), place, v.get(weight), v.find(zone));
                };
            });

    /** The contents of a file of endpoints. */
    public static final ListType<EndpointConfig> LIST = new ListType<>(ENDPOINT, 0);

    private EndpointSchema() {}

    /** Returns the keys and values for an address that was written as one text, null if the text is no address. */
    private static @Nullable String rewritten(String text) {
        Matcher address = ADDRESS.matcher(text);
        if (text.matches("(unix:(//)?)?/[A-Za-z0-9/._-]+")) {
            return "{unix: " + text.replaceFirst("^unix:(//)?", "") + "}";
        }
        return address.matches()
                ? "{host: " + (address.group(1) != null ? '"' + address.group(1) + '"' : address.group(2)) + ", port: "
                        + (address.group(3) == null ? "…" : address.group(3)) + "}"
                : null;
    }

    private static <V> Place made(Place otherwise, @Nullable V written, Function<V, Place> maker) {
        return written == null ? otherwise : maker.apply(written);
    }

    private static @Nullable Integer port(EndpointConfig endpoint) {
        if (endpoint.place() instanceof Host host) {
            return host.port();
        }
        return endpoint.place() instanceof Dns dns ? (Integer) dns.port() : null;
    }

    /** An entry has one address or source, and a port exactly if that needs one. */
    private static ObjectType.@Nullable Finding place(Values v) {
        List<String> written = PLACES.stream().filter(v::has).toList();
        if (written.size() != 1) {
            return new ObjectType.Finding(
                    written.isEmpty() ? "unix" : written.get(1),
                    "an endpoint needs exactly one of 'host', 'dns', 'srv', 'file' and 'unix'");
        }
        String place = written.get(0);
        if (WITH_PORT.contains(place) == v.has("port")) {
            return null;
        }
        return v.has("port")
                ? new ObjectType.Finding("port", "'port' belongs to 'host' or 'dns': remove it")
                : new ObjectType.Finding(place, "'" + place + "' and 'port' belong together: add 'port'");
    }
}
