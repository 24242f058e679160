package dev.gateway.net.tls;

import dev.gateway.net.tls.ClientHello.Hello;
import dev.gateway.net.tls.ClientHello.Reading;
import dev.gateway.net.tls.ClientHello.Refused;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.BufferCost;
import dev.gateway.overload.memory.UnfinishedInput;
import dev.gateway.stream.HandshakeFailure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Reads what a TLS client says first, and decides by it: which certificate it is shown, or that there is no handshake. A
 * client that offers protocols of which none is served, or asks for a name that none of the certificates has, may have
 * been led here by somebody who wants one protocol or site to answer for another. The provider of TLS cannot refuse such
 * clients: BoringSSL as Netty has it knows no such setting. Gives way to a {@link RecordHandler} and the TLS handler once it
 * has accepted a hello: nothing else reaches the provider.
 */
final class HelloHandler extends ByteToMessageDecoder {
    private static final int RECORD_HEADER = 5;

    // RFC 8446, section 6
    private static final int ALERT_RECORD = 21;
    private static final int FATAL = 2;
    private static final int NO_APPLICATION_PROTOCOL = 120;

    private static final String HTTP_1_1 = "http/1.1";

    /** What curl offers that is to speak HTTP/1.0: to a server it is HTTP/1.1 by another version, and nothing else. */
    private static final String HTTP_1_0 = "http/1.0";

    private final Server server;
    private final Account account;
    private final long handshakeMillis;
    private @Nullable Future<?> timeout;
    private @Nullable String serverName;
    private @Nullable UnfinishedInput unfinished; // made if the hello does not come at once
    private boolean ended; // without a handshake

    /** What it asks of its listener. */
    interface Server {
        /** Returns the protocols that are served; empty if the client's wish does not matter. */
        List<String> protocols();

        /**
         * Returns the context for a client, null to refuse the name that it asks for.
         *
         * @param name in lower case; null if the client asks for none
         * @param hello what has come so far: it begins with the records of a hello that is in order
         */
        @Nullable
        SslContext context(@Nullable String name, ByteBuf hello);

        SslHandler handler(SslContext context, ChannelHandlerContext ctx);
    }

    /**
     * Makes it.
     *
     * @param account charged for what has come of a hello
     * @param handshakeMillis how long the handshake may take, 0 for no limit
     */
    HelloHandler(Server server, Account account, long handshakeMillis) {
        this.server = server;
        this.account = account;
        this.handshakeMillis = handshakeMillis;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        if (handshakeMillis > 0) {
            timeout = ctx.executor().schedule(() -> onLate(ctx), handshakeMillis, TimeUnit.MILLISECONDS);
        }
    }

    private void onLate(ChannelHandlerContext ctx) {
        fail(ctx, new SslHandshakeTimeoutException("handshake timed out after " + handshakeMillis + " ms"));
    }

    @Override
    protected void handlerRemoved0(ChannelHandlerContext ctx) {
        if (timeout != null) {
            timeout.cancel(false); // or it would keep a connection that is closed in memory until it expires
        }
        if (unfinished != null) {
            unfinished.release(); // the TLS handler has it
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        super.channelRead(ctx, message);
        if (!ctx.isRemoved() && !ended) {
            holdUnfinished(ctx);
        }
    }

    /** Charges the client for what has come of its hello. */
    private void holdUnfinished(ChannelHandlerContext ctx) {
        ByteBuf unread = internalBuffer();
        UnfinishedInput waiting = unfinished;
        if (waiting == null) {
            waiting = new UnfinishedInput(account, ctx.channel(), () -> endUnfinished(ctx));
            unfinished = waiting;
        }
        if (!waiting.hold(unread.isReadable() ? BufferCost.direct(unread) : 0)) {
            endUnfinished(ctx);
        }
    }

    private void endUnfinished(ChannelHandlerContext ctx) {
        fail(ctx, new RefusedHandshakeException(HandshakeFailure.OVERLOAD));
    }

    private void fail(ChannelHandlerContext ctx, SSLException failure) {
        ended = true;
        ctx.fireExceptionCaught(failure);
        ctx.close();
    }

    /** Returns the name that the client asks for, without a dot at its end; null if it asks for none. */
    @Nullable
    String serverName() {
        return serverName;
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        if (ended) {
            in.skipBytes(in.readableBytes()); // that has been said
            return;
        }
        if (in.readableBytes() >= RECORD_HEADER) {
            Reading reading = ClientHello.read(in);
            if (reading instanceof Hello hello) {
                answer(ctx, hello, in);
            } else if (reading instanceof Refused other) {
                onNoHello(ctx, other);
            }
        }
    }

    private void onNoHello(ChannelHandlerContext ctx, Refused other) {
        if (other.alert() == 0) {
            fail(ctx, new NotSslRecordException(other.reason()));
            return;
        }
        HandshakeFailure reason =
                switch (other.alert()) {
                    case ClientHello.UNRECOGNIZED_NAME -> HandshakeFailure.SERVER_NAME;
                    case ClientHello.PROTOCOL_VERSION -> HandshakeFailure.PROTOCOL_VERSION;
                    default -> HandshakeFailure.OTHER;
                };
        refuse(ctx, other.alert(), new RefusedHandshakeException(reason, other.reason()));
    }

    private void answer(ChannelHandlerContext ctx, Hello hello, ByteBuf in) {
        serverName = hello.serverName();
        if (!isSpoken(hello.protocols())) {
            refuse(ctx, NO_APPLICATION_PROTOCOL, new RefusedHandshakeException(HandshakeFailure.APPLICATION_PROTOCOL));
            return;
        }
        SslContext context = server.context(serverName, in);
        if (context == null) {
            refuse(ctx, ClientHello.UNRECOGNIZED_NAME, new RefusedHandshakeException(HandshakeFailure.SERVER_NAME));
        } else {
            secure(ctx, context);
        }
    }

    private boolean isSpoken(List<String> offered) {
        List<String> served = server.protocols();
        if (offered.isEmpty() || served.isEmpty()) {
            return true;
        }
        for (String each : offered) {
            if (served.contains(each) || (each.equals(HTTP_1_0) && served.contains(HTTP_1_1))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Sends an alert and closes. If the client is still sending, the kernel sends a reset, and the alert may be lost, as
     * may one of BoringSSL. To read on would take a timer, and would have to end when memory is short or the listener
     * drains. A client that keeps to the protocol sends hardly anything behind its hello.
     */
    private void refuse(ChannelHandlerContext ctx, int description, RefusedHandshakeException why) {
        ctx.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {ALERT_RECORD, 3, 3, 0, 2, FATAL, (byte) description}));
        fail(ctx, why);
    }

    /** Gives way to the handshake. */
    private void secure(ChannelHandlerContext ctx, SslContext context) {
        SslHandler handler = server.handler(context, ctx);
        boolean added = false;
        try {
            ctx.pipeline().addAfter(ctx.name(), null, handler);
            added = true;
        } finally {
            if (!added) {
                ReferenceCountUtil.safeRelease(handler.engine());
            }
        }
        ctx.pipeline().replace(this, null, new RecordHandler(account, handler.handshakeFuture()));
    }

    @Override
    @SuppressWarnings("deprecation") // of exceptionCaught in ChannelHandler, not in ChannelInboundHandler
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ended = true;
        ctx.fireExceptionCaught(cause);
        ctx.close();
    }
}
