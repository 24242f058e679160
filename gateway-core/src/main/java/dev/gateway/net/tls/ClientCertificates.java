package dev.gateway.net.tls;

import dev.gateway.files.InputFile;
import dev.gateway.format.crypto.PemBlocks;
import dev.gateway.stream.ClientChain;
import dev.gateway.stream.ConnectionInfo.TlsInfo;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.CRL;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509CRL;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of a client's certificate at the end of each handshake. TLS itself verifies certificates, but not those of
 * sessions that are resumed: such a certificate may have expired meanwhile, or have been revoked. Immutable.
 */
final class ClientCertificates {
    private final List<X509CRL> revoked;
    private final Authorities trusted;

    private ClientCertificates(List<X509CRL> revoked, X509Certificate[] authorities)
            throws IOException, GeneralSecurityException {
        this.revoked = revoked;
        X509Certificate[] valid =
                Arrays.stream(authorities).filter(each -> !isRevoked(each)).toArray(X509Certificate[]::new);
        if (valid.length == 0) {
            throw new GeneralSecurityException("the lists of crlFile revoke each certificate of caFile");
        }
        this.trusted = Authorities.of(valid);
    }

    /**
     * Reads revocation lists, PEM or DER. An authority that a list revokes is not trusted: a client need not send its
     * certificate.
     *
     * @param crlFile null if there are none
     * @param authorities one of whom must have signed each list
     */
    static ClientCertificates read(@Nullable Path crlFile, X509Certificate[] authorities)
            throws IOException, GeneralSecurityException {
        List<X509CRL> lists = new ArrayList<>();
        if (crlFile != null) {
            byte[] bytes = PemBlocks.of(InputFile.bytes(crlFile), Set.of("X509 CRL"));
            for (CRL list : CertificateFactory.getInstance("X.509").generateCRLs(new ByteArrayInputStream(bytes))) {
                lists.add(verified((X509CRL) list, crlFile, authorities));
            }
            if (lists.isEmpty()) {
                throw new GeneralSecurityException(crlFile + " has no revocation list");
            }
        }
        return new ClientCertificates(List.copyOf(lists), authorities);
    }

    /** Returns who verifies certificates in full handshakes. */
    TrustManager trust() {
        return new TrustedClients(trusted);
    }

    private static X509CRL verified(X509CRL list, Path file, X509Certificate[] authorities)
            throws GeneralSecurityException {
        for (X509Certificate authority : authorities) {
            if (authority.getSubjectX500Principal().equals(list.getIssuerX500Principal())) {
                try {
                    list.verify(authority.getPublicKey());
                    return list;
                } catch (GeneralSecurityException e) {
                    // There may be another of the same name.
                }
            }
        }
        throw new GeneralSecurityException(
                file + ": no certificate of caFile has signed the list of " + list.getIssuerX500Principal());
    }

    /**
     * Certificates of a client.
     *
     * @param chain null if the client has shown none
     * @param untilMillis when the first of those that are valid now expires, in milliseconds since 1970; never without one
     */
    record Checked(@Nullable ClientChain chain, long untilMillis) {
        static final Checked NONE = new Checked(null, TlsInfo.NEVER);
    }

    /** Fails if the certificate of a session must not be accepted now; a session without one is accepted. */
    Checked check(SSLSession session) throws CertificateException {
        java.security.cert.Certificate[] chain;
        try {
            chain = session.getPeerCertificates();
        } catch (SSLPeerUnverifiedException e) {
            return Checked.NONE; // the API's way of saying that there is no client certificate
        }
        if (chain.length > 0 && chain[0] instanceof X509Certificate own) {
            own.checkValidity();
        }
        List<X509Certificate> certificates = new ArrayList<>(chain.length);
        long now = System.currentTimeMillis();
        long until = TlsInfo.NEVER;
        boolean hasExpired = false;
        for (java.security.cert.Certificate each : chain) {
            if (each instanceof X509Certificate certificate) {
                if (isRevoked(certificate)) {
                    throw new CertificateException("revoked: the client's certificate "
                            + certificate.getSerialNumber().toString(16));
                }
                long end = certificate.getNotAfter().toInstant().toEpochMilli();
                if (end < now) {
                    hasExpired = true;
                } else {
                    until = Math.min(until, end);
                }
                certificates.add(certificate);
            }
        }
        if (hasExpired) { // maybe one that nobody needs, such as that of a former authority
            trusted.checkClient(certificates.toArray(X509Certificate[]::new));
        }
        return certificates.isEmpty() ? Checked.NONE : new Checked(new ClientChain(certificates), until);
    }

    private boolean isRevoked(X509Certificate certificate) {
        for (X509CRL list : revoked) {
            if (list.getIssuerX500Principal().equals(certificate.getIssuerX500Principal())
                    && list.getRevokedCertificate(certificate.getSerialNumber()) != null) {
                return true;
            }
        }
        return false;
    }
}
