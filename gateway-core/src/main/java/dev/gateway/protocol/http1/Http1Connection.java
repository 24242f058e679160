package dev.gateway.protocol.http1;

import dev.gateway.net.ByteStreamHalf;
import dev.gateway.net.HalfClose;
import dev.gateway.net.PendingWrites;
import dev.gateway.net.ReadCredit;
import dev.gateway.net.WriteBatch;
import dev.gateway.overload.memory.DirectMemory;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What both ends of an HTTP/1 connection have in common: the last handler of its channel, and the carrier of its one stream. */
abstract sealed class Http1Connection extends ChannelInboundHandlerAdapter
        permits Http1ServerConnection, Http1ClientConnection {
    private static final Logger log = LoggerFactory.getLogger(Http1Connection.class);

    final ConnectionObserver observer;
    final TimerWheel timers;

    /** What is to be emitted before the channel is flushed. */
    final WriteBatch batch = new WriteBatch();

    @SuppressWarnings("NullAway.Init")
    ChannelHandlerContext ctx; // set when the handler is added, before anything else happens

    @SuppressWarnings("NullAway.Init")
    ReadCredit credit;

    private boolean inputEnding; // what is read next is the last
    private boolean inputEnded;

    Http1Connection(ConnectionObserver observer, TimerWheel timers) {
        this.observer = observer;
        this.timers = timers;
    }

    // What a stream asks of its connection.

    /** Returns where so many bytes go, of which {@link #wrote} is to be told; they are flushed later. */
    final ByteBuf room(int bytes) {
        return batch.room(ctx, bytes);
    }

    /** Writes, to be flushed later. */
    final void write(ByteBuf data) {
        int length = data.readableBytes();
        batch.write(ctx, data);
        wrote(length);
    }

    /** So many bytes were written; they are flushed now only if much is waiting. */
    abstract void wrote(int bytes);

    abstract void flush();

    /** Returns how many bytes of the message wait, as the peer has no room. */
    long unsent() {
        return PendingWrites.memory(ctx.channel());
    }

    /** Returns how many bytes wait after a flush, and tells the exchange when they have left; 0 for a few. */
    long lingering() {
        return 0;
    }

    /** Whether what waits is a copy of what was written. */
    boolean copies() {
        return false;
    }

    abstract void consumed(OutgoingStream<?> from, int bytes);

    /** Ends the stream, and with it the connection, without an event. */
    abstract void reset(OutgoingStream<?> from);

    /** The stream has sent its message to the end. */
    abstract void onSent(OutgoingStream<?> from);

    // What the channel tells.

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        this.ctx = ctx;
        credit = new ReadCredit(ctx.channel());
        HalfClose.allow(ctx.channel());
    }

    @Override
    public final void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (HalfClose.isInputEnd(ctx, event)) {
            endInput();
        }
        inputEnding |= HalfClose.isInputEnding(event);
    }

    /** The peer has sent FIN, or has closed the connection. */
    final void endInput() {
        if (!inputEnded) {
            inputEnded = true;
            onInputEnded();
        }
    }

    final boolean isInputEnded() {
        return inputEnded;
    }

    /** Whether the peer has sent FIN, maybe behind bytes that are still to be read. */
    final boolean isInputEnding() {
        return inputEnding || inputEnded;
    }

    abstract void onInputEnded();

    @Override
    @SuppressWarnings("deprecation") // of exceptionCaught in ChannelHandler, not in ChannelInboundHandler
    public final void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (HalfClose.isOutputEnd(ctx.channel(), cause) && outlivesOutput()) {
            return;
        }
        if (DirectMemory.isShortage(cause)) {
            onFailed();
            return;
        }
        if (!(cause instanceof IOException || cause instanceof DecoderException)) { // a DecoderException is TLS's
            log.warn("Closing a connection {}", this, cause);
        } else if (isOpen()) {
            observer.onSocketError();
        }
        onFailed();
    }

    /** Nothing more can be sent; returns whether the connection stays open to receive. */
    boolean outlivesOutput() {
        return false;
    }

    /** Whether it still carries messages, so that its failing is worth a count. */
    abstract boolean isOpen();

    /** The socket has failed. */
    abstract void onFailed();

    /**
     * Leaves the channel to the tunnel that its stream has become.
     *
     * @return the handler that has taken this one's place; it is to be told to begin
     */
    final ByteStreamHalf replaceBy(ByteStreamHalf tunnel, OutgoingStream<?> stream) {
        HalfClose.survivesWrites(ctx.channel(), false); // a tunnel has nothing to answer
        credit.reset();
        credit.release();
        stream.becomes(tunnel);
        ctx.pipeline().replace(this, null, tunnel);
        return tunnel;
    }
}
