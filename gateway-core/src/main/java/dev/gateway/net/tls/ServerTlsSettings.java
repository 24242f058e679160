package dev.gateway.net.tls;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Downstream TLS settings at run time: how a listener secures connections.
 *
 * @param handshakeMillis how long a handshake may take, 0 for no limit
 */
public record ServerTlsSettings(
        Certificates certificates, Protocols protocols, Clients clients, Sessions sessions, long handshakeMillis) {
    /**
     * What the listener shows.
     *
     * @param files at least one; the first serves clients that ask for a name none of them has, or for no name
     * @param refusesUnknownNames whether a client that asks for a name that no certificate has is refused instead
     */
    public record Certificates(List<CertificateFiles> files, boolean refusesUnknownNames) {}

    /**
     * What is spoken.
     *
     * @param alpn protocols offered in the listener's order of preference, such as {@code h2}; empty for none. A
     *     client that offers protocols, and none of these, is refused
     * @param versions such as {@code TLSv1.3}; empty for TLS 1.2 and 1.3
     * @param ciphers IANA names of cipher suites; empty for safe ones. Those of TLS 1.3 need not be named
     */
    public record Protocols(List<String> alpn, List<String> versions, List<String> ciphers) {}

    /**
     * Which certificates clients show.
     *
     * @param caFile PEM certificates that client certificates must chain to; needed unless authentication is NONE
     * @param crlFile revocation lists of client certificates, PEM or DER; null for none
     */
    public record Clients(ClientAuthentication authentication, @Nullable Path caFile, @Nullable Path crlFile) {}

    /** Whether clients show a certificate. */
    public enum ClientAuthentication {
        NONE,
        /** Asked for; a client without one is let in, one with a certificate that fails is not. */
        OPTIONAL,
        REQUIRED
    }

    /**
     * How clients resume sessions.
     *
     * @param tickets whether they may by ticket, the only way of TLS 1.3; the JDK's TLS, where BoringSSL is missing,
     *     always lets them
     * @param timeoutSeconds for how long a session or ticket is taken, at most; more than 0
     */
    public record Sessions(boolean tickets, int timeoutSeconds) {
        /** What holds if nothing else is said: tickets, for two hours. */
        public static final Sessions DEFAULT = new Sessions(true, 2 * 60 * 60);
    }

    /**
     * A certificate with its key, both PEM.
     *
     * @param certFile the chain, the server's own certificate first
     * @param keyFile an unencrypted key: PKCS#8, PKCS#1 or SEC 1
     */
    public record CertificateFiles(Path certFile, Path keyFile) {}
}
