package dev.gateway.net.tls;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a listener secures connections.
 *
 * @param certificates at least one; the first serves clients that ask for a name none of them has, or for no name
 * @param refusesUnknownNames whether a client that asks for a name that no certificate has is refused instead
 * @param alpn protocols offered in the listener's order of preference, such as {@code h2}; empty for none. A
 *     client that offers protocols, and none of these, is refused
 * @param protocols such as {@code TLSv1.3}; empty for TLS 1.2 and 1.3
 * @param ciphers IANA names of cipher suites; empty for safe ones. Those of TLS 1.3 need not be named
 * @param clientCaFile PEM certificates that client certificates must chain to; needed unless clientAuth is NONE
 * @param tickets whether clients may resume by ticket, the only way of TLS 1.3; the JDK's TLS, where BoringSSL is
 *     missing, always lets them
 * @param handshakeMillis how long a handshake may take, 0 for no limit
 * @param clientCrlFile revocation lists of client certificates, PEM or DER; null for none
 * @param resumableSeconds for how long a session or ticket is taken, at most; more than 0
 */
public record ServerTlsSettings(
        List<CertificateFiles> certificates,
        boolean refusesUnknownNames,
        List<String> alpn,
        List<String> protocols,
        List<String> ciphers,
        ClientAuthentication clientAuth,
        @Nullable Path clientCaFile,
        boolean tickets,
        long handshakeMillis,
        @Nullable Path clientCrlFile,
        int resumableSeconds) {
    /** For how long sessions and tickets are taken if nothing else is said. */
    public static final int RESUMABLE_SECONDS = 2 * 60 * 60;

    /** Makes settings without revocation lists. */
    public ServerTlsSettings(
            List<CertificateFiles> certificates,
            boolean refusesUnknownNames,
            List<String> alpn,
            List<String> protocols,
            List<String> ciphers,
            ClientAuthentication clientAuth,
            @Nullable Path clientCaFile,
            boolean tickets,
            long handshakeMillis) {
        this(
                certificates,
                refusesUnknownNames,
                alpn,
                protocols,
                ciphers,
                clientAuth,
                clientCaFile,
                tickets,
                handshakeMillis,
                null,
                RESUMABLE_SECONDS);
    }

    /** Whether clients show a certificate. */
    public enum ClientAuthentication {
        NONE,
        /** Asked for; a client without one is let in, one with a certificate that fails is not. */
        OPTIONAL,
        REQUIRED
    }

    /**
     * A certificate with its key, both PEM.
     *
     * @param certFile the chain, the server's own certificate first
     * @param keyFile an unencrypted key: PKCS#8, PKCS#1 or SEC 1
     */
    public record CertificateFiles(Path certFile, Path keyFile) {}
}
