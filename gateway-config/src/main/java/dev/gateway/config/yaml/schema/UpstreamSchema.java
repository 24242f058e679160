package dev.gateway.config.yaml.schema;

import static java.util.Map.entry;

import dev.gateway.config.EndpointConfig;
import dev.gateway.config.UpstreamConfig;
import dev.gateway.config.UpstreamConfig.CircuitBreaker;
import dev.gateway.config.UpstreamConfig.HealthChecks;
import dev.gateway.config.UpstreamConfig.LoadBalancer;
import dev.gateway.config.UpstreamConfig.Protocol;
import dev.gateway.config.UpstreamConfig.SendProxyProtocol;
import dev.gateway.config.UpstreamConfig.Timeouts;
import dev.gateway.config.UpstreamConfig.Tls;
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
final class UpstreamSchema {
    private static final ScalarType<Integer> POSITIVE = Types.integer(1, 100_000_000);

    private static final ScalarType<Protocol> PROTOCOL = Types.words(
            entry("auto", Protocol.AUTO),
            entry("http1", Protocol.HTTP1),
            entry("h2", Protocol.H2),
            entry("h2c", Protocol.H2C));

    private static final ScalarType<SendProxyProtocol> SEND_PROXY_PROTOCOL = Types.words(
            entry("none", SendProxyProtocol.NONE),
            entry("v1", SendProxyProtocol.V1),
            entry("v2", SendProxyProtocol.V2));

    private static final ScalarType<LoadBalancer> LOAD_BALANCER = Types.words(
            Types.ordered(entry("RoundRobin", LoadBalancer.ROUND_ROBIN)),
            Map.of(
                    "LeastRequest", "a load balancer",
                    "Random", "a load balancer",
                    "RingHash", "a load balancer",
                    "Maglev", "a load balancer",
                    "ConsistentHash", "a load balancer",
                    "PeakEwma", "a load balancer"));

    private static final ObjectType<EndpointConfig> ENDPOINT =
            ObjectType.of("endpoint", "One address of an upstream.", o -> {
                var host = o.optional(
                        "host",
                        Types.HOST,
                        EndpointConfig::host,
                        "A name, resolved again as its records expire, or an IP address.");
                var port = o.optional(
                        "port", Types.integer(1, 65535), e -> e.unix() == null ? e.port() : null, "Its port.");
                var unix = o.optional(
                        "unix",
                        Types.PATH,
                        EndpointConfig::unix,
                        "Path of a Unix-domain socket, instead of host and port.");
                var weight = o.defaulted(
                        "weight",
                        Types.integer(1, 1_000_000),
                        1,
                        EndpointConfig::weight,
                        "Its share of requests relative to its siblings.");
                o.exactlyOneOf("host", "unix");
                o.together("host", "port");
                return v -> {
                    Integer at = v.find(port);
                    return new EndpointConfig(
                            v.position(), v.find(host), at == null ? 0 : at, v.find(unix), v.get(weight));
                };
            });

    /** Also of parent proxies. */
    static final ObjectType<Tls> TLS = ObjectType.of("upstream tls section", "TLS to endpoints.", o -> {
        var verify = o.defaulted(
                "verify", Types.BOOLEAN, true, Tls::verify, "Whether certificate and host name are verified.");
        var caFile =
                o.optional("caFile", Types.PATH, Tls::caFile, "PEM certificates trusted instead of the platform's.");
        var serverName = o.optional(
                "serverName",
                Types.EXACT_HOSTNAME,
                Tls::serverName,
                "The name asked for (SNI) and verified, instead of the endpoint's host.");
        var certFile = o.optional("certFile", Types.PATH, Tls::certFile, "PEM chain of the client certificate.");
        var keyFile = o.optional(
                "keyFile", Types.PATH, Tls::keyFile, "PEM file of its unencrypted key: PKCS#8, PKCS#1 or SEC 1.");
        o.together("certFile", "keyFile");
        return v -> {
            if (!v.get(verify)) {
                v.warning(v.at("verify"), "verify: false lets anybody on the way read and change what is exchanged");
            }
            return new Tls(
                    v.position(), v.get(verify), v.find(caFile), v.find(serverName), v.find(certFile), v.find(keyFile));
        };
    });

    private static final ObjectType<CircuitBreaker> CIRCUIT_BREAKER = ObjectType.of(
            "circuitBreaker section",
            "What may be open to an upstream at once; more is answered 503. Each endpoint in service has its share of"
                    + " connections and requests, by weight, and what it has no room for goes to another.",
            o -> {
                var connections = o.defaulted(
                        "maxConnections",
                        POSITIVE,
                        1024,
                        CircuitBreaker::maxConnections,
                        "Connections; with HTTP/2 each event loop may have one to each endpoint all the same.");
                var pending = o.defaulted(
                        "maxPendingRequests",
                        POSITIVE,
                        1024,
                        CircuitBreaker::maxPendingRequests,
                        "Requests that wait for a connection, to whichever endpoint has one first.");
                var requests = o.defaulted(
                        "maxRequests", POSITIVE, 65_536, CircuitBreaker::maxRequests, "Requests in flight.");
                o.reserve("maxRetries", "a limit on retries in flight");
                return v -> new CircuitBreaker(v.position(), v.get(connections), v.get(pending), v.get(requests));
            });

    private static final ObjectType<Timeouts> TIMEOUTS =
            ObjectType.of("upstream timeouts section", "Time limits of upstream connections; 0s is none.", o -> {
                var connect = o.defaulted(
                        "connect",
                        Types.DURATION,
                        seconds(5),
                        Timeouts::connect,
                        "Connecting, without name resolution.");
                var tls = o.defaulted(
                        "tlsHandshake", Types.DURATION, seconds(5), Timeouts::tlsHandshake, "A TLS handshake.");
                var acquire = o.defaulted(
                        "poolAcquire",
                        Types.DURATION,
                        seconds(5),
                        Timeouts::poolAcquire,
                        "How long a request may wait for a connection, to whichever endpoint.");
                var headers = o.defaulted(
                        "responseHeaders",
                        Types.DURATION,
                        seconds(60),
                        Timeouts::responseHeaders,
                        "From the end of a request to the header of its response.");
                var idle = o.defaulted(
                        "idle", Types.DURATION, seconds(60), Timeouts::idle, "How long an unused connection is kept.");
                var lifetime = o.defaulted(
                        "maxLifetime",
                        Types.DURATION,
                        Duration.ofHours(1),
                        Timeouts::maxLifetime,
                        "After which a connection takes no new request; jittered.");
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
    static final ObjectType<UpstreamConfig> UPSTREAM =
            ObjectType.of("upstream", "A named group of endpoints with one policy.", o -> {
                var name = o.required(
                        "name", Types.NAME, UpstreamConfig::name, "Unique. For backendRefs, logs and metrics.");
                var endpoints = o.required(
                        "endpoints", new ListType<>(ENDPOINT, 1), UpstreamConfig::endpoints, "Where requests go.");
                var protocol = o.defaulted(
                        "protocol",
                        PROTOCOL,
                        Protocol.AUTO,
                        upstream -> upstream.protocols().protocol(),
                        "auto is h2 if ALPN offers it, else HTTP/1.1; h2 needs tls; h2c is HTTP/2 in cleartext.");
                var tls = o.optional(
                        "tls",
                        TLS,
                        upstream -> upstream.protocols().tls(),
                        "Encrypt; {} verifies against the platform's CAs.");
                var balancer = o.defaulted(
                        "loadBalancer",
                        LOAD_BALANCER,
                        LoadBalancer.ROUND_ROBIN,
                        UpstreamConfig::loadBalancer,
                        "How an endpoint is chosen.");
                var breaker = o.section(
                        "circuitBreaker", CIRCUIT_BREAKER, UpstreamConfig::circuitBreaker, "What may be open at once.");
                var timeouts = o.section("timeouts", TIMEOUTS, UpstreamConfig::timeouts, "Time limits.");
                var proxyProtocol = o.defaulted(
                        "sendProxyProtocol",
                        SEND_PROXY_PROTOCOL,
                        SendProxyProtocol.NONE,
                        upstream -> upstream.protocols().sendProxyProtocol(),
                        "Tell endpoints who the client is, by the PROXY protocol. For routes of TLS and TCP listeners.");
                var health = o.optional(
                        "healthChecks",
                        HealthChecksSchema.HEALTH_CHECKS,
                        UpstreamConfig::healthChecks,
                        "What takes endpoints out of service.");
                o.reserve("slowStart", "warming up of new endpoints");
                o.constraint(
                        UpstreamSchema::tlsProblem,
                        Map.of(
                                "allOf",
                                List.of(
                                        ifProtocol("h2", ObjectType.requires("tls")),
                                        ifProtocol("h2c", Map.of("not", ObjectType.requires("tls"))))));
                return v -> {
                    refuseUnheardChecks(v, v.find(health), v.get(proxyProtocol));
                    return new UpstreamConfig(
                            v.position(),
                            v.get(name),
                            v.get(endpoints),
                            new UpstreamConfig.Protocols(v.get(protocol), v.find(tls), v.get(proxyProtocol)),
                            v.get(balancer),
                            v.get(breaker),
                            v.get(timeouts),
                            v.find(health));
                };
            });

    private UpstreamSchema() {}

    private static void refuseUnheardChecks(Values v, @Nullable HealthChecks checks, SendProxyProtocol proxyProtocol) {
        if (checks != null && checks.active() != null && proxyProtocol != SendProxyProtocol.NONE) {
            v.error(
                    v.at("sendProxyProtocol"),
                    "checks of healthChecks.active come without the PROXY protocol, and would fail: remove one of both");
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
