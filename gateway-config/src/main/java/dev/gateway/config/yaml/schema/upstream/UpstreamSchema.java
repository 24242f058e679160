package dev.gateway.config.yaml.schema.upstream;

import static java.util.Map.entry;

import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.upstream.UpstreamConfig.ActiveCheck;
import dev.gateway.config.upstream.UpstreamConfig.CircuitBreaker;
import dev.gateway.config.upstream.UpstreamConfig.GrpcCheck;
import dev.gateway.config.upstream.UpstreamConfig.HealthChecks;
import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.config.upstream.UpstreamConfig.SendProxyProtocol;
import dev.gateway.config.upstream.UpstreamConfig.TcpCheck;
import dev.gateway.config.upstream.UpstreamConfig.Timeouts;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What an upstream is, key by key. */
public final class UpstreamSchema {
    private static final ScalarType<Integer> THRESHOLD = Types.percentage(0, 100)
            .named("whole percentage", "A whole number from 0 to 100 with a percent sign, such as 50%.");

    private static final ScalarType<Integer> POSITIVE = Types.integer(1, 100_000_000);

    private static final String HTTP2 = "write h2 with tls, or h2c for cleartext";

    private static final ScalarType<Protocol> PROTOCOL = Types.words(
            Types.ordered(
                    entry("auto", Protocol.AUTO),
                    entry("http1", Protocol.HTTP1),
                    entry("h2", Protocol.H2),
                    entry("h2c", Protocol.H2C)),
            Map.of(),
            Map.ofEntries(
                    entry("grpc", HTTP2),
                    entry("grpcs", "h2"),
                    entry("http2", HTTP2),
                    entry("http/2", HTTP2),
                    entry("http", "http1"),
                    entry("http/1.1", "http1"),
                    entry("http1.1", "http1"),
                    entry("https", "write tls: {} into the upstream, and no protocol"),
                    entry("http3", "the gateway does not speak HTTP/3"),
                    entry("h3", "the gateway does not speak HTTP/3"),
                    entry("tcp", "the listener says that: remove it"),
                    entry("ws", "WebSockets need no protocol: remove it")));

    private static final ScalarType<SendProxyProtocol> SEND_PROXY_PROTOCOL = Types.words(
            Types.ordered(
                    entry("none", SendProxyProtocol.NONE),
                    entry("v1", SendProxyProtocol.V1),
                    entry("v2", SendProxyProtocol.V2)),
            Map.of(),
            Map.of("true", "v2", "on", "v2", "false", "none", "off", "none"));

    private static final ObjectType<CircuitBreaker> CIRCUIT_BREAKER = ObjectType.of(
            "circuitBreaker section",
            "Limits of what may be open to an upstream at once. The gateway answers 503 beyond "
                    + "them. Each endpoint in service gets a share of connections and requests by its " + "weight.",
            o -> {
                var connections = o.defaulted(
                        "maxConnections",
                        POSITIVE,
                        1024,
                        CircuitBreaker::maxConnections,
                        "Maximum number of connections. With HTTP/2 each event loop may always have one to "
                                + "each endpoint.");
                var pending = o.defaulted(
                        "maxPendingRequests",
                        POSITIVE,
                        1024,
                        CircuitBreaker::maxPendingRequests,
                        "Maximum number of requests that wait for a connection. The first endpoint with a "
                                + "free connection takes them.");
                var requests = o.defaulted(
                        "maxRequests",
                        POSITIVE,
                        65_536,
                        CircuitBreaker::maxRequests,
                        "Maximum number of requests in flight.");
                o.reserve("maxRetries", "a limit on retries in flight");
                o.foreign(
                        "expression",
                        "it has limits alone, and healthChecks: {outlierDetection: …} ejects endpoints"); // Traefik
                return v -> new CircuitBreaker(v.position(), v.get(connections), v.get(pending), v.get(requests));
            });

    private static final ObjectType<Timeouts> TIMEOUTS =
            ObjectType.of("upstream timeouts section", "Time limits of upstream connections; 0s means no limit.", o -> {
                var connect = o.defaulted(
                        "connect",
                        Types.DURATION,
                        seconds(5),
                        Timeouts::connect,
                        "Time to connect, without name resolution.");
                var tls = o.defaulted(
                        "tlsHandshake",
                        Types.DURATION,
                        seconds(5),
                        Timeouts::tlsHandshake,
                        "Time for a TLS handshake.");
                var acquire = o.defaulted(
                        "poolAcquire",
                        Types.DURATION,
                        seconds(5),
                        Timeouts::poolAcquire,
                        "How long a request may wait for a connection.");
                var headers = o.defaulted(
                        "responseHeaders",
                        Types.DURATION,
                        seconds(60),
                        Timeouts::responseHeaders,
                        "Time from the end of a request to the header section of its response. A gRPC call has its "
                                + "grpc-timeout instead, or no limit.");
                var idle = o.defaulted(
                        "idle",
                        Types.DURATION,
                        seconds(60),
                        Timeouts::idle,
                        "How long the gateway keeps an unused connection.");
                var lifetime = o.defaulted(
                        "maxLifetime",
                        Types.DURATION,
                        Duration.ofHours(1),
                        Timeouts::maxLifetime,
                        "Age after which a connection takes no new request. The gateway varies it at random, "
                                + "so that connections do not end together.");
                o.foreign("request", "write timeouts: {request: …} into a rule");
                o.foreign("server", "responseHeaders"); // HAProxy
                o.foreign("queue", "poolAcquire"); // HAProxy
                o.foreign("check", "write healthChecks: {active: {timeout: …}} into the upstream"); // HAProxy
                o.foreign("tunnel", "write webSocket: {idle: …} into a rule"); // HAProxy
                o.foreign("proxyConnect proxyConnectTimeout", "connect"); // nginx
                o.foreign(
                        "proxyRead proxyReadTimeout",
                        "write responseHeaders, and timeouts: {streamIdle: …} into a rule");
                o.foreign("proxySend proxySendTimeout streamIdle", "write timeouts: {streamIdle: …} into a rule");
                return v -> new Timeouts(
                        v.position(),
                        v.get(connect),
                        v.get(tls),
                        v.get(acquire),
                        v.get(headers),
                        v.get(idle),
                        v.get(lifetime));
            });

    /** An upstream. */
    public static final ObjectType<UpstreamConfig> UPSTREAM =
            ObjectType.of("upstream", "A named group of endpoints with one policy.", o -> {
                var name = o.required(
                        "name",
                        Types.NAME,
                        UpstreamConfig::name,
                        "Unique name of the upstream, for backendRefs, logs and metrics.");
                var endpoints = o.required(
                        "endpoints",
                        new ListType<>(EndpointSchema.ENDPOINT, 1),
                        UpstreamConfig::endpoints,
                        "The addresses of the upstream. If a reload changes only these, endpoints that stay keep "
                                + "their connections and health.");
                var protocol = o.defaulted(
                        "protocol",
                        PROTOCOL,
                        Protocol.AUTO,
                        upstream -> upstream.protocols().protocol(),
                        "auto takes HTTP/2 if the endpoint offers it by ALPN, else HTTP/1.1. h2 needs tls. "
                                + "h2c is HTTP/2 in cleartext.");
                var tls = o.optional(
                        "tls",
                        UpstreamTlsSchema.TLS,
                        upstream -> upstream.protocols().tls(),
                        "TLS to endpoints. {} verifies them with the CAs of the platform.");
                var balancer = o.defaulted(
                        "loadBalancer",
                        LoadBalancerSchema.LOAD_BALANCER,
                        LoadBalancerSchema.DEFAULT,
                        UpstreamConfig::loadBalancer,
                        "How the gateway selects an endpoint: a policy, or a mapping with its settings. All policies "
                                + "respect weights.");
                var breaker = o.section(
                        "circuitBreaker",
                        CIRCUIT_BREAKER,
                        UpstreamConfig::circuitBreaker,
                        "Limits of what may be open at once.");
                var timeouts = o.section("timeouts", TIMEOUTS, UpstreamConfig::timeouts, "Time limits of connections.");
                var proxyProtocol = o.defaulted(
                        "sendProxyProtocol",
                        SEND_PROXY_PROTOCOL,
                        SendProxyProtocol.NONE,
                        upstream -> upstream.protocols().sendProxyProtocol(),
                        "Sends the client address to endpoints with this version of the PROXY protocol. Only "
                                + "for routes of TLS and TCP listeners.");
                var health = o.optional(
                        "healthChecks",
                        HealthChecksSchema.HEALTH_CHECKS,
                        UpstreamConfig::healthChecks,
                        "How the gateway detects endpoints that fail.");
                var panicThreshold = o.defaulted(
                        "panicThreshold",
                        THRESHOLD,
                        0,
                        UpstreamConfig::panicThreshold,
                        "Share of endpoints. If fewer are in service, the gateway uses all that do not drain, "
                                + "so that the rest is not overloaded. 0% means never.");
                var slowStart = o.defaulted(
                        "slowStart",
                        Types.DURATION,
                        Duration.ZERO,
                        UpstreamConfig::slowStart,
                        "Time in which the share of an endpoint rises from a tenth to all of it. It holds for new "
                                + "endpoints, and for those that are healthy again or no longer ejected. 0s means "
                                + "none.");
                var sessions = o.optional(
                        "sessionPersistence",
                        SessionSchema.SESSION_PERSISTENCE,
                        UpstreamConfig::sessionPersistence,
                        "Sends the requests of a client to the endpoint that answered it first (sticky sessions).");
                o.foreign("healthCheck check checks httpchk", "healthChecks");
                o.foreign("url urls address addresses", "endpoints");
                o.foreign("port", "write endpoints: [{host: …, port: …}]");
                o.foreign("scheme", "write tls: {} for https");
                o.foreign("cookie cookies", "write sessionPersistence: {sessionName: …, keyFile: …}"); // HAProxy
                o.foreign("maxConn", "write circuitBreaker: {maxConnections: …}"); // HAProxy
                o.foreign(
                        "resolvers resolver dnsResolvers",
                        "write resolver: {nameServers: […]} beside upstreams, which all of them use"); // HAProxy, Envoy
                o.constraint(
                        UpstreamSchema::tlsProblem,
                        Map.of(
                                "allOf",
                                List.of(
                                        ifProtocol("h2", ObjectType.requires("tls")),
                                        ifProtocol("h2c", Map.of("not", ObjectType.requires("tls"))))));
                o.foreign("maxFails failTimeout", "write healthChecks: {outlierDetection: …}"); // nginx
                o.foreign("connectTimeout proxyConnectTimeout", "write timeouts: {connect: …}");
                o.foreign("proxyReadTimeout", "write timeouts: {responseHeaders: …}"); // nginx
                o.foreign(
                        "keepalive keepaliveConnections",
                        "idle connections are kept already: write timeouts: {idle: …} for how long"); // nginx
                o.foreign("resolve", "write endpoints: [{dns: …, port: …}]"); // nginx
                return v -> {
                    UpstreamConfig.Protocols protocols =
                            new UpstreamConfig.Protocols(v.get(protocol), v.find(tls), v.get(proxyProtocol));
                    refuseUselessChecks(v, v.find(health), protocols);
                    return new UpstreamConfig(
                            v.position(),
                            v.get(name),
                            v.get(endpoints),
                            protocols,
                            v.get(balancer),
                            v.get(breaker),
                            v.get(timeouts),
                            v.find(health),
                            v.get(panicThreshold),
                            v.get(slowStart),
                            v.find(sessions));
                };
            });

    private UpstreamSchema() {}

    /** Checks whose questions endpoints would not understand. */
    private static void refuseUselessChecks(
            Values v, @Nullable HealthChecks checks, UpstreamConfig.Protocols protocols) {
        ActiveCheck active = checks == null ? null : checks.active();
        if (active == null) {
            return;
        }
        boolean connects = active.request() instanceof TcpCheck && protocols.tls() == null;
        if (protocols.sendProxyProtocol() != SendProxyProtocol.NONE && !connects) {
            v.error(
                    v.at("sendProxyProtocol"),
                    "checks of healthChecks.active do not send the PROXY protocol and would fail: remove one of the two"
                            + (protocols.tls() == null ? ", or write type: TCP in active" : ""));
        }
        if (active.request() instanceof GrpcCheck && !protocols.mayBeHttp2()) {
            v.error(
                    v.at(active, "type"),
                    "type: GRPC needs HTTP/2: write protocol: h2c (cleartext) or protocol: h2 (with tls) in the upstream");
        }
    }

    private static ObjectType.@Nullable Finding tlsProblem(Values values) {
        String problem =
                switch (values.resolved("protocol")) {
                    case "h2" ->
                        values.has("tls") ? null : "protocol h2 needs 'tls': add tls: {}, or write h2c for cleartext";
                    case "h2c" ->
                        values.has("tls") ? "protocol h2c is cleartext and has no 'tls': write h2, or remove it" : null;
                    default -> null;
                };
        return problem == null ? null : new ObjectType.Finding("protocol", problem);
    }

    private static Map<String, Object> ifProtocol(String protocol, Map<String, Object> then) {
        Map<String, Object> condition =
                Map.of("properties", Map.of("protocol", Map.of("const", protocol)), "required", List.of("protocol"));
        return Map.of("if", condition, "then", then);
    }

    private static Duration seconds(long seconds) {
        return Duration.ofSeconds(seconds);
    }
}
