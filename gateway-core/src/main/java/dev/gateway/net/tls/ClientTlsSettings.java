package dev.gateway.net.tls;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Upstream TLS settings: how connections to an upstream are secured.
 *
 * @param verify whether the server's certificate and name are verified
 * @param caFile PEM certificates trusted instead of the platform's, or null
 * @param serverName the name to ask for and verify instead of the host that is dialed, or null
 * @param certFile PEM chain of the client certificate, or null
 * @param keyFile PEM key of the client certificate, or null
 * @param protocols such as {@code TLSv1.3}; empty for TLS 1.2 and 1.3
 * @param ciphers names of cipher suites; empty for safe ones. Those of TLS 1.3 need not be named
 * @param alpn what is offered, in the order of preference
 * @param handshakeMillis how long a handshake may take, 0 for no limit
 */
public record ClientTlsSettings(
        boolean verify,
        @Nullable Path caFile,
        @Nullable String serverName,
        @Nullable Path certFile,
        @Nullable Path keyFile,
        List<String> protocols,
        List<String> ciphers,
        List<String> alpn,
        long handshakeMillis) {}
