package dev.gateway.config.yaml.schema.upstream;

import static java.util.Map.entry;

import dev.gateway.config.listener.TlsConfig.Version;
import dev.gateway.config.upstream.UpstreamConfig.Tls;
import dev.gateway.config.upstream.UpstreamConfig.TlsOffer;
import dev.gateway.config.yaml.schema.listener.CipherSuites;
import dev.gateway.config.yaml.schema.listener.ListenerTlsSchema;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What TLS to endpoints and parent proxies is, key by key. */
public final class UpstreamTlsSchema {
    private static final ScalarType<Version> VERSION = Types.words(
            Types.ordered(
                    entry("TLSv1.1", Version.TLS_1_1),
                    entry("TLSv1.2", Version.TLS_1_2),
                    entry("TLSv1.3", Version.TLS_1_3)),
            Map.of(),
            ListenerTlsSchema.VERSIONS);

    /** Also of parent proxies. */
    public static final ObjectType<Tls> TLS =
            ObjectType.of("upstream tls section", "TLS on connections to endpoints or parent proxies.", o -> {
                var verify = o.defaulted(
                        "verify",
                        Types.BOOLEAN,
                        true,
                        Tls::verify,
                        "Whether the gateway verifies the certificate and its host name.");
                var caFile = o.optional(
                        "caFile",
                        Types.PATH,
                        Tls::caFile,
                        "PEM file of the CA certificates to trust, instead of the platform's.");
                var serverName = o.optional(
                        "serverName",
                        Types.SERVER_NAME,
                        Tls::serverName,
                        "Server name to send (SNI) and to verify, instead of the endpoint's host. {host} takes the host of "
                                + "each request; requests with different hosts then share no connection.");
                var certFile =
                        o.optional("certFile", Types.PATH, Tls::certFile, "PEM file of the client certificate chain.");
                var keyFile = o.optional(
                        "keyFile",
                        Types.PATH,
                        Tls::keyFile,
                        "PEM file of the unencrypted private key: PKCS#8, PKCS#1 or SEC 1.");
                var minVersion = o.defaulted(
                        "minVersion",
                        VERSION,
                        Version.TLS_1_2,
                        tls -> tls.offer().minVersion(),
                        "Oldest TLS version that the gateway offers.");
                var maxVersion = o.defaulted(
                        "maxVersion",
                        VERSION,
                        Version.TLS_1_3,
                        tls -> tls.offer().maxVersion(),
                        "Newest TLS version that the gateway offers.");
                var ciphers = o.defaulted(
                        "ciphers",
                        CipherSuites.TYPE,
                        List.of(),
                        tls -> tls.offer().ciphers(),
                        "Cipher suites by their OpenSSL or JDK names. An empty list means a safe selection.");
                o.together("certFile", "keyFile");
                o.foreign("insecure skipVerify insecureSkipVerify", "write verify: false, for any certificate");
                return v -> {
                    if (!v.get(verify)) {
                        v.warning(
                                v.at("verify"),
                                "verify: false lets anybody on the network path read and change the traffic");
                    }
                    if (v.isSound()) { // else what seems to be a mistake may follow from another one
                        CipherSuites.check(v, v.get(ciphers), v.get(minVersion), v.get(maxVersion));
                    }
                    TlsOffer offer = new TlsOffer(v.get(minVersion), v.get(maxVersion), v.get(ciphers));
                    check(v, offer);
                    return new Tls(
                            v.position(),
                            v.get(verify),
                            v.find(caFile),
                            v.find(serverName),
                            v.find(certFile),
                            v.find(keyFile),
                            offer);
                };
            });

    private UpstreamTlsSchema() {}

    private static void check(Values v, TlsOffer offer) {
        if (offer.minVersion().compareTo(offer.maxVersion()) > 0) {
            v.error(v.at("minVersion"), "minVersion is newer than maxVersion");
        }
        if (offer.minVersion() == Version.TLS_1_1) {
            v.warning(v.at("minVersion"), "TLSv1.1 is weak: an attacker on the network path may read the traffic");
        }
        List<String> weak =
                offer.ciphers().stream().filter(UpstreamTlsSchema::isWeak).toList();
        if (!weak.isEmpty()) {
            v.warning(
                    v.at("ciphers"),
                    "weak: " + String.join(", ", weak)
                            + " (safe ones have ECDHE, and GCM or CHACHA20, in their names)");
        }
    }

    /** Whether a suite has no forward secrecy, or no authenticated encryption; all of TLS 1.3 have both. */
    private static boolean isWeak(String cipher) {
        String name = cipher.toUpperCase(Locale.ROOT);
        boolean sealed = name.contains("GCM") || name.contains("CHACHA20");
        boolean tls13 = name.startsWith("TLS_AES_") || name.startsWith("TLS_CHACHA20_");
        return !(sealed && (tls13 || name.contains("ECDHE")));
    }
}
