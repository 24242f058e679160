package dev.gateway.pool;

import dev.gateway.net.ByteCounter;
import dev.gateway.net.ClientTls;
import dev.gateway.net.ClientTls.Alpn;
import dev.gateway.net.ProxyHeader;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Hop;
import dev.gateway.stream.RetrySafety;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.UpstreamSettings;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Makes one connection to an endpoint: a socket, then TLS if the upstream has it. Confined to its event loop; ends in one
 * call of its callback, or in {@link #cancel}.
 */
final class Dial implements Race.Callback {
    private static final String UNIX = "unix:";

    private final Claimant claimant;
    private final Endpoint endpoint;
    private final Alpn alpn;
    private final @Nullable ConnectionInfo client;
    private final Callback callback;
    private @Nullable Race race;
    private long startNanos;
    private long connectedNanos;
    private boolean done;
    private @Nullable Channel channel;

    /** Told the outcome, maybe before {@link Dial#start} returns. */
    interface Callback {
        /**
         * The connection is there. Whoever takes it adds a handler at once; nothing else is in the pipeline but what
         * counts bytes and TLS.
         *
         * @param protocol what was agreed on by ALPN
         */
        void onDialed(Channel channel, @Nullable String protocol);

        /** There is no connection to be had. */
        void onDialFailed(Failure failure);
    }

    /**
     * Prepares a connection.
     *
     * @param claimant whose permit it uses
     * @param client whom the endpoint is told of, if the upstream wants that; null for nobody in particular
     */
    Dial(Claimant claimant, Endpoint endpoint, Alpn alpn, @Nullable ConnectionInfo client, Callback callback) {
        this.claimant = claimant;
        this.endpoint = endpoint;
        this.alpn = alpn;
        this.client = client;
        this.callback = callback;
    }

    /**
     * Begins.
     *
     * @param turn which of several addresses is the first to be tried
     */
    void start(int turn) {
        String host = endpoint.host();
        if (host.startsWith(UNIX)) {
            connectToFile(Path.of(host.substring(UNIX.length())));
            return;
        }
        UpstreamSettings settings = claimant.settings;
        Race.Course course =
                new Race.Course(host, endpoint.port(), settings.dialling().addresses(), turn, settings.connectMillis());
        race = new Race(claimant.loopPools, course, this);
        race.start();
    }

    private void connectToFile(Path socket) {
        long startNanos = now();
        LoopPools pools = claimant.loopPools;
        ChannelFuture connecting = pools.transport
                .client(pools.loop, pools.transport.unixAddress(socket), claimant.settings.connectMillis())
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        ctx.pipeline().remove(this);
                        onConnected(ctx.channel(), startNanos);
                    }
                })
                .connect();
        channel = connecting.channel();
        connecting.addListener(future -> {
            if (!future.isSuccess()) {
                boolean late = future.cause() instanceof ConnectTimeoutException;
                onFailed(late ? Cause.CONNECT_TIMEOUT : Cause.CONNECT_FAILED, describe(future.cause()));
            }
        });
    }

    @Override
    public void onFailed(Cause cause, String detail) {
        fail(cause, detail);
    }

    @Override
    public void onConnected(Channel connected, long begunNanos) {
        channel = connected;
        startNanos = begunNanos;
        if (done) {
            connected.close();
            return;
        }
        if (claimant.isClosed()) {
            fail(Cause.DRAIN, "the upstream has been removed");
            return;
        }
        connectedNanos = now();
        Steps steps = new Steps();
        connected.pipeline().addLast(new ByteCounter(claimant.observer), steps);
        introduce(connected);
        ClientTls tls = claimant.shared.tls();
        if (tls == null) {
            finish(steps, null, 0);
        } else {
            String name = endpoint.host().startsWith(UNIX) ? "localhost" : endpoint.host();
            SslHandler handler = tls.newHandler(connected.alloc(), name, endpoint.port(), alpn);
            connected.pipeline().addBefore(connected.pipeline().context(steps).name(), null, handler);
        }
    }

    /** Tells the endpoint of the client, before anything else. */
    private void introduce(Channel connected) {
        if (client != null) {
            switch (claimant.settings.dialling().proxyHeader()) {
                case NONE -> {}
                case V1 -> connected.writeAndFlush(ProxyHeader.version1(client.peer(), client.local()));
                case V2 -> connected.writeAndFlush(ProxyHeader.version2(client.peer(), client.local()));
            }
        }
    }

    private void finish(Steps steps, @Nullable String protocol, long tlsNanos) {
        Channel connected = channel;
        if (connected != null && !done) {
            done = true;
            connected.pipeline().remove(steps);
            claimant.observer.onConnected(connectedNanos - startNanos, tlsNanos);
            callback.onDialed(connected, protocol);
        }
    }

    private void fail(Cause cause, String detail) {
        if (!done) {
            cancel();
            callback.onDialFailed(failure(cause, endpoint + ": " + detail));
        }
    }

    /** Gives it up; the callback is not called. Does nothing once it was. */
    void cancel() {
        if (!done) {
            done = true;
            if (race != null) {
                race.cancel();
            }
            if (channel != null) {
                channel.close();
            }
        }
    }

    private long now() {
        return claimant.now();
    }

    /** Returns what a connection was made to. */
    static Hop hop(Channel established) {
        SocketAddress peer = established.remoteAddress();
        return new Hop(peer instanceof InetSocketAddress tcp ? NetUtil.toSocketAddressString(tcp) : "", "");
    }

    /** Returns a failure to get a connection: another attempt may be made, unless it would meet the same refusal. */
    static Failure failure(Cause cause, String detail) {
        return Failure.of(cause, cause == Cause.POLICY_ADDRESS ? RetrySafety.NEVER : RetrySafety.ALWAYS, detail);
    }

    /** Returns the innermost reason, which is the one that tells something, in one line. */
    static String describe(Throwable failure) {
        Throwable innermost = failure;
        while (innermost.getCause() != null) {
            innermost = innermost.getCause();
        }
        String message = innermost.getMessage();
        String text = message == null ? innermost.getClass().getSimpleName() : message;
        return text.replace('\n', ' ').replace('\r', ' ');
    }

    /** Last in the pipeline until the connection is handed over. */
    private final class Steps extends ChannelInboundHandlerAdapter {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof SslHandshakeCompletionEvent handshake && !done) {
                if (handshake.isSuccess()) {
                    SslHandler handler = ctx.pipeline().get(SslHandler.class);
                    finish(this, handler.applicationProtocol(), now() - connectedNanos);
                } else {
                    fail(Cause.TLS_FAILED, describe(handshake.cause()));
                }
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            fail(Cause.CONNECT_FAILED, "closed while it was being established");
            ctx.fireChannelInactive();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            fail(claimant.shared.isSecured() ? Cause.TLS_FAILED : Cause.CONNECT_FAILED, describe(cause));
        }
    }
}
