package dev.gateway.config.yaml.schema.listener;

import static java.util.Map.entry;

import dev.gateway.config.listener.ListenerConfig.Protocol;
import dev.gateway.config.listener.TlsConfig;
import dev.gateway.config.listener.TlsConfig.CaChange;
import dev.gateway.config.listener.TlsConfig.CertificateRef;
import dev.gateway.config.listener.TlsConfig.ClientAuth;
import dev.gateway.config.listener.TlsConfig.Mode;
import dev.gateway.config.listener.TlsConfig.UnknownServerName;
import dev.gateway.config.listener.TlsConfig.Version;
import dev.gateway.config.value.Concealed;
import dev.gateway.config.yaml.schema.filter.FilterHint;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ReloadEffect;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What TLS of a listener is, key by key, and which protocol goes with it. */
public final class ListenerTlsSchema {
    private static final List<String> OF_TERMINATION = List.of(
            "certificateRefs",
            "selfSigned",
            "selfSignedDirectory",
            "unknownServerName",
            "alpn",
            "minVersion",
            "maxVersion",
            "ciphers",
            "clientAuth",
            "caFile",
            "sessionTickets",
            "crlFile",
            "sessionTimeout",
            "clientCaChange");

    /** What others call versions. */
    public static final Map<String, String> VERSIONS =
            Map.of("1.2", "TLSv1.2", "1.3", "TLSv1.3", "versiontls12", "TLSv1.2", "versiontls13", "TLSv1.3"); // Traefik

    private static final ScalarType<Version> VERSION = Types.words(
            Types.ordered(entry("TLSv1.2", Version.TLS_1_2), entry("TLSv1.3", Version.TLS_1_3)), Map.of(), VERSIONS);

    private static final ScalarType<CaChange> CA_CHANGE =
            Types.words(entry("keep", CaChange.KEEP), entry("close", CaChange.CLOSE));

    private static final ScalarType<ClientAuth> CLIENT_AUTH = Types.words(
            Types.ordered(
                    entry("none", ClientAuth.NONE),
                    entry("optional", ClientAuth.OPTIONAL),
                    entry("required", ClientAuth.REQUIRED)),
            Map.of(),
            Map.of("true", "required", "on", "required", "false", "none", "off", "none"));

    private static final ScalarType<UnknownServerName> UNKNOWN_SERVER_NAME = Types.words(
            Types.ordered(
                    entry("firstCertificate", UnknownServerName.FIRST_CERTIFICATE),
                    entry("refuse", UnknownServerName.REFUSE)),
            Map.of(),
            Map.of("reject", "refuse", "strict", "refuse", "allow", "firstCertificate"));

    private static final ScalarType<String> ALPN = Types.words(entry("h2", "h2"), entry("http/1.1", "http/1.1"));

    private static final ObjectType<CertificateRef> CERTIFICATE_REF =
            ObjectType.of("certificate reference", "A certificate chain and its private key.", o -> {
                var certFile = o.required(
                        "certFile",
                        Types.PATH,
                        CertificateRef::certFile,
                        "PEM file of the certificate chain, leaf first. It may hold the key, too.");
                var keyFile = o.required(
                        "keyFile",
                        Types.PATH,
                        CertificateRef::keyFile,
                        "PEM file of the unencrypted private key: PKCS#8, PKCS#1 or SEC 1. It may be the file of "
                                + "certFile.");
                o.single(text -> text.matches("[A-Za-z0-9./_-]+") ? "{certFile: " + text + ", keyFile: …}" : null);
                o.foreign("name secretName", "write certFile and keyFile, both files"); // Gateway API
                return v -> new CertificateRef(v.position(), v.get(certFile), v.get(keyFile));
            });

    private static final ScalarType<Mode> MODE =
            Types.words(entry("Terminate", Mode.TERMINATE), entry("Passthrough", Mode.PASSTHROUGH));

    /** TLS of a listener. */
    static final ObjectType<TlsConfig> TLS = ObjectType.of(
            "tls section",
            "TLS of a listener. The gateway watches all of its files and reads them again when " + "they change.",
            o -> {
                var mode = o.defaulted(
                        "mode",
                        MODE,
                        Mode.TERMINATE,
                        TlsConfig::mode,
                        "Terminate, with protocol HTTPS, decrypts. Passthrough, with protocol TLS, relays "
                                + "encrypted bytes and allows no other key here.");
                var refs = o.optional(
                        "certificateRefs",
                        new ListType<>(CERTIFICATE_REF, 1),
                        tls -> tls.certificates().refs().isEmpty()
                                ? null
                                : tls.certificates().refs(),
                        "Certificates, selected by the server name of the client (SNI). The first is the "
                                + "default. A name may have one for each kind of key, such as RSA and EC P-256. "
                                + "A section has either this key or selfSigned.");
                var selfSigned = o.optional(
                        "selfSigned",
                        Types.BOOLEAN,
                        tls -> tls.certificates().selfSignedDirectory() == null ? null : true,
                        "Creates a self-signed certificate for localhost at the first start. For development.");
                var directory = o.optional(
                        "selfSignedDirectory",
                        Types.PATH,
                        tls -> tls.certificates().selfSignedDirectory(),
                        "Directory of the self-signed certificate. The default is .gateway in the directory of the "
                                + "configuration.");
                var unknown = o.defaulted(
                        "unknownServerName",
                        UNKNOWN_SERVER_NAME,
                        UnknownServerName.FIRST_CERTIFICATE,
                        tls -> ifTerminated(tls, tls.certificates().unknownServerName()),
                        "What a client gets that asks for a server name without a certificate. Clients "
                                + "without a server name get the first certificate.");
                var alpn = o.defaulted(
                        "alpn",
                        new ListType<>(ALPN, 1),
                        List.of("h2", "http/1.1"),
                        tls -> ifTerminated(tls, tls.protocols().alpn()),
                        "Protocols that the gateway offers, in order of preference. It refuses clients that "
                                + "offer only others.");
                var minVersion = o.defaulted(
                        "minVersion",
                        VERSION,
                        Version.TLS_1_2,
                        tls -> ifTerminated(tls, tls.protocols().minVersion()),
                        "Oldest TLS version that the gateway accepts.");
                var maxVersion = o.defaulted(
                        "maxVersion",
                        VERSION,
                        Version.TLS_1_3,
                        tls -> ifTerminated(tls, tls.protocols().maxVersion()),
                        "Newest TLS version that the gateway accepts.");
                var ciphers = o.defaulted(
                        "ciphers",
                        CipherSuites.TYPE,
                        List.of(),
                        tls -> ifTerminated(tls, tls.protocols().ciphers()),
                        "Cipher suites by their OpenSSL or JDK names. An empty list means a safe selection.");
                var clientAuth = o.defaulted(
                        "clientAuth",
                        CLIENT_AUTH,
                        ClientAuth.NONE,
                        tls -> ifTerminated(tls, tls.clients().auth()),
                        "Whether clients present a certificate. The gateway verifies it against caFile.");
                var caFile = o.optional(
                        "caFile",
                        Types.PATH,
                        tls -> tls.clients().caFile(),
                        "PEM file of the CA certificates for client certificates.");
                var tickets = o.defaulted(
                        "sessionTickets",
                        Types.BOOLEAN,
                        true,
                        tls -> ifTerminated(tls, tls.sessions().tickets()),
                        "Whether clients may resume sessions with tickets.");
                var crlFile = o.optional(
                        "crlFile",
                        Types.PATH,
                        tls -> tls.clients().crlFile(),
                        "Revocation lists, signed by CAs of caFile. The gateway refuses clients whose "
                                + "certificate they list.");
                var sessionTimeout = o.defaulted(
                        "sessionTimeout",
                        Types.DURATION,
                        Duration.ofHours(2),
                        tls -> ifTerminated(tls, tls.sessions().timeout()),
                        "How long a client may resume a session, at least 1s.");
                var caChange = o.onReload(ReloadEffect.AT_ONCE)
                        .defaulted(
                                "clientCaChange",
                                CA_CHANGE,
                                CaChange.KEEP,
                                tls -> ifTerminated(tls, tls.clients().caChange()),
                                "What happens to open connections when caFile or crlFile changes.");
                o.constraint(ListenerTlsSchema::modeProblem, modeSchema());
                o.foreign(
                        "cert certificate crt pem sslCertificate sslCertificateKey",
                        "write certificateRefs: [{certFile: …, keyFile: …}]"); // HAProxy, nginx
                o.foreign("protocols sslProtocols", "write minVersion and maxVersion"); // nginx
                o.foreign("sslCiphers", "ciphers"); // nginx
                o.foreign(
                        "acme letsencrypt certResolver",
                        "write certificateRefs: […], whose files are read again when they change: the gateway gets no certificates itself"); // Traefik, Caddy
                o.foreign("sni strictSni sniStrict", "write unknownServerName: refuse"); // Traefik
                FilterTypes.hint(FilterHint.Place.LISTENER_TLS, o);
                o.foreign("ocspStapling sslStapling", "the gateway does not staple OCSP responses: remove it"); // nginx
                return v -> {
                    Path caPath = v.find(caFile);
                    if (v.get(clientAuth) != ClientAuth.NONE && caPath == null) {
                        v.error(
                                v.at("clientAuth"),
                                "clientAuth needs 'caFile', the certificates that clients are verified by");
                    }
                    if (v.get(clientAuth) == ClientAuth.NONE && caPath != null) {
                        v.warning(
                                v.atKey("caFile"), "caFile has no effect without 'clientAuth: required' or 'optional'");
                    }
                    if (v.get(clientAuth) == ClientAuth.NONE && v.find(crlFile) != null) {
                        v.warning(
                                v.atKey("crlFile"),
                                "crlFile has no effect without 'clientAuth: required' or 'optional'");
                    }
                    if (v.has("sessionTimeout") && v.get(sessionTimeout).toSeconds() < 1) {
                        v.error(
                                v.at("sessionTimeout"),
                                "sessionTimeout: expected at least 1s; sessionTickets: false ends tickets");
                    }
                    if (v.isSound()) { // else what seems to be a mistake may follow from another one
                        CipherSuites.check(v, v.get(ciphers), v.get(minVersion), v.get(maxVersion));
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
                            v.get(mode),
                            new TlsConfig.Certificates(
                                    certificates == null ? List.of() : certificates,
                                    made == null
                                            ? null
                                            : kept == null
                                                    ? v.configurationDirectory().resolve(".gateway")
                                                    : kept,
                                    v.get(unknown)),
                            new TlsConfig.Protocols(v.get(alpn), v.get(minVersion), v.get(maxVersion), v.get(ciphers)),
                            new TlsConfig.Sessions(v.get(tickets), v.get(sessionTimeout)),
                            new TlsConfig.Clients(v.get(clientAuth), caPath, v.find(crlFile), v.get(caChange)));
                };
            });

    private ListenerTlsSchema() {}

    /** Returns what is wrong with the protocol of a listener and its TLS. */
    static ObjectType.@Nullable Finding problem(Values values) {
        boolean tls = values.has("tls");
        String problem =
                switch (values.resolved("protocol")) {
                    case "HTTPS" ->
                        tls ? null : "protocol HTTPS needs 'tls': write {selfSigned: true} to try, or certificateRefs";
                    case "TLS" -> tls ? null : "protocol TLS needs 'tls': write {mode: Passthrough}";
                    case "HTTP" -> tls ? "protocol HTTP has no 'tls': write HTTPS, or remove it" : null;
                    case "TCP" -> tls ? "protocol TCP has no 'tls': write TLS to route by name, or remove it" : null;
                    default -> null;
                };
        return problem == null ? null : new ObjectType.Finding("protocol", problem);
    }

    /** Returns the same for a schema. */
    static Map<String, Object> problemSchema() {
        Map<String, Object> none = Map.of("not", ObjectType.requires("tls"));
        return Map.of(
                "allOf",
                List.of(
                        ifProtocol("HTTPS", needs(Mode.TERMINATE)),
                        ifProtocol("TLS", needs(Mode.PASSTHROUGH)),
                        ifProtocol("HTTP", none),
                        ifProtocol("TCP", none)));
    }

    /** Reports a mode that is not that of the protocol. */
    static void checkMode(Values v, Protocol protocol, @Nullable TlsConfig tls) {
        if (tls == null) {
            return;
        }
        if (protocol == Protocol.HTTPS && tls.mode() == Mode.PASSTHROUGH) {
            v.error(v.at(tls, "mode"), "protocol HTTPS terminates TLS: write protocol TLS for Passthrough");
        } else if (protocol == Protocol.TLS && tls.mode() == Mode.TERMINATE && v.isReadable(tls, "mode", MODE)) {
            v.error(
                    v.at(tls, "mode"),
                    "protocol TLS does not decrypt: write mode: Passthrough, or protocol HTTPS to terminate TLS"
                            + " here");
        }
    }

    private static ObjectType.@Nullable Finding modeProblem(Values values) {
        String mode = values.resolved("mode");
        if (!mode.isEmpty() && !mode.equals("Terminate") && !mode.equals("Passthrough")) {
            return null; // reported where the value is read
        }
        if (mode.equals("Passthrough")) {
            for (String key : OF_TERMINATION) {
                if (values.has(key)) {
                    return new ObjectType.Finding(
                            key, "mode Passthrough leaves TLS to the upstream and has no '" + key + "': remove it");
                }
            }
            return null;
        }
        return values.has("certificateRefs") == values.has("selfSigned")
                ? new ObjectType.Finding(
                        "selfSigned", "a tls section needs exactly one of 'certificateRefs' and 'selfSigned'")
                : null;
    }

    private static Map<String, Object> modeSchema() {
        return Map.of(
                "if", isMode(Mode.PASSTHROUGH),
                "then",
                        Map.of(
                                "not",
                                Map.of(
                                        "anyOf",
                                        OF_TERMINATION.stream()
                                                .map(ObjectType::requires)
                                                .toList())),
                "else",
                        Map.of(
                                "oneOf",
                                List.of(ObjectType.requires("certificateRefs"), ObjectType.requires("selfSigned"))));
    }

    private static Map<String, Object> ifProtocol(String protocol, Map<String, Object> then) {
        Map<String, Object> condition =
                Map.of("properties", Map.of("protocol", Map.of("const", protocol)), "required", List.of("protocol"));
        return Map.of("if", condition, "then", then);
    }

    /** Terminate is the default, Passthrough must be said. */
    private static Map<String, Object> needs(Mode mode) {
        Map<String, Object> tls = mode == Mode.TERMINATE
                ? Map.of("not", isMode(Mode.PASSTHROUGH))
                : Map.of("required", List.of("mode"), "not", isMode(Mode.TERMINATE));
        return Map.of("required", List.of("tls"), "properties", Map.of("tls", tls));
    }

    private static Map<String, Object> isMode(Mode mode) {
        return Map.of(
                "properties",
                Map.of("mode", Map.of("const", MODE.print(mode, Concealed.NOTHING))),
                "required",
                List.of("mode"));
    }

    private static <T> @Nullable T ifTerminated(TlsConfig tls, T value) {
        return tls.mode() == Mode.TERMINATE ? value : null;
    }
}
