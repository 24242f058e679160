package dev.gateway.upstream;

import org.jspecify.annotations.Nullable;

/**
 * A proxy that connections go through.
 *
 * @param host its name, or an IP literal without brackets
 * @param credentials what it is shown, or null
 */
public record ParentProxy(Kind kind, String host, int port, @Nullable Credentials credentials) {
    /** How a parent is spoken to. */
    public enum Kind {
        /** CONNECT in cleartext. */
        HTTP,
        /** CONNECT over TLS. */
        HTTPS,
        /** SOCKS version 5 (RFC 1928); names are resolved by the parent. */
        SOCKS5
    }

    /** A name and a password; never printed. */
    public record Credentials(String name, String password) {
        @Override
        public String toString() {
            return "***";
        }
    }

    @Override
    public String toString() {
        return kind + " " + host + ":" + port;
    }
}
