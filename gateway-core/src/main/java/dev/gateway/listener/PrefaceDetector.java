package dev.gateway.listener;

import dev.gateway.net.Drainable;
import dev.gateway.net.FirstBytesHandler;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects HTTP/2 with prior knowledge (RFC 9113, section 3.4) on a cleartext listener. No HTTP/1.1 request begins with the
 * first line of HTTP/2's preface, so it decides at the first byte that differs. Leaves the pipeline then.
 */
final class PrefaceDetector extends FirstBytesHandler implements Drainable {
    private static final Logger log = LoggerFactory.getLogger(PrefaceDetector.class);
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n".getBytes(StandardCharsets.US_ASCII);

    private final Connection connection;
    private final ListenerLoop loop;
    private final ListenerSettings settings;

    PrefaceDetector(Connection connection, ListenerLoop loop, ListenerSettings settings) {
        super(loop.timers());
        this.connection = connection;
        this.loop = loop;
        this.settings = settings;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        super.handlerAdded(context);
        waitFor(settings.protocols().http1().timeouts().idleMillis());
    }

    @Override
    protected void onTimeout(boolean begun) {
        if (begun) {
            loop.observer().onViolation("slow_headers");
        } else if (!connection.isDraining()) {
            loop.observer().onIdleClosed();
        }
    }

    /** Gives a client that has sent nothing a moment for its first request; the handler of its protocol drains then. */
    @Override
    public void drain() {
        if (!held.isReadable()) {
            waitFor(FIRST_REQUEST_MILLIS);
        }
    }

    @Override
    public boolean isIdle() {
        return !held.isReadable();
    }

    @Override
    public void end(Failure failure) {
        ctx.close();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf data = (ByteBuf) message;
        boolean first = !held.isReadable();
        held = first ? data : Unpooled.wrappedBuffer(held, data);
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
        } else { // too few
            slimHeld();
            if (first) {
                waitFor(settings.protocols().http1().timeouts().requestHeadersMillis());
            }
        }
    }

    private void detected(ChannelHandlerContext context) {
        context.fireChannelRead(takeHeld());
        context.pipeline().remove(this);
    }

    @Override
    @SuppressWarnings("deprecation") // of exceptionCaught in ChannelHandler, not in ChannelInboundHandler
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof IOException) {
            loop.observer().onSocketError();
        } else {
            log.warn("closing a connection of listener {}", settings.name(), cause);
        }
        context.close();
    }
}
