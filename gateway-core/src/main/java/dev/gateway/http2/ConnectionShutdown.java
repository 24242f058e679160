package dev.gateway.http2;

import dev.gateway.net.HalfClose;
import dev.gateway.net.Lingering;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Error;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Shuts a connection down from our side: by an error, or once what was written has left. Part of it. */
final class ConnectionShutdown {
    private final MultiplexedConnection connection;
    private final FrameWriter writer;
    private @Nullable ClosingTimer timer; // null until it is needed
    private boolean failed;
    private boolean closing;
    private boolean unread; // the peer may be sending what nobody takes
    private @Nullable Lingering lingering;

    ConnectionShutdown(MultiplexedConnection connection, FrameWriter writer) {
        this.connection = connection;
        this.writer = writer;
    }

    /** Whether a connection error has ended it; whatever still arrives is thrown away. */
    boolean isFailed() {
        return failed;
    }

    /** Whether it is closed, or will be without anything more being written. */
    boolean isClosing() {
        return closing;
    }

    /** A stream has been ended whose other direction is open. */
    void onCutShort() {
        unread = true;
    }

    /** Whether nothing is written any more, and what still arrives is thrown away. */
    boolean isLingering() {
        return lingering != null;
    }

    /** Throws away what has arrived. */
    void drop(ByteBuf in) {
        int bytes = in.readableBytes();
        in.skipBytes(bytes);
        if (lingering != null) {
            lingering.onDropped(bytes);
        }
    }

    /** The channel is closed. */
    void onInactive() {
        closing = true;
        if (lingering != null) {
            lingering.cancel();
        }
        if (timer != null) {
            timer.cancel();
        }
    }

    /** Tells the peer by GOAWAY why, ends all streams, and closes once the peer had time to read it. */
    void fail(Http2Error code, String detail) {
        if (failed || closing) {
            return;
        }
        failed = true;
        boolean told = tell(code, detail);
        connection.forEachStream(stream -> stream.fail(stream.lost()));
        if (!told) {
            closing = true;
            connection.context().close();
        } else if (code == Http2Error.NO_ERROR) {
            closeAfterWrites();
        } else {
            timer().linger();
        }
    }

    /** Tells the peer by GOAWAY why; returns false if there is no memory even for that. */
    private boolean tell(Http2Error code, String detail) {
        ChannelHandlerContext ctx = connection.context();
        int last = connection.connection().remote().lastStreamCreated();
        try {
            ByteBuf debug = ByteBufUtil.encodeString(ctx.alloc(), CharBuffer.wrap(detail), StandardCharsets.UTF_8);
            writer.writeGoAway(ctx, last, code.code(), debug, ctx.newPromise());
            ctx.flush();
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    /** Closes when what was written has left, or the peer takes nothing of it any more. */
    void closeAfterWrites() {
        if (closing) {
            return;
        }
        closing = true;
        ChannelHandlerContext ctx = connection.context();
        connection.flush(ctx);
        writer.emit(ctx); // a flush within another does nothing yet
        if (unread && connection.connection().isServer() && ctx.channel().isActive()) {
            Lingering end = new Lingering(ctx.channel(), connection.timers);
            lingering = end;
            end.begin(HalfClose.afterWrites(ctx));
        } else {
            ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        }
        if (ctx.channel().isActive() && !timer().isArmed()) {
            timer().watch();
        }
    }

    private ClosingTimer timer() {
        if (timer == null) {
            timer = new ClosingTimer(connection.context().channel(), connection.timers, connection.writeIdleMillis());
        }
        return timer;
    }
}
