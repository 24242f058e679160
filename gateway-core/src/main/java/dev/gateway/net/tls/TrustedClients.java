package dev.gateway.net.tls;

import io.netty.handler.ssl.OpenSslCertificateException;
import io.netty.handler.ssl.SslProvider;
import io.netty.internal.tcnative.CertificateVerifier;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLEngine;

/**
 * Trusts a client if authorities do. It tells other clients why by the alert (RFC 8446, section 6.2): {@code
 * unknown_ca}, {@code unsupported_certificate} or {@code bad_certificate}, where Netty would send {@code internal_error}. Safe
 * from any thread.
 */
final class TrustedClients extends EngineTrustManager {
    // RFC 5280, section 4.2.1.12
    private static final String CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
    private static final String ANY_PURPOSE = "2.5.29.37.0";

    TrustedClients(Authorities authorities) {
        super(authorities);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        try {
            authorities.checkClient(chain, authType, engine);
        } catch (CertificateException e) {
            throw explained(e, chain[0]);
        }
    }

    private static CertificateException explained(CertificateException failure, X509Certificate certificate)
            throws CertificateException {
        String client = certificate.getSubjectX500Principal().getName();
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof CertPathBuilderException) {
                return refusal(Alert.UNKNOWN_CA, "no certificate of caFile has signed that of the client, " + client);
            } else if (each instanceof CertificateException && !each.equals(failure)) {
                return failure; // such as one that has expired, which Netty knows
            }
        }
        return refusal(
                isForClients(certificate) ? Alert.BAD_CERTIFICATE : Alert.UNSUPPORTED_CERTIFICATE,
                "the certificate of the client, " + client + ", is not accepted: " + failure.getMessage());
    }

    private static boolean isForClients(X509Certificate certificate) throws CertificateException {
        List<String> purposes = certificate.getExtendedKeyUsage();
        return purposes == null || purposes.contains(CLIENT_AUTH) || purposes.contains(ANY_PURPOSE);
    }

    /** The JDK's TLS chooses the alert itself, and its codes come from the native library. */
    private static CertificateException refusal(Alert alert, String why) {
        return TlsProvider.CURRENT == SslProvider.JDK
                ? new CertificateException(why)
                : new OpenSslCertificateException(why, alert.code());
    }

    /** What the alert says. */
    private enum Alert {
        UNKNOWN_CA,
        UNSUPPORTED_CERTIFICATE,
        BAD_CERTIFICATE;

        int code() {
            return switch (this) {
                case UNKNOWN_CA -> CertificateVerifier.X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY;
                case UNSUPPORTED_CERTIFICATE -> CertificateVerifier.X509_V_ERR_INVALID_PURPOSE;
                case BAD_CERTIFICATE -> CertificateVerifier.X509_V_ERR_CERT_REJECTED;
            };
        }
    }
}
