package dev.gateway.protocol.http2;

import dev.gateway.net.HalfClose;
import dev.gateway.net.Lingering;
import dev.gateway.net.PendingWrites;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Error;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Shuts a connection down from our side: by an error, or once what was written has left. Part of it. */
final class ConnectionShutdown {
    private static final long LINGER_MILLIS = 250; // for a GOAWAY to be read before the socket resets

    private final MultiplexedConnection connection;
    private final Http2Connection h2;
    private final FrameWriter writer;
    private final TimerWheel timers;
    private final long writeIdleMillis;
    private @Nullable ClosingTimer timer; // null until it is needed
    private boolean failed;
    private boolean closing;
    private boolean unread; // the peer may be sending what is not read
    private boolean hurried;
    private long sent; // how often something was sent on streams
    private long asked; // the same when the peer was last asked by a PING
    private long answered; // the same for the last PING that was answered
    private @Nullable Lingering lingering;

    /**
     * Makes that of one connection.
     *
     * @param writeIdleMillis how long the peer may take nothing, 0 for no limit
     */
    ConnectionShutdown(MultiplexedConnection connection, Codec codec, long writeIdleMillis) {
        this.connection = connection;
        this.h2 = codec.connection();
        this.writer = codec.writer();
        this.timers = codec.timers();
        this.writeIdleMillis = writeIdleMillis;
    }

    /** Whether a connection error has ended it; whatever still arrives is thrown away. */
    boolean isFailed() {
        return failed;
    }

    /** Whether it is closed, or will be without anything more being written. */
    boolean isClosing() {
        return closing;
    }

    /** Returns the failure of streams that end with the connection. */
    String lossDetail() {
        return failed ? "the connection ended by a protocol error" : "the connection was closed";
    }

    /** A stream has been ended whose other direction is open. */
    void onCutShort() {
        unread = true;
    }

    /** The connection is to be closed soon. */
    void hurry() {
        hurried = true;
    }

    /** A part of a message was sent. */
    void onSent() {
        sent++;
    }

    /** The peer is asked by a PING whether it has read what was sent. */
    void onAsked() {
        asked = sent;
    }

    /** The peer has answered the PING. */
    void onAnswered() {
        answered = asked;
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
            if (lingering.isArmed()) { // else it must take what was written before
                timer().watch(); // it is still there
            }
        }
    }

    /** The channel is closed. */
    void onInactive() {
        closing = true;
        if (lingering != null) {
            lingering.stop();
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
        connection.failStreams();
        if (!told) {
            closing = true;
            connection.context().close();
        } else if (code == Http2Error.NO_ERROR) {
            answered = sent; // the peer has been idle for long
            closeAfterWrites();
        } else {
            timer().linger();
        }
    }

    /** Tells the peer by GOAWAY why; returns false if there is no memory even for that. */
    private boolean tell(Http2Error code, String detail) {
        ChannelHandlerContext ctx = connection.context();
        int last = h2.remote().lastStreamCreated();
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
        // A client that still reads a response sends WINDOW_UPDATE. If that meets a closed socket, the kernel
        // resets the connection, and the rest of the response is lost.
        boolean reads = sent != answered;
        if ((unread || reads) && h2.isServer() && ctx.channel().isActive()) {
            Lingering end = new Lingering(this::endLingering, timers, 0, Lingering.PATIENT_MILLIS);
            lingering = end;
            if (unread || hurried) {
                end.hurry(); // no stream waits for its peer any more
            }
            end.begin(ctx.channel(), HalfClose.afterWrites(ctx));
        } else {
            ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        }
        if (ctx.channel().isActive() && !timer().isArmed()) {
            timer().watch();
        }
    }

    private boolean endLingering() {
        connection.context().close();
        return true;
    }

    private ClosingTimer timer() {
        if (timer == null) {
            timer = new ClosingTimer(connection.context().channel());
        }
        return timer;
    }

    /** Closes a connection although not all that was written has left, once its peer takes nothing of it any more. */
    private final class ClosingTimer extends Timer {
        private final Channel channel;
        private long unsent;

        ClosingTimer(Channel channel) {
            this.channel = channel;
        }

        /** Closes soon: all that is left to be read is why. */
        void linger() {
            timers.arm(this, LINGER_MILLIS);
        }

        /** Closes when the peer has taken nothing for as long as it may. */
        void watch() {
            unsent = PendingWrites.bytes(channel);
            if (writeIdleMillis > 0) {
                timers.arm(this, writeIdleMillis);
            }
        }

        @Override
        protected void onExpired() {
            if (PendingWrites.bytes(channel) < unsent) {
                watch();
            } else {
                channel.close();
            }
        }
    }
}
