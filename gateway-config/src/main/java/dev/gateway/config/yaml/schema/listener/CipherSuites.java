package dev.gateway.config.yaml.schema.listener;

import dev.gateway.config.listener.TlsConfig.Version;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Suggestions;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.config.yaml.type.Variables;
import dev.gateway.format.crypto.SuiteKeys;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The names of cipher suites that BoringSSL knows. With a name that it does not know, the gateway would not start. */
public final class CipherSuites {
    /** BoringSSL always offers all suites of TLS 1.3. */
    private static final List<String> TLS_13 =
            List.of("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256");

    private static final List<String> OPENSSL = List.of(
            "ECDHE-ECDSA-AES128-GCM-SHA256",
            "ECDHE-RSA-AES128-GCM-SHA256",
            "ECDHE-ECDSA-AES256-GCM-SHA384",
            "ECDHE-RSA-AES256-GCM-SHA384",
            "ECDHE-ECDSA-CHACHA20-POLY1305",
            "ECDHE-RSA-CHACHA20-POLY1305",
            "ECDHE-PSK-CHACHA20-POLY1305",
            "ECDHE-ECDSA-AES128-SHA",
            "ECDHE-RSA-AES128-SHA",
            "ECDHE-PSK-AES128-CBC-SHA",
            "ECDHE-ECDSA-AES256-SHA",
            "ECDHE-RSA-AES256-SHA",
            "ECDHE-PSK-AES256-CBC-SHA",
            "AES128-GCM-SHA256",
            "AES256-GCM-SHA384",
            "AES128-SHA",
            "PSK-AES128-CBC-SHA",
            "AES256-SHA",
            "PSK-AES256-CBC-SHA");

    private static final List<String> JDK = List.of(
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
            "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
            "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
            "TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256",
            "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
            "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
            "TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA",
            "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
            "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
            "TLS_ECDHE_PSK_WITH_AES_256_CBC_SHA",
            "TLS_RSA_WITH_AES_128_GCM_SHA256",
            "TLS_RSA_WITH_AES_256_GCM_SHA384",
            "TLS_RSA_WITH_AES_128_CBC_SHA",
            "TLS_PSK_WITH_AES_128_CBC_SHA",
            "TLS_RSA_WITH_AES_256_CBC_SHA",
            "TLS_PSK_WITH_AES_256_CBC_SHA");

    /** All names, those of OpenSSL first. */
    public static final Set<String> NAMES =
            Stream.of(OPENSSL, JDK, TLS_13).flatMap(List::stream).collect(Collectors.toCollection(LinkedHashSet::new));

    /** The type of the key {@code ciphers}. */
    public static final ListType<String> TYPE = new ListType<>(
                    new ScalarType<>(
                                    ScalarType.Form.TEXT,
                                    Map.of("type", "string", "enum", List.copyOf(NAMES)),
                                    "",
                                    (text, site) -> known(text),
                                    Variables::escape)
                            .named(
                                    "cipher suite",
                                    "The OpenSSL or JDK name of a suite that BoringSSL has, such as ECDHE-RSA-AES128-GCM-SHA256."),
                    0)
            .withColons();

    private CipherSuites() {}

    private static String known(String text) throws InvalidException {
        if (NAMES.contains(text)) {
            return text;
        }
        String nearest = Suggestions.nearest(text.toUpperCase(Locale.ROOT), NAMES);
        throw new InvalidException(MessageText.quote(text) + " is not the name of a cipher suite that BoringSSL has: "
                + (text.matches(".*[:!+@].*")
                        ? "write names, each as an item of the list"
                        : nearest != null ? "did you mean '" + nearest + "'?" : "remove it"));
    }

    /** Reports a list that does not limit a version as it seems to. */
    public static void check(Values v, List<String> ciphers, Version oldest, Version newest) {
        if (ciphers.isEmpty()) {
            return;
        }
        List<String> tls13 = ciphers.stream().filter(SuiteKeys::isOfTls13).toList();
        if (oldest.compareTo(Version.TLS_1_3) < 0 && tls13.size() == ciphers.size()) {
            // BoringSSL would offer older versions with all suites that it has, also weak ones.
            v.error(
                    v.atKey("ciphers"),
                    "ciphers names only suites of TLS 1.3: "
                            + (newest == Version.TLS_1_3
                                    ? "write minVersion: TLSv1.3, or add suites of TLS 1.2"
                                    : "name suites of TLS 1.2, or remove maxVersion and write minVersion: TLSv1.3"));
        } else if (!tls13.containsAll(TLS_13)) {
            if (oldest == Version.TLS_1_3) {
                v.warning(
                        v.atKey("ciphers"),
                        "ciphers has no effect with minVersion: TLSv1.3, where BoringSSL offers all suites: remove it");
            } else if (!tls13.isEmpty()) { // it looks as if the others were off
                v.warning(
                        v.atKey("ciphers"),
                        "ciphers: the list has no effect on TLS 1.3, where BoringSSL offers all suites: remove "
                                + String.join(", ", tls13));
            }
        }
    }
}
