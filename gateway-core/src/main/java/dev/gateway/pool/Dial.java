package dev.gateway.pool;

import dev.gateway.net.ByteCounter;
import dev.gateway.net.ClientTls;
import dev.gateway.stream.Cause;
import dev.gateway.time.Timer;
import dev.gateway.upstream.UpstreamSettings.Protocol;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes one connection for a pool: resolves the name, tries its addresses in turn, secures the connection, settles on a
 * protocol. Ends in exactly one of {@link EndpointPool#onDialed} and {@link EndpointPool#onDialFailed}.
 */
final class Dial {
    private static final String UNIX = "unix:";
    private static final int MAX_ADDRESSES = 4;
    private static final long MIN_READY_MILLIS = 1000;

    private final EndpointPool pool;
    private final int turn;
    private SocketAddress[] addresses = {};
    private int tried;
    private long startNanos;
    private long connectedNanos;
    private long tlsNanos;
    private boolean done;
    private boolean spoilt;
    private @Nullable Channel channel;
    private @Nullable PooledConnection connection;

    /** Limits the wait for the first SETTINGS frame of an HTTP/2 peer. */
    private final Timer readyTimer = new Timer() {
        @Override
        protected void onExpired() {
            fail(Cause.CONNECT_TIMEOUT, "no HTTP/2 settings in time");
        }
    };

    /** Makes the attempt; the turn says which of several addresses is the first. */
    Dial(EndpointPool pool, int turn) {
        this.pool = pool;
        this.turn = turn;
    }

    void start() {
        String host = pool.endpoint.host();
        if (host.startsWith(UNIX)) {
            connect(pool.loopPools.transport.unixAddress(Path.of(host.substring(UNIX.length()))));
        } else {
            pool.loopPools.resolver.resolve(pool.loopPools.loop, host).addListener(this::onResolved);
        }
    }

    private void onResolved(Future<? super List<InetAddress>> resolved) {
        if (!resolved.isSuccess()) {
            fail(Cause.DNS_FAILED, describe(resolved.cause()));
            return;
        }
        @SuppressWarnings("unchecked")
        List<InetAddress> found = (List<InetAddress>) resolved.getNow();
        int count = Math.min(found.size(), MAX_ADDRESSES);
        SocketAddress[] chosen = new SocketAddress[count];
        for (int i = 0; i < count; i++) {
            InetAddress address = found.get(Math.floorMod(turn + i, found.size()));
            chosen[i] = new InetSocketAddress(address, pool.endpoint.port());
        }
        connect(chosen);
    }

    private void connect(SocketAddress... all) {
        addresses = all;
        startNanos = now();
        connectNext();
    }

    private void connectNext() {
        SocketAddress address = addresses[tried];
        long millis = pool.shared.settings.connectMillis();
        if (millis > 0) {
            // What is left is shared by the addresses left, so that a dead one does not use up all of it.
            long left = millis - (now() - startNanos) / 1_000_000;
            millis = Math.max(1, left / (addresses.length - tried));
        }
        tried++;
        pool.loopPools
                .transport
                .client(pool.loopPools.loop, address, millis)
                .disableResolver()
                .handler(new DialHandler())
                .connect()
                .addListener((ChannelFuture future) -> {
                    if (!future.isSuccess()) {
                        onConnectFailed(future.cause());
                    }
                });
    }

    private void onConnectFailed(Throwable cause) {
        if (tried < addresses.length) {
            connectNext();
        } else {
            fail(
                    cause instanceof ConnectTimeoutException ? Cause.CONNECT_TIMEOUT : Cause.CONNECT_FAILED,
                    describe(cause));
        }
    }

    private void fail(Cause cause, String detail) {
        if (!done) {
            done = true;
            readyTimer.cancel();
            if (channel != null) {
                channel.close();
            }
            pool.onDialFailed(EndpointPool.failure(cause, pool.endpoint + ": " + detail));
        }
    }

    private long now() {
        return pool.loopPools.wheel.nanoTime();
    }

    /** The innermost reason, which is the one that tells something, in one line. */
    private static String describe(Throwable failure) {
        Throwable innermost = failure;
        while (innermost.getCause() != null) {
            innermost = innermost.getCause();
        }
        String message = innermost.getMessage();
        String text = message == null ? innermost.getClass().getSimpleName() : message;
        return text.replace('\n', ' ').replace('\r', ' ');
    }

    private void establish(Channel established, @Nullable String alpn) {
        boolean http2 = "h2".equals(alpn) || pool.shared.settings.protocol() == Protocol.H2C;
        if (!http2 && pool.shared.settings.protocol() == Protocol.H2) {
            fail(Cause.TLS_FAILED, "the endpoint does not offer h2");
            return;
        }
        connection = http2 ? new Http2Pooled(established, pool, this) : new Http1Pooled(established, pool);
        if (http2) {
            pool.loopPools.wheel.arm(readyTimer, Math.max(MIN_READY_MILLIS, pool.shared.settings.connectMillis()));
            established
                    .closeFuture()
                    .addListener(closed -> fail(Cause.CONNECT_FAILED, "closed before it sent HTTP/2 settings"));
        }
        established.pipeline().addLast(connection.handler());
        if (!http2) {
            onReady();
        }
    }

    /** Streams may be opened on the connection. */
    void onReady() {
        if (!done && connection != null) {
            done = true;
            readyTimer.cancel();
            pool.observer.onConnected(connectedNanos - startNanos, tlsNanos);
            pool.onDialed(connection);
        }
    }

    /** In the pipeline from the start; tells each step, until the connection is the pool's. */
    private final class DialHandler extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            channel = ctx.channel();
            if (pool.isClosed()) {
                fail(Cause.DRAIN, "the upstream has been removed");
                return;
            }
            connectedNanos = now();
            ctx.pipeline().addFirst(new ByteCounter(pool.observer));
            ClientTls tls = pool.shared.tls;
            if (tls == null) {
                handOver(ctx, null);
            } else {
                String host = pool.endpoint.host();
                // Before this handler, so that its event comes here.
                ctx.pipeline()
                        .addBefore(
                                ctx.name(),
                                null,
                                tls.newHandler(
                                        ctx.alloc(), host.startsWith(UNIX) ? "localhost" : host, pool.endpoint.port()));
            }
        }

        private void handOver(ChannelHandlerContext ctx, @Nullable String alpn) {
            ctx.pipeline().remove(this);
            establish(ctx.channel(), alpn);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof SslHandshakeCompletionEvent handshake && !done) {
                if (handshake.isSuccess()) {
                    tlsNanos = now() - connectedNanos;
                    SslHandler handler = ctx.pipeline().get(SslHandler.class);
                    handOver(ctx, handler.applicationProtocol());
                } else {
                    fail(Cause.TLS_FAILED, describe(handshake.cause()));
                }
            } else if (event instanceof ChannelInputShutdownEvent && channel == null && !spoilt) {
                spoilt = true;
                tried--; // as below, but this socket reads no more: the same address again, once
                ctx.close();
            } else {
                ctx.fireUserEventTriggered(event);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            fail(Cause.CONNECT_FAILED, "closed while it was being established");
            ctx.fireChannelInactive();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (channel == null) {
                // The connect promise tells of failures. This is an event of the socket that had this file descriptor
                // until a moment ago, which epoll reported in the same batch.
                return;
            }
            fail(pool.shared.tls == null ? Cause.CONNECT_FAILED : Cause.TLS_FAILED, describe(cause));
        }
    }
}
