package dev.gateway.upstream.pool;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.net.tls.ClientTls.Alpn;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.time.Timer;
import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/**
 * A new connection of a pool, until it is established and streams may be opened on it. Confined to its event loop; ends in
 * one call of its callback, or in {@link #cancel}.
 */
final class PendingConnection implements Dial.Callback, Http2Pooled.Opening {
    private static final long MIN_READY_MILLIS = 1000;

    private final EndpointContext endpoint;
    private final KeptConnections owner;
    private final Account account;
    private final Callback callback;
    private final Dial dial;
    private final long begunNanos;
    private boolean done;
    private @Nullable Channel channel;
    private @Nullable PooledConnection connection;

    /** Limits the wait for the first SETTINGS frame of an HTTP/2 peer. */
    private final Timer readyTimer = new Timer() {
        @Override
        protected void onExpired() {
            fail(Cause.CONNECT_TIMEOUT, "no HTTP/2 settings that allow a stream in time");
        }
    };

    /** Gets the outcome, maybe before {@link PendingConnection#start} returns. */
    interface Callback {
        /**
         * The connection is established and has room for a stream; its protocol's handler is in the pipeline.
         *
         * @param of what has made it
         * @param nanos how long it took
         */
        void onConnected(PendingConnection of, PooledConnection connection, long nanos);

        /** No connection could be made. */
        void onConnectFailed(PendingConnection of, Failure failure);
    }

    /**
     * Prepares a connection.
     *
     * @param owner will keep the connection
     * @param account charged for the lookup of a name that a request has chosen
     * @param waitsForDescriptor whether to wait for a file descriptor if none is left
     */
    PendingConnection(
            EndpointContext endpoint,
            KeptConnections owner,
            Account account,
            boolean waitsForDescriptor,
            Callback callback) {
        this.endpoint = endpoint;
        this.owner = owner;
        this.account = account;
        this.callback = callback;
        this.begunNanos = endpoint.now();
        this.dial = new Dial(
                endpoint,
                endpoint.target,
                endpoint.takesHttp1Only() ? Alpn.HTTP1 : Alpn.CONFIGURED,
                null,
                waitsForDescriptor,
                this);
    }

    /** Begins; the turn selects which of several addresses is tried first. */
    void start(int turn) {
        dial.start(turn);
    }

    /** Cancels it; the callback is not called. Does nothing after the outcome. */
    void cancel() {
        if (!done) {
            done = true;
            readyTimer.cancel();
            dial.cancel();
            if (channel != null) {
                channel.close();
            }
        }
    }

    @Override
    public Account account() {
        return account;
    }

    @Override
    public boolean isClosed() {
        return owner.isClosed();
    }

    @Override
    public void onDialFailed(Failure failure) {
        if (!done) {
            done = true;
            readyTimer.cancel();
            callback.onConnectFailed(this, judged(failure));
        }
    }

    @Override
    public void onDialed(Channel established, @Nullable String protocol) {
        channel = established;
        boolean http2 = "h2".equals(protocol) || endpoint.settings.protocol() == Protocol.H2C;
        if (!http2 && endpoint.settings.protocol() == Protocol.H2) {
            fail(Cause.TLS_FAILED, "the endpoint does not offer h2");
            return;
        }
        PooledConnection pooled = http2
                ? new Http2Pooled(established, endpoint, owner, this)
                : new Http1Pooled(established, endpoint, owner);
        connection = pooled;
        if (http2) {
            endpoint.resources.wheel.arm(readyTimer, Math.max(MIN_READY_MILLIS, endpoint.settings.connectMillis()));
            established
                    .closeFuture()
                    .addListener(closed -> fail(
                            Cause.CONNECT_FAILED,
                            "closed before it sent HTTP/2 settings, which a server without HTTP/2 does"));
        }
        established.pipeline().addLast(pooled.handler());
        if (!http2) {
            onReady();
        }
    }

    /** The handshake of the connection is complete. It may still have no room if the endpoint allows no streams yet. */
    @Override
    public void onReady() {
        if (!done && connection != null && connection.room() > 0) {
            done = true;
            readyTimer.cancel();
            callback.onConnected(this, connection, endpoint.now() - begunNanos);
        }
    }

    @Override
    public void onOtherProtocol(String detail) {
        fail(Cause.UPSTREAM_PROTOCOL_ERROR, detail);
    }

    private void fail(Cause cause, String detail) {
        if (!done) {
            cancel();
            callback.onConnectFailed(this, judged(DialFailure.of(cause, endpoint.target + ": " + detail)));
        }
    }

    /** A handshake for a name that a client has chosen says nothing about the endpoint, and fails elsewhere, too. */
    private Failure judged(Failure failure) {
        String name = endpoint.target.name();
        return name != null && dial.isEstablished() ? DialFailure.ofName(failure, name) : failure;
    }
}
