package dev.gateway.listener;

import dev.gateway.net.Drainable;
import dev.gateway.stream.Failure;
import dev.gateway.time.Timer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells HTTP/2 with prior knowledge (RFC 9113, section 3.4) from HTTP/1.1 in cleartext, by as few bytes as it takes: no
 * request of HTTP/1.1 begins with the first line of the preface. Leaves the pipeline once it knows.
 */
final class PrefaceDetector extends ChannelInboundHandlerAdapter implements Drainable {
    private static final Logger log = LoggerFactory.getLogger(PrefaceDetector.class);
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n".getBytes(StandardCharsets.US_ASCII);

    private final Connection connection;
    private final Timeout timeout = new Timeout();
    private ByteBuf held = Unpooled.EMPTY_BUFFER; // what matches the preface so far
    private @Nullable ChannelHandlerContext ctx;

    PrefaceDetector(Connection connection) {
        this.connection = connection;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        arm(connection.settings().protocols().http1().idleMillis());
    }

    private void arm(long millis) {
        if (millis > 0) {
            connection.owner.loop.timers().arm(timeout, millis);
        }
    }

    /** A client that has sent nothing may be about to; then the protocol that it speaks drains. */
    @Override
    public void drain() {
        if (!held.isReadable()) {
            timeout.cancel();
            arm(FIRST_REQUEST_MILLIS);
        }
    }

    @Override
    public boolean isIdle() {
        return !held.isReadable();
    }

    @Override
    public void end(Failure failure) {
        if (ctx != null) {
            ctx.close();
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        timeout.cancel();
        held.release();
        held = Unpooled.EMPTY_BUFFER;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf data = (ByteBuf) message;
        if (!held.isReadable()) {
            held = data;
        } else {
            held = Unpooled.wrappedBuffer(held, data);
        }
        int length = Math.min(held.readableBytes(), PREFACE.length);
        int i = 0;
        while (i < length && held.getByte(held.readerIndex() + i) == PREFACE[i]) {
            i++;
        }
        if (i == PREFACE.length) {
            connection.speakHttp2();
            detected(context);
        } else if (i < length) {
            connection.speakHttp1();
            detected(context);
        } else if (data.readableBytes() == held.readableBytes()) { // the first bytes, and too few
            timeout.cancel();
            arm(connection.settings().protocols().http1().requestHeadersMillis());
        }
    }

    private void detected(ChannelHandlerContext context) {
        ByteBuf data = held;
        held = Unpooled.EMPTY_BUFFER;
        context.fireChannelRead(data);
        context.pipeline().remove(this);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            context.close();
        }
    }

    @Override
    @SuppressWarnings("deprecation") // of exceptionCaught in ChannelHandler, not in ChannelInboundHandler
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof IOException) {
            connection.owner.loop.observer().onSocketError();
        } else {
            log.warn(
                    "closing a connection of listener {}", connection.settings().name(), cause);
        }
        context.close();
    }

    private final class Timeout extends Timer {
        @Override
        protected void onExpired() {
            if (held.isReadable()) {
                connection.owner.loop.observer().onViolation("slow_headers");
            } else if (!connection.owner.isDraining()) {
                connection.owner.loop.observer().onIdleClosed();
            }
            if (ctx != null) {
                ctx.close();
            }
        }
    }
}
