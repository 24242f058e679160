package dev.gateway.stream;

import dev.gateway.message.Scheme;
import dev.gateway.overload.memory.Account;
import io.netty.util.AsciiString;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Downstream connection info: what is known of a downstream connection once it carries requests; made once per connection,
 * immutable except for its account.
 *
 * @param listener the position of the listener in its generation, an index into per-listener tables
 * @param listenerName the listener's name
 * @param version the protocol; an HTTP/1 connection may carry requests of either minor version
 * @param peer the socket's other end
 * @param client whose connection it is: the address that the PROXY protocol tells, else the peer's. Behind trusted proxies
 *     each request has a client of its own.
 * @param local the address the client connected to, null for a Unix-domain socket
 * @param tls how the connection is secured, null for cleartext
 * @param account what is charged for what the connection makes us hold; to be used on its event loop only
 */
public record ConnectionInfo(
        int listener,
        String listenerName,
        HttpVersion version,
        SourceAddress peer,
        SourceAddress client,
        @Nullable InetSocketAddress local,
        @Nullable TlsInfo tls,
        Account account) {
    /** Makes a connection of a client that is the peer, and may make us hold any amount: for tests. */
    public ConnectionInfo(
            int listener,
            String listenerName,
            HttpVersion version,
            @Nullable InetSocketAddress client,
            @Nullable InetSocketAddress local,
            @Nullable TlsInfo tls) {
        this(
                listener,
                listenerName,
                version,
                SourceAddress.of(client),
                SourceAddress.of(client),
                local,
                tls,
                Account.UNLIMITED);
    }

    /** Returns the same connection with another account, for what does not count against the client. */
    public ConnectionInfo withAccount(Account other) {
        return new ConnectionInfo(listener, listenerName, version, peer, client, local, tls, other);
    }

    /** Returns whose fault it is if it holds much: the same object for everything that is added up. */
    public Object culprit() {
        Object owner = account.client();
        return owner == null ? this : owner;
    }

    /** Returns the scheme a request without one is taken to have. */
    public AsciiString scheme() {
        return Scheme.of(tls != null);
    }

    /** What was read in the client's certificates takes so many bytes more, until the connection ends. */
    public void chargeClientChain(long bytes) {
        if (tls != null && tls.clientChain != null) {
            tls.clientChain.charge(account, bytes);
        }
    }

    /**
     * The security of a connection.
     *
     * @param protocol such as {@code TLSv1.3}
     * @param cipher the cipher suite's name
     * @param serverName the name the client asked for (SNI), or null
     * @param clientSubject the distinguished name of the verified client certificate, or null
     * @param clientChain the verified client certificate and those sent with it, or null
     * @param clientUntilMillis when that certificate expires, in milliseconds since 1970; never without one
     * @param resumed whether an earlier session was resumed
     * @param handshakeNanos how long the handshake took
     */
    public record TlsInfo(
            String protocol,
            String cipher,
            @Nullable String serverName,
            @Nullable String clientSubject,
            @Nullable ClientChain clientChain,
            long clientUntilMillis,
            boolean resumed,
            long handshakeNanos) {
        /** Stands for a certificate that never expires. */
        public static final long NEVER = Long.MAX_VALUE;

        /** Makes what is known of a client whose certificate, if it has one, does not expire: for tests. */
        public TlsInfo(
                String protocol,
                String cipher,
                @Nullable String serverName,
                @Nullable String clientSubject,
                boolean resumed,
                long handshakeNanos) {
            this(protocol, cipher, serverName, clientSubject, null, NEVER, resumed, handshakeNanos);
        }
    }
}
