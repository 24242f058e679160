package dev.gateway.filter.clientcertificate;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.value.Position;
import dev.gateway.filter.certificate.CertificateName;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Client certificate filter settings: which of the certificates that a listener has verified may use a route.
 *
 * @param required whether a client without a certificate is refused
 * @param allow names, one of which a certificate must have; empty for any certificate; URIs are patterns
 * @param forward what upstreams get of the certificate
 * @param maxForwardedSize in bytes, of all that is forwarded
 */
public record ClientCertificateConfig(
        Position position, boolean required, List<CertificateName> allow, List<Part> forward, long maxForwardedSize)
        implements FilterConfig {
    public ClientCertificateConfig {
        allow = List.copyOf(allow);
        forward = List.copyOf(forward);
    }

    @Override
    public String type() {
        return ClientCertificateFeature.NAME;
    }

    @Override
    public String summary() {
        String names = allow.isEmpty()
                ? "any"
                : "one with "
                        + allow.stream().map(ClientCertificateConfig::summary).collect(Collectors.joining(" or "));
        return type() + ": " + names + (required ? "" : ", or none");
    }

    private static String summary(CertificateName name) {
        return switch (name.kind()) {
                    case URI -> "uri ";
                    case DNS -> "dns ";
                    case EMAIL -> "email ";
                    case COMMON_NAME -> "commonName ";
                }
                + name.value();
    }

    @Override
    public boolean identifies() {
        return true;
    }

    @Override
    public boolean isRepeatable() {
        return false;
    }

    /** What can be forwarded (RFC 9440). */
    public enum Part {
        /** The client's own certificate. */
        CERTIFICATE,
        /** The other certificates that the client has sent. */
        CHAIN
    }
}
