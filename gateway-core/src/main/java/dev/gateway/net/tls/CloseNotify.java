package dev.gateway.net.tls;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.ReferenceCountedOpenSslEngine;
import io.netty.handler.ssl.SslHandler;
import io.netty.internal.tcnative.SSL;
import io.netty.util.ReferenceCountUtil;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS close_notify: makes the peer's close_notify the end of one direction (RFC 8446, section 6.1), reported like a FIN.
 * Netty's engine over BoringSSL would end both, unless it believes that it has done so already; and once we have ended
 * ours, it would keep parts of records back. Stands before the TLS handler of a connection, whose event loop it is confined
 * to.
 */
public final class CloseNotify extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(CloseNotify.class);

    /** What the engine asks before it ends both directions, and after it has; null if this Netty has it no more. */
    private static final @Nullable VarHandle ENGINE_CLOSED = find();

    private static final ByteBuffer NOTHING = ByteBuffer.allocateDirect(0);

    private final SslHandler tls;
    private final ReferenceCountedOpenSslEngine engine;
    private boolean received;

    private CloseNotify(SslHandler tls, ReferenceCountedOpenSslEngine engine) {
        this.tls = tls;
        this.engine = engine;
    }

    private static @Nullable VarHandle find() {
        Class<?> owner = ReferenceCountedOpenSslEngine.class;
        try {
            return MethodHandles.privateLookupIn(owner, MethodHandles.lookup())
                    .findVarHandle(owner, "receivedShutdown", boolean.class);
        } catch (ReflectiveOperationException e) {
            log.warn("Tunnels over TLS cannot be half-closed with this version of Netty", e);
            return null;
        }
    }

    /** Lets the peer of an established TLS connection end its direction alone, if its engine can be told to. */
    public static void allow(SslHandler tls, ChannelPipeline pipeline) {
        if (ENGINE_CLOSED != null
                && tls.engine() instanceof ReferenceCountedOpenSslEngine engine
                && pipeline.get(CloseNotify.class) == null) {
            ENGINE_CLOSED.set(engine, true);
            pipeline.addBefore(pipeline.context(tls).name(), null, new CloseNotify(tls, engine));
        }
    }

    /** Whether the peer of a TLS connection has said by it that nothing follows. */
    public static boolean isReceived(SslHandler tls, Channel channel) {
        CloseNotify watched = channel.pipeline().get(CloseNotify.class);
        return watched == null ? tls.engine().isInboundDone() : watched.received;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws SSLException {
        if (received) {
            ReferenceCountUtil.release(message); // nobody would take it from the TLS handler
        } else {
            ctx.fireChannelRead(message);
            passOnRest(ctx);
        }
    }

    /**
     * Passes on what is left of a decrypted record. Once our direction has ended, the engine says so instead of that it
     * needs more room, and the TLS handler would come for the rest with the peer's next record.
     */
    private void passOnRest(ChannelHandlerContext ctx) throws SSLException {
        long pointer = engine.isOutboundDone() ? engine.sslPointer() : 0; // 0 also once the connection is closed
        int length = pointer == 0 ? 0 : SSL.sslPending(pointer);
        if (length > 0) {
            ByteBuf rest = ctx.alloc().directBuffer(length);
            try {
                SSLEngineResult result = engine.unwrap(NOTHING, rest.nioBuffer(0, length));
                rest.writerIndex(result.bytesProduced());
                ctx.pipeline().context(tls).fireChannelRead(rest.retain());
            } finally {
                rest.release();
            }
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        ctx.fireChannelReadComplete();
        if (!received && hasCome()) {
            received = true;
            ctx.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent && hasCome()) {
            received = true; // io_uring reports a FIN before the end of the reads that it came with
        }
        ctx.fireUserEventTriggered(event);
    }

    private boolean hasCome() {
        long pointer = engine.sslPointer(); // 0 once the connection is closed
        return pointer != 0 && (SSL.getShutdown(pointer) & SSL.SSL_RECEIVED_SHUTDOWN) != 0;
    }
}
