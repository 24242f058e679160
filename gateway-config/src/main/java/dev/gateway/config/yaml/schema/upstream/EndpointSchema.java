package dev.gateway.config.yaml.schema.upstream;

import dev.gateway.config.upstream.EndpointConfig;
import dev.gateway.config.upstream.EndpointConfig.Host;
import dev.gateway.config.upstream.EndpointConfig.Place;
import dev.gateway.config.upstream.EndpointConfig.Unix;
import dev.gateway.config.yaml.type.FeatureList;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.format.IpLiteral;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What an endpoint is, key by key. */
public final class EndpointSchema {
    private static final List<SourceType<?, ?>> SOURCES =
            FeatureList.find(SourceTypeList.class).inOrder();

    /** The keys of addresses and sources; an entry has one of them. */
    private static final List<String> PLACES = Stream.of(
                    Stream.of(Host.KEY), SOURCES.stream().map(SourceType::key), Stream.of(Unix.KEY))
            .flatMap(Function.identity())
            .toList();

    /** Those that need a port. */
    private static final List<String> WITH_PORT = Stream.concat(
                    Stream.of(Host.KEY),
                    SOURCES.stream().filter(SourceType::hasPort).map(SourceType::key))
            .toList();

    /**
     * An address as a URL has it, with a scheme, a port and a path if others write them. A scheme with TLS is left out: a hint
     * must not take TLS away.
     */
    private static final Pattern ADDRESS = Pattern.compile(
            "(?:(?:http|tcp|grpc|h2c)://)?(?:\\[([0-9A-Fa-f:.]+)\\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?(?:/.*)?");

    private static final ScalarType<Integer> WEIGHT = Types.integer(1, 1_000_000)
            .explained(text ->
                    text.equals("0") ? ": remove the endpoint, or take it out of service with 'gateway drain'" : "");

    private static final Place NOWHERE = new Host("localhost", 0); // stands in after an error

    private static final Map<String, Object> PLACES_SCHEMA = Map.of(
            "oneOf",
            PLACES.stream().map(ObjectType::requires).toList(),
            "dependentRequired",
            WITH_PORT.stream().collect(Collectors.toMap(Function.identity(), place -> List.of("port"))),
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
                        Host.KEY,
                        Types.HOST.explained(Types::unixHint),
                        e -> e.place() instanceof Host at ? at.name() : null,
                        "Host name or IP address. The gateway looks a name up again when its DNS records " + "expire.");
                List<BiFunction<Values, Integer, @Nullable Place>> sources = new ArrayList<>();
                SOURCES.forEach(each -> sources.add(declare(o, each)));
                var port = o.optional(
                        "port",
                        Types.integer(1, 65535),
                        e -> e.place().port() == 0 ? null : (Integer) e.place().port(),
                        "TCP port. " + String.join(" and ", WITH_PORT) + " need it.");
                var unix = o.optional(
                        Unix.KEY,
                        Types.PATH,
                        e -> e.place() instanceof Unix at ? at.path() : null,
                        "Unix-domain socket, instead of host and port.");
                var weight = o.defaulted(
                        "weight",
                        WEIGHT,
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
                o.foreign("url", "write host: … and port: …");
                o.foreign("socket path", "unix");
                o.foreign(
                        "check inter rise fall healthCheck healthCheckConfig",
                        "write healthChecks: {active: {path: …}} into the upstream"); // HAProxy, Envoy
                o.foreign(
                        "cookie",
                        "write sessionPersistence: {sessionName: …, keyFile: …} into the upstream"); // HAProxy
                o.foreign(
                        "resolvers resolver",
                        "write resolver: {nameServers: […]} beside upstreams, which all of them use"); // HAProxy
                o.foreign("disabled", "remove the endpoint, or take it out of service with 'gateway drain'"); // HAProxy
                o.foreign(
                        "backup",
                        "all endpoints are used: write a low weight here, and a high one for the others"); // nginx
                o.foreign(
                        "maxFails failTimeout", "write healthChecks: {outlierDetection: …} into the upstream"); // nginx
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
                    for (BiFunction<Values, Integer, @Nullable Place> each : sources) {
                        Place source = each.apply(v, at);
                        place = source == null ? place : source;
                    }
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

    /** Declares the key of a source, and returns what reads it. */
    private static <V> BiFunction<Values, Integer, @Nullable Place> declare(
            ObjectType.Declaration<EndpointConfig> o, SourceType<V, ?> type) {
        var key = o.optional(type.key(), type.value(), e -> type.written(e.place()), type.text());
        return (v, port) -> {
            V written = v.find(key);
            if (written instanceof String name && IpLiteral.parse(name) != null) {
                v.warning(v.atKey(type.key()), type.key() + ": '" + name + "' is an address: write host");
            }
            return written == null ? null : type.maker().of(written, port);
        };
    }

    /** An entry has one address or source, and a port exactly if that needs one. */
    private static ObjectType.@Nullable Finding place(Values v) {
        List<String> written = PLACES.stream().filter(v::has).toList();
        if (written.size() != 1) {
            return new ObjectType.Finding(
                    written.isEmpty() ? "unix" : written.get(1),
                    "an endpoint needs exactly one of " + quoted(PLACES, " and "));
        }
        String place = written.get(0);
        if (WITH_PORT.contains(place) == v.has("port")) {
            return null;
        }
        return v.has("port")
                ? new ObjectType.Finding("port", "'port' belongs to " + quoted(WITH_PORT, " or ") + ": remove it")
                : new ObjectType.Finding(place, "'" + place + "' and 'port' belong together: add 'port'");
    }

    private static String quoted(List<String> keys, String last) {
        int most = keys.size() - 1;
        return keys.stream().limit(most).map(key -> "'" + key + "'").collect(Collectors.joining(", ")) + last + "'"
                + keys.get(most) + "'";
    }
}
