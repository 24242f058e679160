package dev.gateway.upstream.dial;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Parent proxy: a proxy that connections go through.
 *
 * @param host its name, or an IP literal without brackets
 * @param credentials what the gateway authenticates with, or null
 * @param tls how an HTTPS proxy is verified, null for others
 */
public record ParentProxy(
        Kind kind, String host, int port, @Nullable Credentials credentials, @Nullable UpstreamTlsSettings tls) {
    /** The protocol that the gateway speaks to a parent. */
    public enum Kind {
        /** HTTP/1.1 in cleartext: CONNECT, and requests that name their whole URI. */
        HTTP,
        /** The same over TLS. */
        HTTPS,
        /** SOCKS version 5 (RFC 1928); the parent resolves names. */
        SOCKS5
    }

    /** A name and a password; never printed. */
    public record Credentials(String name, String password) {
        /** Returns them in the form of the Basic scheme (RFC 7617). */
        public String basic() {
            return "Basic "
                    + Base64.getEncoder().encodeToString((name + ':' + password).getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String toString() {
            return "***";
        }
    }

    /** Whether it forwards plain HTTP requests, too, not only tunnels. */
    public boolean isHttp() {
        return kind != Kind.SOCKS5;
    }

    /** Returns its URL. */
    @Override
    public String toString() {
        String shown = host.indexOf(':') < 0 ? host : "[" + host + "]";
        return kind.name().toLowerCase(Locale.ROOT) + "://" + shown + ":" + port;
    }
}
