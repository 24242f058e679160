package dev.gateway.protocol.http1;

import dev.gateway.message.ResponseHead;
import dev.gateway.net.HalfClose;
import dev.gateway.net.PendingWrites;
import dev.gateway.net.UnwatchedOutput;
import dev.gateway.net.WriteBatch;
import dev.gateway.net.transport.IdleTasks;
import dev.gateway.overload.memory.Account;
import dev.gateway.protocol.http1.HeadWriter.Persistence;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Output of a downstream connection: flushes as seldom as possible, and watches whether the client reads. Part of the
 * connection, confined to its event loop.
 */
final class ServerOutput {
    /** What the batch and TLS hold until it is flushed does not make the channel unwritable, so it is bounded here. */
    private static final int MAX_UNFLUSHED = 64 * 1024;

    private final ChannelHandlerContext ctx;
    private final Channel channel;
    private final Http1ServerConnection connection;
    private final TimerWheel timers;
    private final long idleMillis;
    private final IdleTimer timer = new IdleTimer();
    private final @Nullable IdleTasks idleTasks = IdleTasks.ofThisLoop();
    private final Runnable idleFlush = this::flushWhenIdle;
    private final WriteBatch batch;
    private final IntFunction<ByteBuf> room;
    private @Nullable Account client; // of the last request, null if it is the connection's
    private @Nullable UnwatchedOutput rest; // made when the client does not take all for the first time
    private boolean flushesWhenIdle; // the event loop is to call idleFlush
    private boolean dirty; // written and not flushed
    private boolean held; // what was written last leaves only when the connection is closed
    private long written;
    private long flushed; // of it
    private long begun; // before the response to the last request

    /**
     * Makes the output of a connection, which is in its channel.
     *
     * @param idleMillis how long the client may read nothing of what waits for it, 0 for no limit
     */
    ServerOutput(Http1ServerConnection connection, long idleMillis) {
        this.connection = connection;
        this.ctx = connection.ctx;
        this.channel = ctx.channel();
        this.batch = connection.batch;
        this.room = connection::room;
        this.timers = connection.timers;
        this.idleMillis = idleMillis;
    }

    /** Writes a head, and flushes only if much is waiting. */
    void head(ResponseHead head, Framing framing, long length, Persistence persistence) {
        wrote(HeadWriter.response(room, head, framing, length, persistence));
    }

    /** So many bytes were written; they are flushed only if much is waiting. */
    void wrote(int bytes) {
        dirty = true;
        written += bytes;
        if (!channel.isWritable() || written - flushed > MAX_UNFLUSHED) {
            send();
        }
    }

    /** Returns how many bytes were written so far. */
    long written() {
        return written;
    }

    /** Whether the kernel has taken all that was written. */
    boolean isTaken() {
        return !dirty && PendingWrites.bytes(channel) == 0;
    }

    /** A request has come; what is written next is the response to it. */
    void begin() {
        begun = written;
    }

    /**
     * Sends what was written. While a client that pipelines has another response coming, those before it are not worth a
     * segment each on a loop that has other work.
     */
    void flush() {
        if (held) {
            return;
        }
        if (!dirty) { // what was written last may have filled the channel before its response ended
            if (!connection.isAnswering() && PendingWrites.bytes(channel) > 0) {
                rest().onFlushed();
            }
            return;
        }
        if (written > begun || idleTasks == null) {
            send();
        } else if (!flushesWhenIdle) {
            flushesWhenIdle = true;
            idleTasks.await(idleFlush);
        }
    }

    /** The connection is a proxy's, and this is the account of the client that its last request names. */
    void countFor(Account named) {
        named.join();
        leaveClient();
        client = named;
    }

    private void leaveClient() {
        if (client != null) {
            client.leave();
            client = null;
        }
    }

    /** Returns how many bytes wait of the response that has not ended. */
    long unsent() {
        return Math.max(0, PendingWrites.memory(channel) - (rest == null ? 0 : rest.charged()));
    }

    /** What was written leaves when the connection is closed after it, and not before. */
    void hold() {
        held = true;
    }

    boolean isHeld() {
        return held;
    }

    private void flushWhenIdle() {
        flushesWhenIdle = false;
        if (dirty && !held) {
            send();
        }
    }

    /** Sends what was written, whatever else it might wait for. */
    void send() {
        dirty = false;
        flushed = written;
        batch.emit(ctx);
        ctx.flush();
        watch();
        if (PendingWrites.bytes(channel) > 0) {
            rest().onFlushed();
        }
    }

    private UnwatchedOutput rest() {
        UnwatchedOutput made = rest;
        if (made == null) {
            made = new Rest();
            rest = made;
        }
        return made;
    }

    /** What the client has not taken. */
    private final class Rest extends UnwatchedOutput {
        Rest() {
            super(ctx, connection.info());
        }

        @Override
        protected boolean isWatched() {
            return connection.isAnswering();
        }

        @Override
        protected Account account() {
            return client == null ? super.account() : client;
        }

        @Override
        protected void cut() {
            connection.onClientNotReading(
                    Failure.of(Cause.OVERLOAD, "memory ran low, and what was sent was not taken"));
        }
    }

    /** Sends what was written, then FIN; reading continues. */
    ChannelFuture shutdown() {
        dirty = false;
        batch.emit(ctx);
        ChannelFuture sent = HalfClose.afterWrites(ctx);
        watch();
        if (PendingWrites.bytes(channel) > 0) {
            rest().onEnding(sent);
        }
        return sent;
    }

    /** Sends what was written, then closes. */
    void closeAfterWrites() {
        dirty = false;
        batch.emit(ctx);
        ChannelFuture sent = ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        watch();
        if (PendingWrites.bytes(channel) > 0) {
            rest().onEnding(sent);
        }
    }

    /**
     * Closes at once by a TCP reset, so that a response cut short does not look complete; those before it leave, as far
     * as the kernel takes them.
     */
    void abort() {
        sendEarlierResponses();
        HalfClose.abort(channel);
    }

    /** Closes at once; the responses before the one that was to come leave, as far as the kernel takes them. */
    void close() {
        sendEarlierResponses();
        ctx.close();
    }

    private void sendEarlierResponses() {
        if (dirty && flushed < begun) {
            send();
        }
    }

    /** The channel is closed, so that what waits is lost; or another handler has it, and all was sent. */
    void stop() {
        dirty = false;
        batch.clear();
        timer.cancel();
        if (rest != null) {
            rest.end();
        }
        leaveClient();
    }

    private void watch() {
        if (idleMillis > 0 && !timer.isArmed() && PendingWrites.bytes(channel) > 0) {
            timer.start();
        }
    }

    /** Armed while bytes wait; not touched again until it expires, which keeps it off the path of each response. */
    private final class IdleTimer extends Timer {
        private long taken;

        void start() {
            taken = taken();
            timers.arm(this, idleMillis);
        }

        @Override
        protected void onExpired() {
            if (PendingWrites.bytes(channel) == 0) {
                return;
            }
            if (taken() == taken) {
                connection.onClientNotReading(
                        Failure.of(Cause.CLIENT_TIMEOUT, "the client does not read its response"));
            } else {
                start();
            }
        }

        private long taken() {
            return written - batch.bytes() - PendingWrites.bytes(channel);
        }
    }
}
