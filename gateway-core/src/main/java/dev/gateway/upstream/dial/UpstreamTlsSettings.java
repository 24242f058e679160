package dev.gateway.upstream.dial;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * TLS to endpoints, or to a parent proxy.
 *
 * @param verify whether the peer's certificate and host name are verified
 * @param caFile PEM certificates trusted instead of the platform's, or null
 * @param serverName the name to ask for and verify instead of the peer's host, {@link #OF_REQUEST}, or null
 * @param certFile PEM chain of the client certificate, or null
 * @param keyFile PEM key of the client certificate, or null
 * @param protocols versions of TLS; empty for 1.2 and 1.3
 * @param ciphers names of cipher suites; empty for safe ones. Those of TLS 1.3 need not be named
 */
public record UpstreamTlsSettings(
        boolean verify,
        @Nullable Path caFile,
        @Nullable String serverName,
        @Nullable Path certFile,
        @Nullable Path keyFile,
        List<String> protocols,
        List<String> ciphers) {
    /** Says that the name is the host of each request, and that connections of one name serve no other. */
    public static final String OF_REQUEST = "{host}";

    /** Whether the host of each request is the name to ask for and verify. */
    public boolean followsHost() {
        return OF_REQUEST.equals(serverName);
    }
}
