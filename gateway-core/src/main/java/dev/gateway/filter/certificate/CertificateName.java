package dev.gateway.filter.certificate;

/**
 * A name in a certificate.
 *
 * @param value in lower case where that does not matter
 */
public record CertificateName(Kind kind, String value) {
    /** Kinds of names, the most exact one first. */
    public enum Kind {
        URI,
        DNS,
        EMAIL,
        COMMON_NAME
    }
}
