package dev.gateway.pool;

import dev.gateway.net.ClientTls.Alpn;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.time.Timer;
import dev.gateway.upstream.UpstreamSettings.Protocol;
import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/**
 * A connection on its way into a pool: dialled, then waited for until streams may be opened on it. Ends in exactly one of
 * {@link EndpointPool#onDialed} and {@link EndpointPool#onDialFailed}.
 */
final class Arrival implements Dial.Callback {
    private static final long MIN_READY_MILLIS = 1000;

    private final EndpointPool pool;
    private final long begunNanos;
    private boolean done;
    private @Nullable Channel channel;
    private @Nullable PooledConnection connection;

    /** Limits the wait for the first SETTINGS frame of an HTTP/2 peer. */
    private final Timer readyTimer = new Timer() {
        @Override
        protected void onExpired() {
            fail(Cause.CONNECT_TIMEOUT, "no HTTP/2 settings in time");
        }
    };

    Arrival(EndpointPool pool) {
        this.pool = pool;
        this.begunNanos = pool.now();
    }

    /** Begins; the turn says which of several addresses is tried first. */
    void start(int turn) {
        new Dial(pool, pool.way, pool.speaksHttp1Only() ? Alpn.HTTP1 : Alpn.CONFIGURED, null, this).start(turn);
    }

    @Override
    public void onDialFailed(Failure failure) {
        done = true;
        pool.onDialFailed(failure);
    }

    @Override
    public void onDialed(Channel established, @Nullable String protocol) {
        channel = established;
        boolean http2 = "h2".equals(protocol) || pool.settings.protocol() == Protocol.H2C;
        if (!http2 && pool.settings.protocol() == Protocol.H2) {
            fail(Cause.TLS_FAILED, "the endpoint does not offer h2");
            return;
        }
        PooledConnection arrived =
                http2 ? new Http2Pooled(established, pool, this) : new Http1Pooled(established, pool);
        connection = arrived;
        if (http2) {
            pool.loopPools.wheel.arm(readyTimer, Math.max(MIN_READY_MILLIS, pool.settings.connectMillis()));
            established
                    .closeFuture()
                    .addListener(closed -> fail(Cause.CONNECT_FAILED, "closed before it sent HTTP/2 settings"));
        }
        established.pipeline().addLast(arrived.handler());
        if (!http2) {
            onReady();
        }
    }

    /** Streams may be opened on the connection. */
    void onReady() {
        if (!done && connection != null) {
            done = true;
            readyTimer.cancel();
            pool.onDialed(connection, pool.now() - begunNanos);
        }
    }

    private void fail(Cause cause, String detail) {
        if (!done) {
            done = true;
            readyTimer.cancel();
            if (channel != null) {
                channel.close();
            }
            pool.onDialFailed(Dial.failure(cause, pool.way + ": " + detail));
        }
    }
}
