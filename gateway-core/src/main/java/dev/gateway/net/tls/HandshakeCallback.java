package dev.gateway.net.tls;

import dev.gateway.overload.memory.Account;
import dev.gateway.stream.ConnectionInfo.TlsInfo;
import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/** TLS handshake callback: told how a handshake with a client ended, once, on the connection's event loop. */
public interface HandshakeCallback {
    /** Returns the account of the connection, which is charged for what has come of a handshake or of a record. */
    default Account account() {
        return Account.UNLIMITED;
    }

    /**
     * The connection is secured; no data has been read yet. The callback adds the handlers of the protocol.
     *
     * @param protocol what ALPN settled on, or null if nothing was
     */
    void onSecured(Channel channel, @Nullable String protocol, TlsInfo info);

    /** The handshake failed or took too long; the connection is being closed. */
    void onHandshakeFailed(Channel channel, Throwable failure);
}
