package dev.gateway.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * TLS of a listener. Unless it passes through, either {@code certificateRefs} has elements, the first being the default
 * for unknown names, or {@code selfSignedDirectory} is not null; if it does, all but the mode is without meaning.
 *
 * @param selfSignedDirectory where a self-signed certificate is kept and, at first start, made; null for none
 * @param alpn protocols offered, in order of preference: {@code h2}, {@code http/1.1}
 * @param ciphers names as OpenSSL or the JDK write them; empty for a safe default
 * @param caFile PEM certificates that client certificates are verified against; not null unless clientAuth is NONE
 * @param sessionTickets whether clients may resume by ticket
 * @param crlFile revocation lists of client certificates, or null
 * @param sessionTimeout for how long a session or ticket is taken
 * @param clientCaChange what becomes of open connections when caFile or crlFile changes
 */
public record TlsConfig(
        Position position,
        Mode mode,
        List<CertificateRef> certificateRefs,
        @Nullable Path selfSignedDirectory,
        UnknownServerName unknownServerName,
        List<String> alpn,
        Version minVersion,
        Version maxVersion,
        List<String> ciphers,
        ClientAuth clientAuth,
        @Nullable Path caFile,
        boolean sessionTickets,
        @Nullable Path crlFile,
        Duration sessionTimeout,
        CaChange clientCaChange) {

    public TlsConfig {
        certificateRefs = List.copyOf(certificateRefs);
        alpn = List.copyOf(alpn);
        ciphers = List.copyOf(ciphers);
    }

    /** Where TLS ends. */
    public enum Mode {
        /** Here. */
        TERMINATE,
        /** At the upstream: nothing is decrypted. */
        PASSTHROUGH
    }

    /** A PEM chain, leaf first, and its PKCS#8 PEM key. It serves the names it is issued for. */
    public record CertificateRef(Position position, Path certFile, Path keyFile) {}

    /** What becomes of a client that asks for a name which no certificate has. */
    public enum UnknownServerName {
        /** It is shown the first certificate. */
        FIRST_CERTIFICATE,
        /** There is no handshake. */
        REFUSE
    }

    /** Versions of TLS, oldest first. */
    public enum Version {
        TLS_1_2("TLSv1.2"),
        TLS_1_3("TLSv1.3");

        private final String word;

        Version(String word) {
            this.word = word;
        }

        /** Returns the name that the JDK and OpenSSL use. */
        @Override
        public String toString() {
            return word;
        }
    }

    /** What becomes of open connections when other client certificates are accepted. */
    public enum CaChange {
        KEEP,
        CLOSE
    }

    /** Whether clients show a certificate. */
    public enum ClientAuth {
        NONE,
        OPTIONAL,
        REQUIRED
    }
}
