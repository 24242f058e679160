package dev.gateway.status;

import dev.gateway.runtime.CertificateReload;
import dev.gateway.runtime.ListenerTls;
import dev.gateway.runtime.Listeners;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the admin listener shows of the certificates that listeners show; never of keys. */
final class CertificateView {
    private static final Set<Integer> DNS_NAME_OR_ADDRESS = Set.of(2, 7); // GeneralName, RFC 5280, section 4.2.1.6

    private CertificateView() {}

    static Map<String, Object> of(Listeners listeners, CertificateReload certificates) {
        List<Map<String, Object>> all = new ArrayList<>();
        for (Listeners.Serving each : listeners.serving()) {
            ListenerTls tls = each.tls();
            if (tls != null) {
                tls.tls()
                        .certificates()
                        .forEach(certificate -> all.add(view(each.config().name(), certificate)));
            }
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("certificates", all);
        json.put("problems", certificates.problems());
        return json;
    }

    private static Map<String, Object> view(String listener, X509Certificate certificate) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("listener", listener);
        json.put("names", names(certificate));
        json.put("subject", certificate.getSubjectX500Principal().getName());
        json.put("issuer", certificate.getIssuerX500Principal().getName());
        json.put("serial", certificate.getSerialNumber().toString(16));
        json.put("notBefore", certificate.getNotBefore().toInstant().toString());
        json.put("notAfter", certificate.getNotAfter().toInstant().toString());
        json.put("fingerprint", fingerprint(certificate));
        return json;
    }

    private static List<String> names(X509Certificate certificate) {
        try {
            Collection<List<?>> names = certificate.getSubjectAlternativeNames();
            return names == null
                    ? List.of()
                    : names.stream()
                            .filter(name -> DNS_NAME_OR_ADDRESS.contains(name.get(0)))
                            .map(name -> String.valueOf(name.get(1)))
                            .toList();
        } catch (CertificateParsingException e) {
            return List.of();
        }
    }

    /** Returns what {@code openssl x509 -fingerprint -sha256} prints. */
    private static String fingerprint(X509Certificate certificate) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(certificate.getEncoded());
            return HexFormat.ofDelimiter(":").withUpperCase().formatHex(digest);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e); // it has been read from its encoding, and every JDK has SHA-256
        }
    }
}
