package dev.gateway.config.listener;

import dev.gateway.config.value.Position;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Downstream TLS settings: TLS of a listener. If it passes through, all but the mode is without meaning.
 *
 * @param clients which certificates clients show
 */
public record TlsConfig(
        Position position,
        Mode mode,
        Certificates certificates,
        Protocols protocols,
        Sessions sessions,
        Clients clients) {
    /**
     * What the listener shows. Unless TLS passes through, either {@code refs} has elements, the first being the default for
     * unknown names, or {@code selfSignedDirectory} is not null.
     *
     * @param selfSignedDirectory where a self-signed certificate is kept and, at first start, made; null for none
     */
    public record Certificates(
            List<CertificateRef> refs, @Nullable Path selfSignedDirectory, UnknownServerName unknownServerName) {
        public Certificates {
            refs = List.copyOf(refs);
        }
    }

    /**
     * What is spoken.
     *
     * @param alpn protocols offered, in order of preference: {@code h2}, {@code http/1.1}
     * @param ciphers names as OpenSSL or the JDK write them; empty for a safe default
     */
    public record Protocols(List<String> alpn, Version minVersion, Version maxVersion, List<String> ciphers) {
        public Protocols {
            alpn = List.copyOf(alpn);
            ciphers = List.copyOf(ciphers);
        }

        /** Returns the names of the versions that are spoken, the oldest first. */
        public List<String> versions() {
            return Version.names(minVersion, maxVersion);
        }
    }

    /**
     * How clients resume sessions.
     *
     * @param tickets whether they may by ticket
     * @param timeout for how long a session or ticket is taken
     */
    public record Sessions(boolean tickets, Duration timeout) {
        /** Returns for how many seconds, at least one. */
        public int timeoutSeconds() {
            return (int) Math.max(1, timeout.toSeconds());
        }
    }

    /**
     * Which certificates clients show.
     *
     * @param caFile PEM certificates that client certificates are verified against; null only if auth is NONE
     * @param crlFile revocation lists of client certificates, or null
     * @param caChange what becomes of open connections when caFile or crlFile changes
     */
    public record Clients(ClientAuth auth, @Nullable Path caFile, @Nullable Path crlFile, CaChange caChange) {}

    /** Where TLS ends. */
    public enum Mode {
        /** Here. */
        TERMINATE,
        /** At the upstream: nothing is decrypted. */
        PASSTHROUGH
    }

    /** Returns what handshakes go by: all but what becomes of open connections when a file changes. */
    public TlsConfig ofHandshakes() {
        Clients asked = new Clients(clients.auth, clients.caFile, clients.crlFile, CaChange.KEEP);
        return new TlsConfig(position, mode, certificates, protocols, sessions, asked);
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
        /** To upstreams only. */
        TLS_1_1("TLSv1.1"),
        TLS_1_2("TLSv1.2"),
        TLS_1_3("TLSv1.3");

        private final String word;

        Version(String word) {
            this.word = word;
        }

        /** Returns the names of the versions from the oldest to the newest, both included. */
        public static List<String> names(Version oldest, Version newest) {
            return Arrays.stream(values())
                    .filter(version -> version.compareTo(oldest) >= 0 && version.compareTo(newest) <= 0)
                    .map(Version::toString)
                    .toList();
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
