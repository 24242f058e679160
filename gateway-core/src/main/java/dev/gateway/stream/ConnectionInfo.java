package dev.gateway.stream;

import dev.gateway.message.Scheme;
import dev.gateway.overload.Account;
import io.netty.util.AsciiString;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a downstream connection once it carries requests; made once per connection, immutable but for its
 * account.
 *
 * @param listener the position of the listener in its generation, an index into per-listener tables
 * @param listenerName the listener's name
 * @param version the protocol; an HTTP/1 connection may carry requests of either minor version
 * @param peer the client's address as its socket or the PROXY protocol tells, null for a Unix-domain socket
 * @param peerIp the client's address without port, as {@code X-Forwarded-For} writes it; {@code unix} for a socket file
 * @param local the address the client connected to, null for a Unix-domain socket
 * @param tls how the connection is secured, null for cleartext
 * @param account what is charged for what the connection makes us hold; to be used on its event loop only
 */
public record ConnectionInfo(
        int listener,
        String listenerName,
        HttpVersion version,
        @Nullable InetSocketAddress peer,
        AsciiString peerIp,
        @Nullable InetSocketAddress local,
        @Nullable TlsInfo tls,
        Account account) {
    /** Makes a connection that may make us hold any amount: for tests. */
    public ConnectionInfo(
            int listener,
            String listenerName,
            HttpVersion version,
            @Nullable InetSocketAddress peer,
            AsciiString peerIp,
            @Nullable InetSocketAddress local,
            @Nullable TlsInfo tls) {
        this(listener, listenerName, version, peer, peerIp, local, tls, Account.UNLIMITED);
    }

    /** Returns the scheme a request without one is taken to have. */
    public AsciiString scheme() {
        return Scheme.of(tls != null);
    }

    /**
     * The security of a connection.
     *
     * @param protocol such as {@code TLSv1.3}
     * @param cipher the cipher suite's name
     * @param serverName the name the client asked for (SNI), or null
     * @param clientSubject the distinguished name of the verified client certificate, or null
     * @param resumed whether an earlier session was resumed
     * @param handshakeNanos how long the handshake took
     */
    public record TlsInfo(
            String protocol,
            String cipher,
            @Nullable String serverName,
            @Nullable String clientSubject,
            boolean resumed,
            long handshakeNanos) {}
}
