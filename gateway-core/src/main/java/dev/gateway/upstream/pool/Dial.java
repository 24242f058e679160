package dev.gateway.upstream.pool;

import dev.gateway.format.AccountFile.NameAndPassword;
import dev.gateway.net.ByteCounter;
import dev.gateway.net.ParentHandshake;
import dev.gateway.net.ProxyHeader;
import dev.gateway.net.tls.ClientTls;
import dev.gateway.net.tls.ClientTls.Alpn;
import dev.gateway.net.tls.UpstreamRecordHandler;
import dev.gateway.net.transport.Shortage;
import dev.gateway.overload.memory.Account;
import dev.gateway.protocol.http1.ConnectHandshake;
import dev.gateway.protocol.socks.SocksHandshake;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.time.Timer;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.dial.AddressPolicy;
import dev.gateway.upstream.dial.DialSettings;
import dev.gateway.upstream.dial.ParentProxy;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.stream.ClientPreamble;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Makes one connection to an endpoint: a socket, then TLS if configured, then the handshake of a parent proxy if there is
 * one. Confined to its event loop; ends in one call of its callback, or in {@link #cancel}.
 */
final class Dial implements HappyEyeballs.Callback, ParentHandshake.Outcome {
    private final UpstreamContext context;
    private final DialTarget target;
    private final Endpoint endpoint;
    private final Alpn alpn;
    private final @Nullable ClientPreamble preamble;
    private final Callback callback;
    private final DialRoom.Claim claim;
    private final boolean waitsForDescriptor;
    private @Nullable HappyEyeballs happyEyeballs;
    private int turn;
    private long claimedNanos;
    private long startNanos;
    private long connectedNanos;
    private long tlsNanos;
    private boolean established; // what fails from here on is a handshake
    private boolean handshaking; // the TLS handshake is in progress
    private boolean done;
    private @Nullable Channel channel;
    private @Nullable String protocol;
    private final Steps steps = new Steps();

    /** Limits the time of a parent's handshake. */
    private final Timer parentTimer = new Timer() {
        @Override
        protected void onExpired() {
            fail(Cause.CONNECT_TIMEOUT, "no answer in " + context.settings.connectMillis() + " ms");
        }
    };

    /** The code that wants the connection. Gets the outcome, maybe before {@link Dial#start} returns. */
    interface Callback {
        /**
         * The connection is established. The callback must add a handler at once; the pipeline has only the byte counter,
         * and TLS with what charges its records.
         *
         * @param protocol the protocol that ALPN has negotiated
         */
        void onDialed(Channel channel, @Nullable String protocol);

        /** Returns the account that is charged for a lookup of the name, if a request has chosen it. */
        Account account();

        /** Whether the connection is no longer needed, because the endpoint or upstream has been removed. */
        boolean isClosed();

        /** No connection could be made, or {@link #onDialed} threw an exception. */
        void onDialFailed(Failure failure);
    }

    /**
     * Prepares a connection.
     *
     * @param preamble what to tell the endpoint or the parent about the client; null for nothing
     * @param waitsForDescriptor whether to wait for a file descriptor if none is left
     */
    Dial(
            UpstreamContext context,
            DialTarget target,
            Alpn alpn,
            @Nullable ClientPreamble preamble,
            boolean waitsForDescriptor,
            Callback callback) {
        this.context = context;
        this.target = target;
        this.endpoint = target.endpoint();
        this.alpn = alpn;
        this.preamble = preamble;
        this.waitsForDescriptor = waitsForDescriptor;
        this.callback = callback;
        this.claim = context.resources.room.claim(this::onRoom);
    }

    /**
     * Begins.
     *
     * @param addressTurn selects which of several addresses is tried first
     */
    void start(int addressTurn) {
        turn = addressTurn;
        claimedNanos = now();
        claim();
    }

    /** Waits for a file descriptor if none is left, at most as long as connecting may take. */
    private void claim() {
        if (!waitsForDescriptor) {
            claim.beginAtOnce();
            return;
        }
        long limit = context.settings.connectMillis();
        long left = limit - (now() - claimedNanos) / 1_000_000;
        if (limit > 0 && left <= 0) {
            onRoom(false);
        } else {
            claim.begin(limit == 0 ? 0 : left);
        }
    }

    private void onRoom(boolean found) {
        if (done) {
            return;
        }
        if (!found) {
            fail(Cause.OVERLOAD, "no file descriptor is left for connections to upstreams");
            return;
        }
        try {
            connect();
        } catch (Throwable e) { // else the waiting caller would never get an answer
            fail(Cause.CONNECT_FAILED, DialFailure.describe(e));
        }
    }

    private void connect() {
        if (target.isSocketFile()) {
            connectToFile(target.socketFile());
            return;
        }
        UpstreamSettings settings = context.settings;
        DialSettings dialSettings = settings.dialSettings();
        AddressPolicy policy = target.parent() == null
                ? dialSettings.addresses()
                : dialSettings.parents().addresses();
        HappyEyeballs.ConnectTarget connectTarget = new HappyEyeballs.ConnectTarget(
                target.host(),
                target.port(),
                target.isRequested(),
                policy,
                turn,
                settings.connectMillis(),
                callback.account());
        happyEyeballs = new HappyEyeballs(context.resources, connectTarget, this);
        happyEyeballs.start();
    }

    private void connectToFile(Path socket) {
        AddressPolicy policy = context.settings.dialSettings().addresses();
        String refusal = policy == null ? null : policy.refuseFile(socket);
        if (refusal != null) {
            onFailed(Cause.POLICY_ADDRESS, refusal);
            return;
        }
        long startNanos = now();
        LoopResources resources = context.resources;
        ChannelHandler opening = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                ctx.pipeline().remove(this);
                onConnected(ctx.channel(), startNanos);
            }
        };
        channel = resources.connector.connect(
                resources.loop,
                resources.connector.unixAddress(socket),
                context.settings.connectMillis(),
                opening,
                cause -> onFailed(causeOf(cause), DialFailure.describe(cause)));
    }

    private static Cause causeOf(Throwable failure) {
        if (Shortage.isOurs(failure, null)) {
            return Cause.OVERLOAD;
        }
        return failure instanceof ConnectTimeoutException ? Cause.CONNECT_TIMEOUT : Cause.CONNECT_FAILED;
    }

    @Override
    public void onFailed(Cause cause, String detail) {
        if (waitsForDescriptor && cause == Cause.OVERLOAD && context.resources.room.isFull() && !done) {
            claim(); // another event loop has taken the descriptor meanwhile
            return;
        }
        // If the policy forbids what no client has asked for, that is a mistake of the configuration or of DNS.
        fail(cause == Cause.POLICY_ADDRESS && !target.isRequested() ? Cause.CONNECT_FAILED : cause, detail);
    }

    @Override
    public void onConnected(Channel connected, long begunNanos) {
        channel = connected;
        startNanos = begunNanos;
        if (done) {
            connected.close();
            return;
        }
        if (callback.isClosed()) {
            fail(Cause.DRAIN, "the upstream has been removed");
            return;
        }
        try {
            establish(connected);
        } catch (Throwable e) { // else the waiting caller would never get an answer
            fail(Cause.CONNECT_FAILED, DialFailure.describe(e));
        }
    }

    private void establish(Channel connected) {
        connectedNanos = now();
        established = true;
        connected.pipeline().addLast(new ByteCounter(context.observer, context.resources.wheel), steps);
        sendProxyHeader(connected);
        if (target.parent() != null && context.settings.connectMillis() > 0) {
            long left = context.settings.connectMillis() - (connectedNanos - startNanos) / 1_000_000;
            context.resources.wheel.arm(parentTimer, Math.max(1, left));
        }
        ClientTls tls = context.shared.tls(target);
        if (tls == null) {
            onSecured();
        } else {
            handshaking = true;
            addBeforeSteps(new UpstreamRecordHandler(context.resources.account));
            addBeforeSteps(tls.newHandler(
                    connected.alloc(),
                    target.serverName(),
                    target.port(),
                    target.parent() == null ? alpn : Alpn.HTTP1));
        }
    }

    private void addBeforeSteps(ChannelHandler handler) {
        ChannelPipeline pipeline = Objects.requireNonNull(channel).pipeline();
        pipeline.addBefore(pipeline.context(steps).name(), null, handler);
    }

    private void onSecured() {
        ParentProxy parent = target.parent();
        if (parent == null || !target.isThrough()) {
            finish();
            return;
        }
        NameAndPassword shown = parent.credentials();
        addBeforeSteps(
                parent.isHttp()
                        ? new ConnectHandshake(
                                endpoint.toString(),
                                preamble == null ? "" : preamble.via(),
                                shown == null ? null : shown.basic(),
                                this)
                        : new SocksHandshake(
                                new SocksHandshake.Destination(endpoint.host(), endpoint.port()), shown, this));
    }

    @Override
    public void onAgreed() {
        finish();
    }

    @Override
    public void onRefused(Cause cause, String detail) {
        fail(cause, detail);
    }

    /** Sends the PROXY protocol header with the client's address, before anything else. */
    private void sendProxyHeader(Channel connected) {
        if (preamble != null) {
            InetSocketAddress client = preamble.client().socketAddress();
            InetSocketAddress local = preamble.local();
            switch (context.settings.dialSettings().proxyHeader()) {
                case NONE -> {}
                case V1 -> connected.writeAndFlush(ProxyHeader.version1(client, local));
                case V2 -> connected.writeAndFlush(ProxyHeader.version2(client, local));
            }
        }
    }

    private void finish() {
        context.resources.requireLoop();
        Channel connected = channel;
        if (connected != null && !done) {
            done = true;
            parentTimer.cancel();
            connected.pipeline().remove(steps);
            context.observer.onConnected(connectedNanos - startNanos, tlsNanos);
            try {
                callback.onDialed(connected, protocol);
            } catch (
                    Throwable e) { // Netty would tell it to a handler, and the waiting caller would never get an answer
                connected.close();
                callback.onDialFailed(DialFailure.of(Cause.CONNECT_FAILED, target + ": " + DialFailure.describe(e)));
            }
        }
    }

    private void fail(Cause cause, String detail) {
        context.resources.requireLoop();
        if (!done) {
            cancel();
            callback.onDialFailed(DialFailure.of(cause, target + ": " + detail));
        }
    }

    /** Whether the endpoint has accepted the connection. */
    boolean isEstablished() {
        return established;
    }

    /** Cancels it; the callback is not called. Does nothing after the outcome. */
    void cancel() {
        if (!done) {
            done = true;
            parentTimer.cancel();
            claim.withdraw();
            if (happyEyeballs != null) {
                happyEyeballs.cancel();
            }
            if (channel != null) {
                channel.close();
            }
        }
    }

    private long now() {
        return context.now();
    }

    /** The last handler of the pipeline until the callback gets the connection. */
    private final class Steps extends ChannelInboundHandlerAdapter {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof SslHandshakeCompletionEvent handshake && !done) {
                if (handshake.isSuccess()) {
                    SslHandler handler = ctx.pipeline().get(SslHandler.class);
                    handshaking = false;
                    protocol = handler.applicationProtocol();
                    tlsNanos = now() - connectedNanos;
                    onSecured();
                } else if (handshake.cause() instanceof SslHandshakeTimeoutException) {
                    fail(Cause.CONNECT_TIMEOUT, "no TLS handshake in " + context.settings.tlsHandshakeMillis() + " ms");
                } else {
                    fail(Cause.TLS_FAILED, DialFailure.describe(handshake.cause()));
                }
            } else if (handshaking && event instanceof ChannelInputShutdownEvent) {
                fail(Cause.TLS_FAILED, "closed the connection during the handshake");
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            fail(Cause.CONNECT_FAILED, "closed while it was being established");
            ctx.fireChannelInactive();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            fail(handshaking ? Cause.TLS_FAILED : Cause.CONNECT_FAILED, DialFailure.describe(cause));
        }
    }
}
