package dev.gateway.http1;

import dev.gateway.net.HalfClose;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;

/** What a downstream connection sends: as few flushes as possible, and a watch over clients that do not read. */
final class ServerOutput {
    /** What TLS holds until it is flushed does not make the channel unwritable, so it is bounded here. */
    private static final int MAX_UNFLUSHED = 64 * 1024;

    private final ChannelHandlerContext ctx;
    private final Channel channel;
    private final Http1ServerConnection connection;
    private final TimerWheel timers;
    private final long idleMillis;
    private final IdleTimer timer = new IdleTimer();
    private boolean dirty; // written and not flushed
    private long written;
    private long flushed; // of it

    /**
     * Makes the output of a connection.
     *
     * @param idleMillis how long the client may read nothing of what waits for it, 0 for no limit
     */
    ServerOutput(ChannelHandlerContext ctx, Http1ServerConnection connection, TimerWheel timers, long idleMillis) {
        this.ctx = ctx;
        this.channel = ctx.channel();
        this.connection = connection;
        this.timers = timers;
        this.idleMillis = idleMillis;
    }

    /** Writes, and flushes only if much is waiting. */
    void write(ByteBuf data) {
        dirty = true;
        written += data.readableBytes();
        ctx.write(data, ctx.voidPromise());
        if (!channel.isWritable() || written - flushed > MAX_UNFLUSHED) {
            flush();
        }
    }

    void flush() {
        if (dirty) {
            dirty = false;
            flushed = written;
            ctx.flush();
            watch();
        }
    }

    /** Sends what was written, then FIN; reading goes on. */
    ChannelFuture shutdown() {
        dirty = false;
        ChannelFuture sent = HalfClose.afterWrites(ctx);
        watch();
        return sent;
    }

    /** Sends what was written, then closes. */
    void closeAfterWrites() {
        dirty = false;
        ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        watch();
    }

    /** Closes at once by a TCP reset, so that a response cut short does not look complete. */
    void abort() {
        HalfClose.abort(channel);
    }

    /** The channel is closed. */
    void stop() {
        timer.cancel();
    }

    private void watch() {
        if (idleMillis > 0 && !timer.isArmed() && pending() > 0) {
            timer.start();
        }
    }

    private long pending() {
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        return buffer == null ? 0 : buffer.totalPendingWriteBytes();
    }

    /** Armed while bytes wait; not touched again until it expires, which keeps it off the path of each response. */
    private final class IdleTimer extends Timer {
        private long taken;

        void start() {
            taken = written - pending();
            timers.arm(this, idleMillis);
        }

        @Override
        protected void onExpired() {
            long pending = pending();
            if (pending == 0) {
                return;
            }
            if (written - pending == taken) {
                connection.onClientNotReading();
            } else {
                start();
            }
        }
    }
}
