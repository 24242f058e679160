package dev.gateway.observe.metrics.state;

import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;

/**
 * Certificate expiry: when a certificate ends.
 *
 * @param kind of whom shows it: {@code listener} or {@code upstream}
 * @param owner the name of whom shows it
 * @param name the first DNS name that it is for, else its subject
 * @param notAfterSeconds since 1970
 */
public record CertificateExpiry(String kind, String owner, String name, long notAfterSeconds) {
    private static final int DNS_NAME = 2; // GeneralName, RFC 5280, section 4.2.1.6

    /** Tells it of a certificate. */
    public static CertificateExpiry of(String kind, String owner, X509Certificate certificate) {
        return new CertificateExpiry(
                kind,
                owner,
                name(certificate),
                certificate.getNotAfter().toInstant().getEpochSecond());
    }

    private static String name(X509Certificate certificate) {
        String subject = certificate.getSubjectX500Principal().getName();
        try {
            Collection<List<?>> names = certificate.getSubjectAlternativeNames();
            return names == null
                    ? subject
                    : names.stream()
                            .filter(name -> Integer.valueOf(DNS_NAME).equals(name.get(0)))
                            .map(name -> String.valueOf(name.get(1)))
                            .findFirst()
                            .orElse(subject);
        } catch (CertificateParsingException e) {
            return subject;
        }
    }
}
