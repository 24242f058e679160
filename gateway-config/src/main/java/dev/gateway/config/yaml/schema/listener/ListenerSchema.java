package dev.gateway.config.yaml.schema.listener;

import static java.util.Map.entry;

import dev.gateway.config.listener.BindConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.listener.ListenerConfig.Clients;
import dev.gateway.config.listener.ListenerConfig.ForwardedHeaders;
import dev.gateway.config.listener.ListenerConfig.HalfClose;
import dev.gateway.config.listener.ListenerConfig.HeadersWithUnderscores;
import dev.gateway.config.listener.ListenerConfig.Limits;
import dev.gateway.config.listener.ListenerConfig.Protocol;
import dev.gateway.config.listener.ListenerConfig.ProxyProtocol;
import dev.gateway.config.listener.ListenerConfig.Timeouts;
import dev.gateway.config.listener.ListenerConfig.Via;
import dev.gateway.config.listener.OpenFiles;
import dev.gateway.config.yaml.schema.filter.FilterHint;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.config.yaml.type.Key;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ReloadEffect;
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
public final class ListenerSchema {
    private static final ScalarType<Integer> PORT = Types.integer(0, 65535);
    private static final ScalarType<Integer> COUNT = Types.integer(0, 100_000_000);
    private static final ScalarType<Integer> POSITIVE = Types.integer(1, 100_000_000);

    private static final ScalarType<Protocol> PROTOCOL = Types.words(
            entry("HTTP", Protocol.HTTP),
            entry("HTTPS", Protocol.HTTPS),
            entry("TLS", Protocol.TLS),
            entry("TCP", Protocol.TCP));

    private static final ScalarType<ForwardedHeaders> FORWARDED = Types.words(
            Types.ordered(
                    entry("xForwarded", ForwardedHeaders.X_FORWARDED),
                    entry("forwarded", ForwardedHeaders.FORWARDED),
                    entry("both", ForwardedHeaders.BOTH),
                    entry("off", ForwardedHeaders.OFF)),
            Map.of(),
            Map.of("on", "xForwarded", "true", "xForwarded", "false", "off", "none", "off"));

    private static final ScalarType<Via> VIA = Types.words(
            Types.ordered(entry("auto", Via.AUTO), entry("always", Via.ALWAYS)),
            Map.of(),
            Map.of("true", "always", "on", "always", "false", "auto", "off", "auto", "never", "auto"));

    private static final ScalarType<HeadersWithUnderscores> UNDERSCORES = Types.words(
            Types.ordered(
                    entry("reject", HeadersWithUnderscores.REJECT),
                    entry("drop", HeadersWithUnderscores.DROP),
                    entry("allow", HeadersWithUnderscores.ALLOW)),
            Map.of(),
            Map.of("true", "allow", "on", "allow", "false", "drop", "off", "drop")); // nginx

    private static final ScalarType<HalfClose> HALF_CLOSE = Types.words(
            Types.ordered(entry("abort", HalfClose.ABORT), entry("allow", HalfClose.ALLOW)),
            Map.of(),
            Map.of("true", "allow", "on", "allow", "false", "abort", "off", "abort"));

    private static final ObjectType<ProxyProtocol> PROXY_PROTOCOL = ObjectType.of(
            "proxyProtocol section", "Reads the PROXY protocol, v1 or v2, at the start of each connection.", o -> {
                var cidrs = o.required(
                        "trustedCidrs",
                        new ListType<>(Types.CIDR, 1),
                        ProxyProtocol::trustedCidrs,
                        "Peers that must send the PROXY protocol. Other peers are served without it; the "
                                + "gateway closes the connection of one that sends it.");
                o.single(text -> text.equals("false") ? null : "{trustedCidrs: […]} with the addresses that send it");
                return v -> new ProxyProtocol(v.position(), v.get(cidrs));
            });

    private static final ObjectType<Limits> LIMITS =
            ObjectType.of("limits section", "Limits for the clients of a listener.", o -> {
                var requestLine = o.defaulted(
                        "maxRequestLine",
                        Types.SIZE,
                        8L << 10,
                        Limits::maxRequestLine,
                        "Maximum size of a request line, from 64B to 16MiB.");
                var headerBytes = o.defaulted(
                        "maxHeaderBytes",
                        Types.SIZE,
                        32L << 10,
                        Limits::maxHeaderBytes,
                        "Maximum size of all header fields of a request, names and values, from 64B to 16MiB.");
                var headers = o.defaulted(
                        "maxHeaders",
                        POSITIVE,
                        100,
                        Limits::maxHeaders,
                        "Maximum number of header fields of a request.");
                var body = o.onReload(ReloadEffect.AT_ONCE)
                        .defaulted(
                                "maxBody",
                                Types.SIZE,
                                0L,
                                Limits::maxBody,
                                "Maximum size of a request body; 0 means no limit. The gateway answers a larger one "
                                        + "with 413.");
                var connections = o.onReload(ReloadEffect.AT_ONCE)
                        .optional(
                                "maxConnections",
                                COUNT,
                                l -> l.clients().maxConnections(),
                                "Maximum number of open connections of this listener; 0 means no limit. The default "
                                        + "is half of the open files that the process may have (ulimit -n), at most 50000. A "
                                        + "connection that is forwarded needs two.");
                var perClient = o.onReload(ReloadEffect.AT_ONCE)
                        .defaulted(
                                "maxConnectionsPerClient",
                                COUNT,
                                0,
                                l -> l.clients().maxConnectionsPerClient(),
                                "Maximum number of open connections of one client; 0 means no limit. A client is an "
                                        + "IPv4 address, or an IPv6 network of 64 bits. The gateway closes more at once. The "
                                        + "limit does not apply to trustedProxies, nor to clients without an address.");
                var acceptRate = o.onReload(ReloadEffect.AT_ONCE)
                        .defaulted(
                                "maxAcceptRate",
                                COUNT,
                                0,
                                l -> l.clients().maxAcceptRate(),
                                "Maximum number of connections accepted in a second; 0 means no limit. As many may "
                                        + "come at once after a quiet second. More wait in the kernel.");
                var bodyRate = o.onReload(ReloadEffect.AT_ONCE)
                        .optional(
                                "minBodyRate",
                                Types.SIZE,
                                l -> l.clients().minBodyRate(),
                                "Minimum size of a request body that a client must send per second, on average; 0 "
                                        + "means no limit. The default is 100, or no limit if requestBodyIdle is 0s. A client "
                                        + "may be late by requestBodyIdle, 60s if that is 0s. Then the gateway answers 408. "
                                        + "The limit ends when the response begins. It does not apply to tunnels, WebSockets "
                                        + "and gRPC. After an early response, it says how long the gateway still reads the "
                                        + "upload; new connections have the new value.");
                var streams = o.defaulted(
                        "maxConcurrentStreams",
                        POSITIVE,
                        256,
                        Limits::maxConcurrentStreams,
                        "Maximum number of concurrent requests on one HTTP/2 connection.");
                o.foreign("maxRequestBody maxRequestBodySize maxRequestBytes bodySize", "maxBody");
                o.foreign(
                        "maxHeaderSize headerSize largeClientHeaderBuffers maxRequestHeadersKb",
                        "maxHeaderBytes"); // nginx, Envoy
                FilterTypes.hint(FilterHint.Place.LISTENER_LIMITS, o);
                o.foreign(
                        "maxRequestsPerConnection keepaliveRequests",
                        "connections end by age: write timeouts: {maxConnectionAge: …} into the listener"); // nginx
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
                    if (written != null && written > 0 && v.get(perClient) > written) {
                        v.warning(
                                v.atKey(perClient.name()),
                                "maxConnectionsPerClient has no effect: maxConnections is " + written
                                        + ": write a smaller one");
                    }
                    return new Limits(
                            v.position(),
                            v.get(requestLine),
                            v.get(headerBytes),
                            v.get(headers),
                            v.get(body),
                            new Clients(written, v.get(perClient), v.get(acceptRate), v.find(bodyRate)),
                            v.get(streams));
                };
            });

    private static final Duration HANDSHAKE = Duration.ofSeconds(10);

    private static final ObjectType<Timeouts> TIMEOUTS =
            ObjectType.of("listener timeouts section", "Time limits of client connections; 0s means no limit.", o -> {
                var tls = o.defaulted(
                        "tlsHandshake", Types.DURATION, HANDSHAKE, Timeouts::tlsHandshake, "Time for a TLS handshake.");
                var headers = o.defaulted(
                        "requestHeaders",
                        Types.DURATION,
                        seconds(15),
                        Timeouts::requestHeaders,
                        "Time from the first byte of a request to the end of its header section.");
                var body = o.defaulted(
                        "requestBodyIdle",
                        Types.DURATION,
                        seconds(60),
                        Timeouts::requestBodyIdle,
                        "Maximum time between two reads of a request body, except in gRPC calls.");
                var idle = o.defaulted(
                        "idle",
                        Types.DURATION,
                        seconds(75),
                        Timeouts::idle,
                        "How long a connection may stay open without a request.");
                var age = o.defaulted(
                        "maxConnectionAge",
                        Types.DURATION,
                        seconds(0),
                        Timeouts::maxConnectionAge,
                        "Age at which the gateway drains a connection.");
                var write = o.defaulted(
                        "responseWriteIdle",
                        Types.DURATION,
                        seconds(60),
                        Timeouts::responseWriteIdle,
                        "How long a client may read nothing of a response that is ready for it.");
                o.foreign("request", "write timeouts: {request: …} into a rule");
                o.foreign("streamIdle streamIdleTimeout", "write timeouts: {streamIdle: …} into a rule"); // Envoy
                o.foreign(
                        "client clientFin",
                        "write requestBodyIdle for uploads, responseWriteIdle for downloads, and idle between requests"); // HAProxy
                o.foreign("httpRequest", "requestHeaders"); // HAProxy
                o.foreign("httpKeepAlive", "idle"); // HAProxy
                return v -> new Timeouts(
                        v.position(), v.get(tls), v.get(headers), v.get(body), v.get(idle), v.get(age), v.get(write));
            });

    /** A listener. */
    public static final ObjectType<ListenerConfig> LISTENER =
            ObjectType.of("listener", "An address to bind, with a protocol.", o -> {
                var name = o.required(
                        "name",
                        Types.NAME,
                        ListenerConfig::name,
                        "Unique name of the listener, for parentRefs, logs and metrics.");
                var address = o.onReload(ReloadEffect.REBIND)
                        .defaulted(
                                "address",
                                Types.ADDRESS.explained(Types::unixHint),
                                "0.0.0.0",
                                l -> l.bind().unix() == null ? l.bind().address() : null,
                                "Address to bind. 0.0.0.0 and :: are all addresses of the machine, of IPv4 and of IPv6.");
                var port = o.onReload(ReloadEffect.REBIND)
                        .optional(
                                "port",
                                PORT,
                                l -> l.bind().unix() == null ? l.bind().port() : null,
                                "TCP port to bind; 0 means any free port. A listener has either port or unix.");
                var unix = o.onReload(ReloadEffect.REBIND)
                        .optional(
                                "unix",
                                Types.PATH,
                                l -> l.bind().unix(),
                                "Unix-domain socket to bind, instead of address and port.");
                var protocol = o.required(
                        "protocol",
                        PROTOCOL,
                        l -> l.protocols().protocol(),
                        "HTTP speaks HTTP/1.1 and h2c with prior knowledge. HTTPS speaks HTTP/2 and HTTP/1.1 "
                                + "over TLS. TLS relays encrypted connections by their server name (SNI). TCP relays "
                                + "bytes.");
                var tls = o.optional(
                        "tls",
                        ListenerTlsSchema.TLS,
                        l -> l.protocols().tls(),
                        "TLS settings. Protocols HTTPS and TLS require them; for TLS they are {mode: "
                                + "Passthrough}.");
                var proxyProtocol = o.optional(
                        "proxyProtocol",
                        PROXY_PROTOCOL,
                        l -> l.protocols().proxyProtocol(),
                        "Takes the client address from the PROXY protocol.");
                var access = o.onReload(ReloadEffect.AT_ONCE)
                        .optional(
                                "ipAccess",
                                IpAccessSchema.IP_ACCESS,
                                ListenerConfig::ipAccess,
                                "Closes connections of other clients at once, before TLS. The address is that of the "
                                        + "peer, or that of the PROXY protocol; forwarded headers do not count. Open "
                                        + "connections stay.");
                var reusePort = o.onReload(ReloadEffect.RESTART)
                        .defaulted(
                                "reusePort",
                                Types.BOOLEAN,
                                false,
                                l -> l.bind().reusePort(),
                                "Binds one socket per event loop with SO_REUSEPORT. Another process may then bind the "
                                        + "port too, or take over the Unix-domain socket.");
                var h2cUpgrade = o.defaulted(
                        "h2cUpgrade",
                        Types.BOOLEAN,
                        false,
                        l -> ifHttp(l, l.http().h2cUpgrade()),
                        "Accepts 'Upgrade: h2c' on a cleartext listener, besides prior knowledge. The gateway "
                                + "ignores it in requests that come through a proxy.");
                var halfClose = o.defaulted(
                        "halfClose",
                        HALF_CLOSE,
                        HalfClose.ABORT,
                        l -> ifHttp(l, l.http().halfClose()),
                        "What to do when an HTTP/1.1 client closes its sending side. 'abort' ends the exchange before the "
                                + "response, unless the close came with the request. It also ends a response of unknown "
                                + "length that has begun, once the upstream is quiet for a second. 'allow' sends the "
                                + "response.");
                var limits = o.section("limits", LIMITS, ListenerConfig::limits, "Limits for clients.");
                var timeouts =
                        o.section("timeouts", TIMEOUTS, ListenerConfig::timeouts, "Time limits of client connections.");
                var trusted = o.onReload(ReloadEffect.AT_ONCE)
                        .defaulted(
                                "trustedProxies",
                                new ListType<Cidr>(Types.CIDR, 0),
                                List.of(),
                                l -> ifHttp(l, l.http().trustedProxies()),
                                "Peers whose X-Forwarded-*, Forwarded, X-Real-IP, X-Request-Id and trace headers the "
                                        + "gateway believes. It removes those of other peers.");
                var forwarded = o.onReload(ReloadEffect.AT_ONCE)
                        .defaulted(
                                "forwardedHeaders",
                                FORWARDED,
                                ForwardedHeaders.X_FORWARDED,
                                l -> ifHttp(l, l.http().forwardedHeaders()),
                                "Which headers tell upstreams about the client. From trusted proxies the gateway "
                                        + "reads X-Forwarded-For first, but Forwarded first with the value 'forwarded'. "
                                        + "It drops the form that it does not read.");
                var via = o.onReload(ReloadEffect.AT_ONCE)
                        .defaulted(
                                "via",
                                VIA,
                                Via.AUTO,
                                l -> ifHttp(l, l.http().via()),
                                "Which requests to backendRefs get Via. 'auto' adds it only if the endpoint is a listener "
                                        + "of this gateway, because nginx does not compress responses to requests with "
                                        + "Via. 'always' also finds loops that lead through other proxies.");
                var underscores = o.onReload(ReloadEffect.AT_ONCE)
                        .defaulted(
                                "headersWithUnderscores",
                                UNDERSCORES,
                                HeadersWithUnderscores.DROP,
                                l -> ifHttp(l, l.http().headersWithUnderscores()),
                                "What to do with header names that have other characters than letters, digits and "
                                        + "hyphens, or do not begin with a letter. Many servers take X_User for X-User. "
                                        + "'reject' refuses the request, and 'drop' removes the fields. 'allow' forwards them, "
                                        + "but not those that look like a field that the gateway trusts.");
                var requestId = o.onReload(ReloadEffect.AT_ONCE)
                        .section(
                                "requestId",
                                RequestIdSchema.REQUEST_ID,
                                l -> ifHttp(l, l.http().requestId()),
                                "The ID that tells requests apart, in logs and for upstreams.");
                var server = o.onReload(ReloadEffect.AT_ONCE)
                        .section(
                                "serverHeader",
                                ServerHeaderSchema.SERVER_HEADER,
                                l -> ifHttp(l, l.http().serverHeader()),
                                "What becomes of Server in responses. It applies after filters.");
                var pages = o.onReload(ReloadEffect.AT_ONCE)
                        .optional(
                                "errorPages",
                                ErrorPagesSchema.ERROR_PAGES,
                                l -> l.http().errorPages(),
                                "Pages for errors before a rule is found, such as 404, and for errors that the rule's "
                                        + "ErrorPages filter has no page for.");
                o.exactlyOneOf("port", "unix");
                o.constraint(ListenerTlsSchema::problem, ListenerTlsSchema.problemSchema());
                o.constraint(
                        values -> null,
                        ofRequestsSchema(
                                h2cUpgrade,
                                halfClose,
                                trusted,
                                forwarded,
                                via,
                                underscores,
                                requestId,
                                server,
                                pages)); // see onlyHttp
                o.foreign("http2 h2", "HTTP and HTTPS listeners accept HTTP/2 already: remove it"); // nginx
                o.foreign(
                        "h2c",
                        "HTTP listeners accept HTTP/2 with prior knowledge already: write h2cUpgrade for the Upgrade header");
                o.foreign(
                        "hostname hostnames host hosts serverName",
                        "write hostnames into a route"); // nginx, Gateway API
                o.foreign("routes rules locations", "write routes beside listeners, with parentRefs: [{name: …}]");
                FilterTypes.hint(FilterHint.Place.LISTENER, o);
                o.foreign("clientMaxBodySize", "write limits: {maxBody: …}"); // nginx
                o.foreign("keepaliveTimeout idleTimeout", "write timeouts: {idle: …}"); // nginx, Envoy
                o.foreign("clientHeaderTimeout", "write timeouts: {requestHeaders: …}"); // nginx
                o.foreign("clientBodyTimeout", "write timeouts: {requestBodyIdle: …}"); // nginx
                o.foreign("sendTimeout", "write timeouts: {responseWriteIdle: …}"); // nginx
                o.foreign(
                        "sslCertificate sslCertificateKey",
                        "write tls: {certificateRefs: [{certFile: …, keyFile: …}]}");
                o.foreign("sslProtocols", "write tls: {minVersion: …}"); // nginx
                o.foreign("requestIdHeader uniqueIdHeader", "write requestId: {header: …}"); // HAProxy
                o.foreign("mode", "write protocol: HTTP or TCP, or tls: {mode: Passthrough}"); // HAProxy
                o.foreign("maxConn", "write limits: {maxConnections: …}"); // HAProxy
                o.foreign(
                        "defaultBackend useBackend",
                        "write routes beside listeners, with rules: [{backendRefs: [{name: …}]}]"); // HAProxy
                o.foreign("httpRequest httpResponse", "write filters into the rules of a route"); // HAProxy
                o.foreign(
                        "acceptProxy useProxyProto proxyProto",
                        "write proxyProtocol: {trustedCidrs: […]} with the addresses that send it"); // HAProxy, Envoy
                o.foreign("uniqueIdFormat requestIdExtension", "write requestId: {format: …}"); // HAProxy, Envoy
                o.foreign("serverTokens", "write serverHeader: {transformation: remove}"); // nginx
                o.foreign("serverHeaderTransformation", "write serverHeader: {transformation: …}"); // Envoy
                o.foreign("trustForwardHeader forwardedAllowIps", "trustedProxies"); // Traefik
                return v -> {
                    if (v.get(h2cUpgrade) && v.get(protocol) == Protocol.HTTPS) {
                        v.error(v.atKey("h2cUpgrade"), "h2cUpgrade is for protocol HTTP: over TLS, ALPN chooses h2");
                    } else if (v.get(h2cUpgrade) && v.has("unix")) {
                        v.warning(
                                v.atKey("h2cUpgrade"),
                                "h2cUpgrade has no effect with 'unix', where only proxies and programs of this machine "
                                        + "connect: remove it");
                    } else if (v.get(h2cUpgrade) && (!v.get(trusted).isEmpty() || v.has("proxyProtocol"))) {
                        v.warning(
                                v.atKey("h2cUpgrade"),
                                "h2cUpgrade has no effect for peers of "
                                        + (v.has("proxyProtocol") ? "proxyProtocol" : "trustedProxies")
                                        + ", whose clients could leave the proxy by it: remove it");
                    }
                    if (v.get(protocol) == Protocol.HTTP
                            && v.isReadable("protocol", PROTOCOL)
                            && !v.get(timeouts).tlsHandshake().equals(HANDSHAKE)) {
                        v.warning(
                                v.at(v.get(timeouts), "tlsHandshake"),
                                "tlsHandshake has no effect on protocol HTTP: remove it");
                    }
                    if (v.written("address")
                            .matches("(eth|wlan|docker)[0-9]+|en[ops][0-9][0-9a-z]*|br-[0-9a-f]{12}|lo")) {
                        v.warning(
                                v.at("address"),
                                "address: '" + v.written("address")
                                        + "' looks like a network interface: write its address");
                    }
                    ListenerTlsSchema.checkMode(v, v.get(protocol), v.find(tls));
                    if (!v.get(protocol).isHttp()) {
                        limitsOfRequests(v, v.get(limits));
                        timeoutsOfRequests(v, v.get(timeouts));
                        List.of(h2cUpgrade, halfClose, trusted, forwarded, via, underscores, requestId, server, pages)
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
                            v.find(access),
                            new ListenerConfig.Http(
                                    v.get(h2cUpgrade),
                                    v.get(halfClose),
                                    v.get(trusted),
                                    v.get(forwarded),
                                    v.get(via),
                                    v.get(underscores),
                                    v.get(requestId),
                                    v.get(server),
                                    v.find(pages)),
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
                    key.name() + " is for requests, and protocol " + protocol + " has none: remove it");
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
        changed(v, limits, "minBodyRate", limits.clients().minBodyRate() != null);
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
                    key + " is for requests, and protocol " + v.resolved("protocol") + " has none: remove it"
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
