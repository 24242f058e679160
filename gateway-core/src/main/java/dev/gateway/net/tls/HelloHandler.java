package dev.gateway.net.tls;

import dev.gateway.net.tls.ClientHello.Hello;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.BufferCost;
import dev.gateway.overload.memory.UnfinishedInput;
import dev.gateway.stream.HandshakeFailure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.AbstractSniHandler;
import io.netty.handler.ssl.SniCompletionEvent;
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
 * clients: BoringSSL as Netty has it knows no such setting. Gives way to a {@link RecordHandler} and the TLS handler.
 */
final class HelloHandler extends AbstractSniHandler<SslContext> {
    // RFC 8446, section 4, and RFC 5246, section 7.4: a handshake message's length is behind its type, in the first
    // record.
    private static final int RECORD_HEADER = 5;
    private static final int MESSAGE_LENGTH = RECORD_HEADER + 1;
    private static final int MESSAGE_HEADER = 4;

    // RFC 8446, section 6
    private static final int ALERT_RECORD = 21;
    private static final int FATAL = 2;
    private static final int UNRECOGNIZED_NAME = 112;
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
    private int alert; // that ends the handshake, 0 for none

    /** What it asks of its listener. */
    interface Server {
        /** Returns the protocols that are served; empty if the client's wish does not matter. */
        List<String> protocols();

        /** Returns the context for clients that ask for no name. */
        SslContext context();

        /**
         * Returns the context for a client, null to refuse the name that it asks for.
         *
         * @param name in lower case; null if the client asks for none
         * @param hello the body of its hello, which is in order
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
        super(ClientHello.MAX_BYTES, 0); // BoringSSL takes no longer one
        this.server = server;
        this.account = account;
        this.handshakeMillis = handshakeMillis;
    }

    /** The parent's timer would keep a connection that has been closed meanwhile in memory until it expires. */
    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        if (handshakeMillis > 0) {
            timeout = ctx.executor().schedule(() -> onLate(ctx), handshakeMillis, TimeUnit.MILLISECONDS);
        }
    }

    private void onLate(ChannelHandlerContext ctx) {
        ctx.fireUserEventTriggered(new SniCompletionEvent(
                new SslHandshakeTimeoutException("handshake timed out after " + handshakeMillis + " ms")));
        ctx.close();
    }

    @Override
    protected void handlerRemoved0(ChannelHandlerContext ctx) throws Exception {
        if (timeout != null) {
            timeout.cancel(false);
        }
        super.handlerRemoved0(ctx);
        if (unfinished != null) {
            unfinished.release(); // the TLS handler has it
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        super.channelRead(ctx, message);
        if (!ctx.isRemoved()) {
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
        if (!waiting.hold(unread.isReadable() ? BufferCost.direct(unread) + joined(unread) : 0)) {
            endUnfinished(ctx);
        }
    }

    /** Returns the capacity of the buffer in which the parent class joins the records of a hello, 0 if it has made none. */
    private static long joined(ByteBuf unread) {
        int at = unread.readerIndex();
        int readable = unread.readableBytes();
        if (readable < RECORD_HEADER + MESSAGE_HEADER) {
            return 0;
        }
        int record = unread.getUnsignedShort(at + 3);
        int message = unread.getUnsignedMedium(at + MESSAGE_LENGTH);
        boolean begun = readable >= RECORD_HEADER + record && record < MESSAGE_HEADER + message;
        return begun ? Math.min(message, ClientHello.MAX_BYTES) : 0;
    }

    private static void endUnfinished(ChannelHandlerContext ctx) {
        ctx.fireExceptionCaught(new RefusedHandshakeException(HandshakeFailure.OVERLOAD));
        ctx.close();
    }

    /** Returns the name that the client asks for, without a dot at its end; null if it asks for none. */
    @Nullable
    String serverName() {
        return serverName;
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        if (alert != 0) {
            in.skipBytes(in.readableBytes()); // that it was refused has been said
        } else {
            super.decode(ctx, in, out);
        }
    }

    @Override
    protected Future<SslContext> lookup(ChannelHandlerContext ctx, @Nullable ByteBuf body) {
        ClientHello.Reading reading = body == null ? null : ClientHello.readBody(body);
        if (ClientHello.BAD_NAME.equals(reading)) {
            return refuse(ctx, UNRECOGNIZED_NAME, HandshakeFailure.SERVER_NAME);
        }
        if (body == null || !(reading instanceof Hello hello)) {
            return ctx.executor().newSucceededFuture(server.context()); // whose handler says what is wrong with it
        }
        serverName = hello.serverName();
        if (!isSpoken(hello.protocols())) {
            return refuse(ctx, NO_APPLICATION_PROTOCOL, HandshakeFailure.APPLICATION_PROTOCOL);
        }
        SslContext context = server.context(serverName, body);
        return context != null
                ? ctx.executor().newSucceededFuture(context)
                : refuse(ctx, UNRECOGNIZED_NAME, HandshakeFailure.SERVER_NAME);
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

    private Future<SslContext> refuse(ChannelHandlerContext ctx, int description, HandshakeFailure reason) {
        alert = description;
        return ctx.executor().newFailedFuture(new RefusedHandshakeException(reason));
    }

    @Override
    protected Future<SslContext> lookup(ChannelHandlerContext ctx, @Nullable String name) throws SSLException {
        throw new SSLException("only whole hellos are looked up");
    }

    @Override
    protected void onLookupComplete(ChannelHandlerContext ctx, @Nullable String name, Future<SslContext> found) {
        SslContext context = found.getNow();
        if (context == null) {
            ctx.writeAndFlush(Unpooled.wrappedBuffer(
                    new byte[] {ALERT_RECORD, 3, 3, 0, 2, FATAL, (byte) alert})); // then the failure closes
            return;
        }
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
        ctx.fireExceptionCaught(cause);
        ctx.close();
    }
}
