package dev.gateway.net.tls;

import dev.gateway.format.crypto.KeyKind;
import dev.gateway.format.crypto.SuiteKeys;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Key offer of a client: which kinds of certificates it can verify, by its hello (RFC 8446, section 4.2.3; RFC 5246, section
 * 7.4.1.4.1; RFC 8422, section 5.1.1). An empty set means that the hello does not have the extension.
 *
 * @param suites cipher suites
 * @param signatures signature algorithms
 * @param groups groups, of which some are the curves of keys
 * @param versions versions of TLS, of which a hello without the extension offers TLS 1.2
 */
record KeyOffer(Set<Integer> suites, Set<Integer> signatures, Set<Integer> groups, Set<Integer> versions) {
    private static final int TLS_1_3 = 0x0304;

    private static final int SECP256R1 = 23;
    private static final int SECP384R1 = 24;
    private static final int SECP521R1 = 25;

    private static final int ED25519 = 0x0807;
    private static final int ED448 = 0x0808;
    private static final Set<Integer> PSS_RSAE = Set.of(0x0804, 0x0805, 0x0806);
    private static final Set<Integer> PSS_PSS = Set.of(0x0809, 0x080a, 0x080b);
    private static final Set<Integer> RSA_OF_TLS_1_2 = Set.of(0x0401, 0x0501, 0x0601, 0x0804, 0x0805, 0x0806);
    private static final Set<Integer> ECDSA = Set.of(0x0403, 0x0503, 0x0603);

    /** Suites of TLS 1.2 by their names: those of the JDK, then those of OpenSSL. A configuration may have both. */
    private static final Map<String, Integer> SUITES = Map.ofEntries(
            Map.entry("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", 0xc02b),
            Map.entry("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", 0xc02c),
            Map.entry("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", 0xcca9),
            Map.entry("TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", 0xc023),
            Map.entry("TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384", 0xc024),
            Map.entry("TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", 0xc009),
            Map.entry("TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", 0xc00a),
            Map.entry("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", 0xc02f),
            Map.entry("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", 0xc030),
            Map.entry("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", 0xcca8),
            Map.entry("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", 0xc027),
            Map.entry("TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384", 0xc028),
            Map.entry("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", 0xc013),
            Map.entry("TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", 0xc014),
            Map.entry("TLS_RSA_WITH_AES_128_GCM_SHA256", 0x009c),
            Map.entry("TLS_RSA_WITH_AES_256_GCM_SHA384", 0x009d),
            Map.entry("TLS_RSA_WITH_AES_128_CBC_SHA", 0x002f),
            Map.entry("TLS_RSA_WITH_AES_256_CBC_SHA", 0x0035),
            Map.entry("ECDHE-ECDSA-AES128-GCM-SHA256", 0xc02b),
            Map.entry("ECDHE-ECDSA-AES256-GCM-SHA384", 0xc02c),
            Map.entry("ECDHE-ECDSA-CHACHA20-POLY1305", 0xcca9),
            Map.entry("ECDHE-ECDSA-AES128-SHA", 0xc009),
            Map.entry("ECDHE-ECDSA-AES256-SHA", 0xc00a),
            Map.entry("ECDHE-RSA-AES128-GCM-SHA256", 0xc02f),
            Map.entry("ECDHE-RSA-AES256-GCM-SHA384", 0xc030),
            Map.entry("ECDHE-RSA-CHACHA20-POLY1305", 0xcca8),
            Map.entry("ECDHE-RSA-AES128-SHA", 0xc013),
            Map.entry("ECDHE-RSA-AES256-SHA", 0xc014),
            Map.entry("AES128-GCM-SHA256", 0x009c),
            Map.entry("AES256-GCM-SHA384", 0x009d),
            Map.entry("AES128-SHA", 0x002f),
            Map.entry("AES256-SHA", 0x0035));

    /**
     * What the server speaks, as far as it matters here.
     *
     * @param ecSuites suites of TLS 1.2 for keys of elliptic curves
     * @param rsaSuites suites of TLS 1.2 for keys of RSA
     */
    record Spoken(boolean tls13, Set<Integer> ecSuites, Set<Integer> rsaSuites) {
        /** Makes it of names of versions and of suites. */
        static Spoken of(Collection<String> versions, Collection<String> suites) {
            return new Spoken(versions.contains("TLSv1.3"), codes(KeyKind.EC_P256, suites), codes(KeyKind.RSA, suites));
        }

        private static Set<Integer> codes(KeyKind kind, Collection<String> names) {
            return names.stream()
                    .filter(name -> SuiteKeys.fits(name, kind))
                    .map(SUITES::get)
                    .filter(Objects::nonNull)
                    .collect(Collectors.toUnmodifiableSet());
        }
    }

    /** Whether the client can verify a certificate with a key of this kind, in the version that both speak. */
    boolean takes(KeyKind kind, Spoken server) {
        return (server.tls13() && versions.contains(TLS_1_3)) ? takesInTls13(kind) : takesInTls12(kind, server);
    }

    private boolean takesInTls13(KeyKind kind) {
        return switch (kind) {
            case EC_P256 -> signatures.contains(0x0403);
            case EC_P384 -> signatures.contains(0x0503);
            case EC_P521 -> signatures.contains(0x0603);
            case ED25519 -> signatures.contains(ED25519);
            case ED448 -> signatures.contains(ED448);
            case RSA -> isAny(signatures, PSS_RSAE);
            case RSA_PSS -> isAny(signatures, PSS_PSS);
            case OTHER -> false;
        };
    }

    private boolean takesInTls12(KeyKind kind, Spoken server) {
        return switch (kind) {
            case EC_P256 -> takesCurve(SECP256R1, server);
            case EC_P384 -> takesCurve(SECP384R1, server);
            case EC_P521 -> takesCurve(SECP521R1, server);
            case ED25519 -> isAny(suites, server.ecSuites()) && signatures.contains(ED25519);
            case ED448 -> isAny(suites, server.ecSuites()) && signatures.contains(ED448);
            case RSA -> isAny(suites, server.rsaSuites()) && isAnyOrNone(signatures, RSA_OF_TLS_1_2);
            case RSA_PSS -> isAny(suites, server.rsaSuites()) && isAny(signatures, PSS_PSS);
            case OTHER -> false;
        };
    }

    private boolean takesCurve(int curve, Spoken server) {
        return isAny(suites, server.ecSuites())
                && isAnyOrNone(signatures, ECDSA)
                && (groups.isEmpty() || groups.contains(curve));
    }

    private static boolean isAny(Set<Integer> offered, Set<Integer> wanted) {
        for (Integer each : wanted) {
            if (offered.contains(each)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isAnyOrNone(Set<Integer> offered, Set<Integer> wanted) {
        return offered.isEmpty() || isAny(offered, wanted);
    }
}
