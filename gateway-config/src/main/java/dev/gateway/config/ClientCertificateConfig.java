package dev.gateway.config;

import java.util.List;
import java.util.stream.Collectors;

/**
 * Client certificate filter settings: which of the certificates that a listener has verified may use a route.
 *
 * @param required whether a client without a certificate is refused
 * @param allow names, one of which a certificate must have; empty for any certificate
 * @param forward what upstreams get of the certificate
 * @param maxForwardedSize in bytes, of all that is forwarded
 */
public record ClientCertificateConfig(
        Position position, boolean required, List<Name> allow, List<Part> forward, long maxForwardedSize)
        implements FilterConfig {
    public ClientCertificateConfig {
        allow = List.copyOf(allow);
        forward = List.copyOf(forward);
    }

    @Override
    public String type() {
        return "ClientCertificate";
    }

    @Override
    public String summary() {
        String names = allow.isEmpty()
                ? "any"
                : "one with " + allow.stream().map(Name::summary).collect(Collectors.joining(" or "));
        return type() + ": " + names + (required ? "" : ", or none");
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public boolean identifies() {
        return true;
    }

    @Override
    public boolean isRepeatable() {
        return false;
    }

    /**
     * A name that may be allowed.
     *
     * @param value in lower case where that does not matter; of a URI, a pattern
     */
    public record Name(Position position, NameKind kind, String value) {
        private String summary() {
            return switch (kind) {
                        case URI -> "uri ";
                        case DNS -> "dns ";
                        case EMAIL -> "email ";
                        case COMMON_NAME -> "commonName ";
                    }
                    + value;
        }
    }

    /** Where certificates have names: three kinds of alternative names (RFC 5280, section 4.2.1.6), and the subject. */
    public enum NameKind {
        URI,
        DNS,
        EMAIL,
        COMMON_NAME
    }

    /** What can be forwarded (RFC 9440). */
    public enum Part {
        /** The client's own certificate. */
        CERTIFICATE,
        /** The other certificates that the client has sent. */
        CHAIN
    }
}
