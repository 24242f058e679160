package dev.gateway.config.yaml.schema;

import static java.util.Map.entry;

import dev.gateway.config.BindConfig;
import dev.gateway.config.ListenerConfig;
import dev.gateway.config.ListenerConfig.ForwardedHeaders;
import dev.gateway.config.ListenerConfig.HalfClose;
import dev.gateway.config.ListenerConfig.HeadersWithUnderscores;
import dev.gateway.config.ListenerConfig.Limits;
import dev.gateway.config.ListenerConfig.Protocol;
import dev.gateway.config.ListenerConfig.ProxyProtocol;
import dev.gateway.config.ListenerConfig.Timeouts;
import dev.gateway.config.OpenFiles;
import dev.gateway.config.yaml.type.Key;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.format.Cidr;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What a listener is, key by key. */
final class ListenerSchema {
    private static final ScalarType<Integer> PORT = Types.integer(0, 65535);
    private static final ScalarType<Integer> COUNT = Types.integer(0, 100_000_000);
    private static final ScalarType<Integer> POSITIVE = Types.integer(1, 100_000_000);

    private static final ScalarType<Protocol> PROTOCOL = Types.words(
            entry("HTTP", Protocol.HTTP),
            entry("HTTPS", Protocol.HTTPS),
            entry("TLS", Protocol.TLS),
            entry("TCP", Protocol.TCP));

    private static final ScalarType<ForwardedHeaders> FORWARDED = Types.words(
            entry("xForwarded", ForwardedHeaders.X_FORWARDED),
            entry("forwarded", ForwardedHeaders.FORWARDED),
            entry("both", ForwardedHeaders.BOTH),
            entry("off", ForwardedHeaders.OFF));

    private static final ScalarType<HeadersWithUnderscores> UNDERSCORES = Types.words(
            entry("reject", HeadersWithUnderscores.REJECT),
            entry("drop", HeadersWithUnderscores.DROP),
            entry("allow", HeadersWithUnderscores.ALLOW));

    private static final ScalarType<HalfClose> HALF_CLOSE =
            Types.words(entry("abort", HalfClose.ABORT), entry("allow", HalfClose.ALLOW));

    private static final ObjectType<ProxyProtocol> PROXY_PROTOCOL =
            ObjectType.of("proxyProtocol section", "The PROXY protocol, v1 or v2, in front of each connection.", o -> {
                var cidrs = o.required(
                        "trustedCidrs",
                        new ListType<>(Types.CIDR, 1),
                        ProxyProtocol::trustedCidrs,
                        "Peers that must send it. Connections from elsewhere are closed.");
                return v -> new ProxyProtocol(v.position(), v.get(cidrs));
            });

    private static final ObjectType<Limits> LIMITS =
            ObjectType.of("limits section", "What one client may ask for.", o -> {
                var requestLine = o.defaulted(
                        "maxRequestLine", Types.SIZE, 8L << 10, Limits::maxRequestLine, "Bytes of a request line.");
                var headerBytes = o.defaulted(
                        "maxHeaderBytes",
                        Types.SIZE,
                        32L << 10,
                        Limits::maxHeaderBytes,
                        "Bytes of all header fields of a request, names and values.");
                var headers =
                        o.defaulted("maxHeaders", POSITIVE, 100, Limits::maxHeaders, "Header fields of a request.");
                var body = o.defaulted(
                        "maxBody", Types.SIZE, 0L, Limits::maxBody, "Bytes of a request's body; 0 is no limit.");
                var connections = o.optional(
                        "maxConnections",
                        COUNT,
                        Limits::maxConnections,
                        "Connections at once on this listener; 0 is no limit. By default half of the files that the"
                                + " process may open (ulimit -n), at most 50000.");
                var streams = o.defaulted(
                        "maxConcurrentStreams",
                        POSITIVE,
                        256,
                        Limits::maxConcurrentStreams,
                        "Requests at once on one HTTP/2 connection.");
                return v -> {
                    for (var key : List.of(requestLine, headerBytes)) {
                        if (v.get(key) < 64 || v.get(key) > 16 << 20) {
                            v.error(v.at(key.name()), key.name() + ": expected from 64B to 16MiB");
                        }
                    }
                    Integer written = v.find(connections);
                    long files = OpenFiles.limit();
                    if (written != null && files > 0 && written > files / 2) {
                        v.warning(
                                v.at(connections.name()),
                                "maxConnections: " + written
                                        + " clients need twice as many open files, but a process may" + " have " + files
                                        + " here (ulimit -n): clients beyond half of these wait");
                    }
                    return new Limits(
                            v.position(),
                            v.get(requestLine),
                            v.get(headerBytes),
                            v.get(headers),
                            v.get(body),
                            written,
                            v.get(streams));
                };
            });

    private static final ObjectType<Timeouts> TIMEOUTS =
            ObjectType.of("listener timeouts section", "Time limits of client connections; 0s is none.", o -> {
                var tls = o.defaulted(
                        "tlsHandshake", Types.DURATION, seconds(10), Timeouts::tlsHandshake, "A TLS handshake.");
                var headers = o.defaulted(
                        "requestHeaders",
                        Types.DURATION,
                        seconds(15),
                        Timeouts::requestHeaders,
                        "From a request's first byte to the end of its header.");
                var body = o.defaulted(
                        "requestBodyIdle",
                        Types.DURATION,
                        seconds(60),
                        Timeouts::requestBodyIdle,
                        "Between two reads of a request's body.");
                var idle = o.defaulted(
                        "idle", Types.DURATION, seconds(75), Timeouts::idle, "A connection without any request.");
                var age = o.defaulted(
                        "maxConnectionAge",
                        Types.DURATION,
                        seconds(0),
                        Timeouts::maxConnectionAge,
                        "After which a connection is drained.");
                var write = o.defaulted(
                        "responseWriteIdle",
                        Types.DURATION,
                        seconds(60),
                        Timeouts::responseWriteIdle,
                        "Without the client taking anything of a response that is ready for it.");
                return v -> new Timeouts(
                        v.position(), v.get(tls), v.get(headers), v.get(body), v.get(idle), v.get(age), v.get(write));
            });

    /** A listener. */
    static final ObjectType<ListenerConfig> LISTENER =
            ObjectType.of("listener", "A bound address with a protocol.", o -> {
                var name = o.required(
                        "name", Types.NAME, ListenerConfig::name, "Unique. For parentRefs, logs and metrics.");
                var address = o.defaulted(
                        "address",
                        Types.ADDRESS,
                        "0.0.0.0",
                        l -> l.bind().unix() == null ? l.bind().address() : null,
                        "Bound address; 0.0.0.0 is all of IPv4, :: all of IPv6 and IPv4.");
                var port = o.optional(
                        "port",
                        PORT,
                        l -> l.bind().unix() == null ? l.bind().port() : null,
                        "Bound port; 0 for any free one.");
                var unix = o.optional(
                        "unix", Types.PATH, l -> l.bind().unix(), "Path of a Unix-domain socket, instead of a port.");
                var protocol = o.required(
                        "protocol",
                        PROTOCOL,
                        l -> l.protocols().protocol(),
                        "HTTP is HTTP/1.1 and h2c with prior knowledge; HTTPS is h2 and HTTP/1.1 over TLS; TLS is"
                                + " relayed undecrypted by the name asked for (SNI); TCP is relayed.");
                var tls = o.optional(
                        "tls",
                        ListenerTlsSchema.TLS,
                        l -> l.protocols().tls(),
                        "Required with protocols HTTPS and TLS; with TLS it is {mode: Passthrough}.");
                var proxyProtocol = o.optional(
                        "proxyProtocol",
                        PROXY_PROTOCOL,
                        l -> l.protocols().proxyProtocol(),
                        "Learn the client's address from the PROXY protocol.");
                var reusePort = o.defaulted(
                        "reusePort",
                        Types.BOOLEAN,
                        false,
                        l -> l.bind().reusePort(),
                        "Bind once per event loop with SO_REUSEPORT. Other processes may then bind the port too, or take"
                                + " the Unix-domain socket over.");
                var h2cUpgrade = o.defaulted(
                        "h2cUpgrade",
                        Types.BOOLEAN,
                        false,
                        l -> ifHttp(l, l.http().h2cUpgrade()),
                        "Accept 'Upgrade: h2c' on a cleartext listener, besides prior knowledge.");
                var halfClose = o.defaulted(
                        "halfClose",
                        HALF_CLOSE,
                        HalfClose.ABORT,
                        l -> ifHttp(l, l.http().halfClose()),
                        "A client of HTTP/1 that ends its direction while it waits for a response: 'abort' takes it"
                                + " for gone, unless it ends it together with its request; 'allow' answers it.");
                var limits = o.section("limits", LIMITS, ListenerConfig::limits, "What one client may ask for.");
                var timeouts = o.section("timeouts", TIMEOUTS, ListenerConfig::timeouts, "Time limits.");
                var trusted = o.defaulted(
                        "trustedProxies",
                        new ListType<Cidr>(Types.CIDR, 0),
                        List.of(),
                        l -> ifHttp(l, l.http().trustedProxies()),
                        "Peers whose X-Forwarded-*, Forwarded, X-Real-IP, X-Request-Id and trace headers are believed. Nobody else's"
                                + " go upstream.");
                var forwarded = o.defaulted(
                        "forwardedHeaders",
                        FORWARDED,
                        ForwardedHeaders.X_FORWARDED,
                        l -> ifHttp(l, l.http().forwardedHeaders()),
                        "Which headers tell upstreams about the client; of those of trusted proxies, X-Forwarded-For counts"
                                + " first, with 'forwarded' Forwarded.");
                var underscores = o.defaulted(
                        "headersWithUnderscores",
                        UNDERSCORES,
                        HeadersWithUnderscores.DROP,
                        l -> ifHttp(l, l.http().headersWithUnderscores()),
                        "Headers whose names have other characters than letters, digits and hyphens, which many servers take"
                                + " for others (X_User for X-User), or begin with another than a letter: 'reject' refuses the request, 'drop' takes them out,"
                                + " 'allow' lets them pass.");
                o.exactlyOneOf("port", "unix");
                o.constraint(ListenerTlsSchema::problem, ListenerTlsSchema.problemSchema());
                o.constraint(
                        values -> null,
                        ofRequestsSchema(h2cUpgrade, halfClose, trusted, forwarded, underscores)); // see onlyHttp
                return v -> {
                    if (v.get(h2cUpgrade) && v.get(protocol) == Protocol.HTTPS) {
                        v.error(v.atKey("h2cUpgrade"), "h2cUpgrade is for protocol HTTP: over TLS, ALPN chooses h2");
                    }
                    ListenerTlsSchema.checkMode(v, v.get(protocol), v.find(tls));
                    if (!v.get(protocol).isHttp()) {
                        limitsOfRequests(v, v.get(limits));
                        timeoutsOfRequests(v, v.get(timeouts));
                        List.of(h2cUpgrade, halfClose, trusted, forwarded, underscores)
                                .forEach(key -> onlyHttp(v, key, v.get(protocol)));
                    }
                    if (v.has("unix") && v.has("address")) {
                        v.error(v.atKey("address"), "address has no meaning with 'unix': remove it");
                    }
                    Integer bound = v.find(port);
                    return new ListenerConfig(
                            v.position(),
                            v.get(name),
                            new BindConfig(v.get(address), bound == null ? 0 : bound, v.find(unix), v.get(reusePort)),
                            new ListenerConfig.Protocols(v.get(protocol), v.find(tls), v.find(proxyProtocol)),
                            new ListenerConfig.Http(
                                    v.get(h2cUpgrade),
                                    v.get(halfClose),
                                    v.get(trusted),
                                    v.get(forwarded),
                                    v.get(underscores)),
                            v.get(limits),
                            v.get(timeouts));
                };
            });

    private ListenerSchema() {}

    /** Refuses a key that says something about requests, where there are none. */
    private static void onlyHttp(Values v, Key<ListenerConfig, ?> key, Protocol protocol) {
        if (v.has(key.name())) {
            v.error(
                    v.atKey(key.name()),
                    key.name() + " is about requests, and protocol " + protocol + " has none: remove it");
        }
    }

    private static Map<String, Object> ofRequestsSchema(Key<?, ?>... keys) {
        Map<String, Object> relays = Map.of(
                "properties",
                Map.of("protocol", Map.of("enum", List.of("TLS", "TCP"))),
                "required",
                List.of("protocol"));
        List<Map<String, Object>> written =
                Stream.of(keys).map(key -> ObjectType.requires(key.name())).toList();
        return Map.of("if", relays, "then", Map.of("not", Map.of("anyOf", written)));
    }

    private static void limitsOfRequests(Values v, Limits limits) {
        Limits none = v.everything(LIMITS);
        changed(v, limits, "maxRequestLine", limits.maxRequestLine() != none.maxRequestLine());
        changed(v, limits, "maxHeaderBytes", limits.maxHeaderBytes() != none.maxHeaderBytes());
        changed(v, limits, "maxHeaders", limits.maxHeaders() != none.maxHeaders());
        changed(v, limits, "maxBody", limits.maxBody() != none.maxBody());
        changed(v, limits, "maxConcurrentStreams", limits.maxConcurrentStreams() != none.maxConcurrentStreams());
    }

    private static void timeoutsOfRequests(Values v, Timeouts timeouts) {
        Timeouts none = v.everything(TIMEOUTS);
        changed(v, timeouts, "requestHeaders", !timeouts.requestHeaders().equals(none.requestHeaders()));
        changed(v, timeouts, "requestBodyIdle", !timeouts.requestBodyIdle().equals(none.requestBodyIdle()));
        changed(v, timeouts, "idle", !timeouts.idle().equals(none.idle()));
        changed(v, timeouts, "maxConnectionAge", !timeouts.maxConnectionAge().equals(none.maxConnectionAge()));
        changed(v, timeouts, "responseWriteIdle", !timeouts.responseWriteIdle().equals(none.responseWriteIdle()));
    }

    private static void changed(Values v, Record section, String key, boolean changed) {
        if (changed && v.wrote(section, key)) {
            v.error(
                    v.at(section, key),
                    key + " is about requests, and protocol " + v.resolved("protocol") + " has none: remove it"
                            + (section instanceof Timeouts ? " (a route has timeouts of tunnels)" : ""));
        }
    }

    private static <T> @Nullable T ifHttp(ListenerConfig listener, T value) {
        return listener.isHttp() ? value : null;
    }

    private static Duration seconds(long seconds) {
        return Duration.ofSeconds(seconds);
    }
}
