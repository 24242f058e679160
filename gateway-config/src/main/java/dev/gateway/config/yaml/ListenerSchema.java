package dev.gateway.config.yaml;

import static java.util.Map.entry;

import dev.gateway.config.Cidr;
import dev.gateway.config.ListenerConfig;
import dev.gateway.config.ListenerConfig.ForwardedHeaders;
import dev.gateway.config.ListenerConfig.Limits;
import dev.gateway.config.ListenerConfig.Protocol;
import dev.gateway.config.ListenerConfig.ProxyProtocol;
import dev.gateway.config.ListenerConfig.Timeouts;
import dev.gateway.config.TlsConfig;
import dev.gateway.config.TlsConfig.CertificateRef;
import dev.gateway.config.TlsConfig.ClientAuth;
import dev.gateway.config.TlsConfig.Version;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a listener is, key by key. */
final class ListenerSchema {
    private static final ScalarType<Integer> PORT = Types.integer(0, 65535);
    private static final ScalarType<Integer> COUNT = Types.integer(0, 100_000_000);
    private static final ScalarType<Integer> POSITIVE = Types.integer(1, 100_000_000);

    private static final ScalarType<Protocol> PROTOCOL = Types.words(
            Types.ordered(entry("HTTP", Protocol.HTTP), entry("HTTPS", Protocol.HTTPS)),
            Map.of("TLS", "TLS passthrough", "TCP", "relaying of bytes"));

    private static final ScalarType<ForwardedHeaders> FORWARDED = Types.words(
            entry("xForwarded", ForwardedHeaders.X_FORWARDED),
            entry("forwarded", ForwardedHeaders.FORWARDED),
            entry("both", ForwardedHeaders.BOTH),
            entry("off", ForwardedHeaders.OFF));

    private static final ScalarType<Version> VERSION =
            Types.words(entry("TLSv1.2", Version.TLS_1_2), entry("TLSv1.3", Version.TLS_1_3));

    private static final ScalarType<ClientAuth> CLIENT_AUTH = Types.words(
            entry("none", ClientAuth.NONE),
            entry("optional", ClientAuth.OPTIONAL),
            entry("required", ClientAuth.REQUIRED));

    private static final ScalarType<String> ALPN = Types.words(entry("h2", "h2"), entry("http/1.1", "http/1.1"));

    private static final ObjectType<CertificateRef> CERTIFICATE_REF =
            ObjectType.of("certificate reference", "A certificate chain and its key.", o -> {
                var certFile = o.required(
                        "certFile", Types.PATH, CertificateRef::certFile, "PEM file of the chain, leaf first.");
                var keyFile = o.required(
                        "keyFile", Types.PATH, CertificateRef::keyFile, "PEM file of the unencrypted PKCS#8 key.");
                return v -> new CertificateRef(v.position(), v.get(certFile), v.get(keyFile));
            });

    private static final ObjectType<TlsConfig> TLS = ObjectType.of("tls section", "TLS of a listener.", o -> {
        var refs = o.optional(
                "certificateRefs",
                new ListType<>(CERTIFICATE_REF, 1),
                tls -> tls.certificateRefs().isEmpty() ? null : tls.certificateRefs(),
                "Certificates, chosen by the name that the client asks for (SNI); the first is the default.");
        var selfSigned = o.optional(
                "selfSigned",
                Types.BOOLEAN,
                tls -> tls.selfSignedDirectory() == null ? null : true,
                "Make a self-signed certificate for localhost at first start. For trying things out.");
        var directory = o.optional(
                "selfSignedDirectory",
                Types.PATH,
                TlsConfig::selfSignedDirectory,
                "Where the self-signed certificate is kept. Default: .gateway");
        var alpn = o.defaulted(
                "alpn",
                new ListType<>(ALPN, 1),
                List.of("h2", "http/1.1"),
                TlsConfig::alpn,
                "Protocols offered, in order of preference.");
        var minVersion = o.defaulted(
                "minVersion", VERSION, Version.TLS_1_2, TlsConfig::minVersion, "The oldest version accepted.");
        var maxVersion = o.defaulted(
                "maxVersion", VERSION, Version.TLS_1_3, TlsConfig::maxVersion, "The newest version offered.");
        var ciphers = o.defaulted(
                "ciphers",
                new ListType<>(Types.text("[A-Za-z0-9_-]+", "the name of a cipher suite"), 0),
                List.of(),
                TlsConfig::ciphers,
                "Cipher suites by their OpenSSL or JDK names. Empty: a safe choice.");
        var clientAuth = o.defaulted(
                "clientAuth",
                CLIENT_AUTH,
                ClientAuth.NONE,
                TlsConfig::clientAuth,
                "Whether clients show a certificate, verified against caFile.");
        var caFile = o.optional(
                "caFile", Types.PATH, TlsConfig::caFile, "PEM certificates that client certificates are verified by.");
        var tickets = o.defaulted(
                "sessionTickets",
                Types.BOOLEAN,
                true,
                TlsConfig::sessionTickets,
                "Whether clients may resume by session ticket.");
        o.exactlyOneOf("certificateRefs", "selfSigned");
        return v -> {
            Path caPath = v.find(caFile);
            if (v.get(clientAuth) != ClientAuth.NONE && caPath == null) {
                v.error(v.at("clientAuth"), "clientAuth needs 'caFile', the certificates that clients are verified by");
            }
            if (v.get(clientAuth) == ClientAuth.NONE && caPath != null) {
                v.warning(v.atKey("caFile"), "caFile has no effect without 'clientAuth: required' or 'optional'");
            }
            if (v.get(minVersion).compareTo(v.get(maxVersion)) > 0) {
                v.error(v.at("minVersion"), "minVersion is newer than maxVersion");
            }
            Boolean made = v.find(selfSigned);
            if (Boolean.FALSE.equals(made)) {
                v.error(v.at("selfSigned"), "selfSigned: write true, or remove it and write 'certificateRefs'");
            }
            List<CertificateRef> certificates = v.find(refs);
            Path kept = v.find(directory);
            if (made == null && kept != null) {
                v.error(v.atKey("selfSignedDirectory"), "selfSignedDirectory needs 'selfSigned: true'");
            }
            return new TlsConfig(
                    v.position(),
                    certificates == null ? List.of() : certificates,
                    made == null ? null : kept == null ? v.directory().resolve(".gateway") : kept,
                    v.get(alpn),
                    v.get(minVersion),
                    v.get(maxVersion),
                    v.get(ciphers),
                    v.get(clientAuth),
                    caPath,
                    v.get(tickets));
        };
    });

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
                var connections = o.defaulted(
                        "maxConnections",
                        COUNT,
                        50_000,
                        Limits::maxConnections,
                        "Connections at once on this listener; 0 is no limit.");
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
                    return new Limits(
                            v.position(),
                            v.get(requestLine),
                            v.get(headerBytes),
                            v.get(headers),
                            v.get(body),
                            v.get(connections),
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
                        l -> l.unix() == null ? l.address() : null,
                        "Bound address; 0.0.0.0 is all of IPv4, :: all of IPv6 and IPv4.");
                var port = o.optional(
                        "port", PORT, l -> l.unix() == null ? l.port() : null, "Bound port; 0 for any free one.");
                var unix = o.optional(
                        "unix", Types.PATH, ListenerConfig::unix, "Path of a Unix-domain socket, instead of a port.");
                var protocol = o.required(
                        "protocol",
                        PROTOCOL,
                        ListenerConfig::protocol,
                        "HTTP is HTTP/1.1 and h2c with prior knowledge; HTTPS is h2 and HTTP/1.1 over TLS.");
                var tls = o.optional("tls", TLS, ListenerConfig::tls, "Required with protocol HTTPS.");
                var proxyProtocol = o.optional(
                        "proxyProtocol",
                        PROXY_PROTOCOL,
                        ListenerConfig::proxyProtocol,
                        "Learn the client's address from the PROXY protocol.");
                var reusePort = o.defaulted(
                        "reusePort",
                        Types.BOOLEAN,
                        false,
                        ListenerConfig::reusePort,
                        "Bind once per event loop with SO_REUSEPORT. Other processes may then bind the port too.");
                var h2cUpgrade = o.defaulted(
                        "h2cUpgrade",
                        Types.BOOLEAN,
                        false,
                        ListenerConfig::h2cUpgrade,
                        "Accept 'Upgrade: h2c' on a cleartext listener, besides prior knowledge.");
                var limits = o.section("limits", LIMITS, ListenerConfig::limits, "What one client may ask for.");
                var timeouts = o.section("timeouts", TIMEOUTS, ListenerConfig::timeouts, "Time limits.");
                var trusted = o.defaulted(
                        "trustedProxies",
                        new ListType<Cidr>(Types.CIDR, 0),
                        List.of(),
                        ListenerConfig::trustedProxies,
                        "Peers whose X-Forwarded-*, Forwarded and X-Request-Id are believed.");
                var forwarded = o.defaulted(
                        "forwardedHeaders",
                        FORWARDED,
                        ForwardedHeaders.X_FORWARDED,
                        ListenerConfig::forwardedHeaders,
                        "Which headers tell upstreams about the client.");
                o.exactlyOneOf("port", "unix");
                o.constraint(
                        ListenerSchema::tlsProblem,
                        Map.of(
                                "if",
                                        Map.of(
                                                "properties",
                                                Map.of("protocol", Map.of("const", "HTTPS")),
                                                "required",
                                                List.of("protocol")),
                                "then", ObjectType.requires("tls"),
                                "else",
                                        Map.of(
                                                "if",
                                                Map.of(
                                                        "properties",
                                                        Map.of("protocol", Map.of("const", "HTTP")),
                                                        "required",
                                                        List.of("protocol")),
                                                "then",
                                                Map.of("not", ObjectType.requires("tls")))));
                return v -> {
                    if (v.get(h2cUpgrade) && v.get(protocol) == Protocol.HTTPS) {
                        v.error(v.atKey("h2cUpgrade"), "h2cUpgrade is for protocol HTTP: over TLS, ALPN chooses h2");
                    }
                    if (v.has("unix") && v.has("address")) {
                        v.error(v.atKey("address"), "address has no meaning with 'unix': remove it");
                    }
                    Integer bound = v.find(port);
                    return new ListenerConfig(
                            v.position(),
                            v.get(name),
                            v.get(address),
                            bound == null ? 0 : bound,
                            v.find(unix),
                            v.get(protocol),
                            v.find(tls),
                            v.find(proxyProtocol),
                            v.get(reusePort),
                            v.get(h2cUpgrade),
                            v.get(limits),
                            v.get(timeouts),
                            v.get(trusted),
                            v.get(forwarded));
                };
            });

    private ListenerSchema() {}

    private static ObjectType.@Nullable Finding tlsProblem(Values values) {
        String problem =
                switch (values.resolved("protocol")) {
                    case "HTTPS" ->
                        values.has("tls")
                                ? null
                                : "protocol HTTPS needs 'tls': write {selfSigned: true} to try, or certificateRefs";
                    case "HTTP" -> values.has("tls") ? "protocol HTTP has no 'tls': write HTTPS, or remove it" : null;
                    default -> null;
                };
        return problem == null ? null : new ObjectType.Finding("protocol", problem);
    }

    private static Duration seconds(long seconds) {
        return Duration.ofSeconds(seconds);
    }
}
