package dev.gateway.net.tls;

import io.netty.handler.ssl.OpenSslCertificateException;
import io.netty.handler.ssl.SslProvider;
import io.netty.internal.tcnative.CertificateVerifier;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Trusts a client if another trust manager does. It tells other clients why by the alert (RFC 8446, section 6.2): {@code
 * unknown_ca} or {@code bad_certificate}, where Netty would send {@code internal_error}. Safe from any thread.
 */
final class KnownClients extends EngineTrustManager {
    KnownClients(X509ExtendedTrustManager delegate) {
        super(delegate);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        try {
            delegate.checkClientTrusted(chain, authType, engine);
        } catch (CertificateException e) {
            throw explained(e, chain[0].getSubjectX500Principal().getName());
        }
    }

    private static CertificateException explained(CertificateException failure, String client) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof CertPathBuilderException) {
                return refusal(Alert.UNKNOWN_CA, "no certificate of caFile has signed that of the client, " + client);
            } else if (each instanceof CertificateException && !each.equals(failure)) {
                return failure; // such as one that has expired, which Netty knows
            }
        }
        return refusal(
                Alert.BAD_CERTIFICATE,
                "the certificate of the client, " + client + ", is not accepted: " + failure.getMessage());
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
        BAD_CERTIFICATE;

        int code() {
            return this == UNKNOWN_CA
                    ? CertificateVerifier.X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY
                    : CertificateVerifier.X509_V_ERR_CERT_REJECTED;
        }
    }
}
