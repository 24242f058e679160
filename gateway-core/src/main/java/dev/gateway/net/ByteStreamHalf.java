package dev.gateway.net;

import dev.gateway.message.Fields;
import dev.gateway.overload.memory.BufferCost;
import dev.gateway.overload.memory.DirectMemory;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.Stream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Byte stream half. One half of a tunnel: a channel's bytes as they come, each direction ending by itself. FIN, or TLS's
 * close_notify, is the last of a direction; a reset is one. Its creator makes this the last handler of the
 * channel, to whose event loop it is confined.
 */
public final class ByteStreamHalf extends ChannelInboundHandlerAdapter implements Stream {
    private static final Logger log = LoggerFactory.getLogger(ByteStreamHalf.class);

    /** What TLS holds until it is flushed does not make the channel unwritable, so it is bounded here. */
    private static final int MAX_UNFLUSHED = 64 * 1024;

    private static final long LINGER_MILLIS = 30_000;

    /** How long the peer has to end its direction, once the tunnel was closed in order. */
    private static final long PARTING_MILLIS = 1_000;

    /** TLS drops what is written then, and says nothing. */
    private static final String SHUT = "the end of one direction of TLS was that of both";

    private final Cause lost;
    private final @Nullable ConnectionInfo client; // null of a connection to an upstream
    private final Runnable onClosed;
    private final StreamEvents events;
    private final ConnectionObserver observer;
    private final TimerWheel timers;
    private final CloseTimer closeTimer = new CloseTimer();

    @SuppressWarnings("NullAway.Init")
    private ChannelHandlerContext ctx; // set when the handler is added, before anything else happens

    @SuppressWarnings("NullAway.Init")
    private ReadCredit credit;

    private @Nullable SslHandler tls; // the innermost

    private @Nullable UnwatchedOutput rest; // made when the client does not take all for the first time
    private boolean inputEnded;
    private boolean outputEnded;
    private boolean over; // both have ended, or the tunnel has failed
    private boolean parting; // it was closed in order, and the peer has not ended its direction
    private int unflushed;

    /**
     * Makes a half.
     *
     * @param lost what it means that the peer is gone amid the tunnel
     * @param client whose connection it is, null for one to an upstream
     */
    ByteStreamHalf(
            Cause lost,
            @Nullable ConnectionInfo client,
            Runnable onClosed,
            StreamEvents events,
            ConnectionObserver observer,
            TimerWheel timers) {
        this.lost = lost;
        this.client = client;
        this.onClosed = onClosed;
        this.events = events;
        this.observer = observer;
        this.timers = timers;
    }

    /**
     * Makes the handler of an established connection of a client, to be added to its channel.
     *
     * @param events gets what the client sends, and its end
     */
    public static ByteStreamHalf ofClient(
            ConnectionInfo client, StreamEvents events, ConnectionObserver observer, TimerWheel timers) {
        return new ByteStreamHalf(Cause.CLIENT_CLOSED, client, () -> {}, events, observer, timers);
    }

    /**
     * Makes the handler of an established connection to an upstream, to be added to its channel.
     *
     * @param onClosed the connection is closed, or is about to be; called once
     * @param events gets what the upstream sends, and its end; their client is charged for what it does not take
     */
    public static ByteStreamHalf ofUpstream(
            Runnable onClosed, ResponseEvents events, ConnectionObserver observer, TimerWheel timers) {
        return new ByteStreamHalf(Cause.UPSTREAM_RESET_IN_BODY, null, onClosed, events, observer, timers);
    }

    // ---- what the peer does

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        this.ctx = ctx;
        ctx.flush(); // what was written before, such as the head that opened the tunnel
        credit = new ReadCredit(ctx.channel());
        tls = HalfClose.tls(ctx.channel());
        HalfClose.allow(ctx.channel());
    }

    /**
     * Takes what was received before this was added to the channel.
     *
     * @param received owned by this method, null for none
     * @param ended whether the peer has ended its direction already
     */
    public void begin(@Nullable ByteBuf received, boolean ended) {
        if (received != null && received.isReadable()) {
            channelRead(ctx, received);
            onBatchEnd();
        } else if (received != null) {
            received.release();
        }
        if (ended) {
            endInput();
        }
    }

    /** Tells the other half that this one's listener takes no new connections. */
    public void drain() {
        if (!over) {
            events.onDraining();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf data = (ByteBuf) message;
        if (over || inputEnded) {
            data.release();
            return;
        }
        credit.received(data.readableBytes());
        events.onData(data, false);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (outputEnded && (isTlsEnded() || isClosed())) {
            endInput();
        }
        onBatchEnd();
        ctx.fireChannelReadComplete();
    }

    /**
     * Whether what was read last is the peer's FIN, after ours was sent. So the connection is over for the kernel, and the
     * channel is closed before it asks the kernel to end what has ended, and makes an exception of the answer.
     */
    private boolean isClosed() {
        return ctx.channel() instanceof DuplexChannel duplex
                && duplex.isOutputShutdown()
                && ctx.channel().unsafe().recvBufAllocHandle().lastBytesRead() < 0;
    }

    private void onBatchEnd() {
        if (!over) {
            events.onReadComplete();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (HalfClose.isInputEnd(ctx, event)) {
            endInput();
        }
        ctx.fireUserEventTriggered(event);
    }

    /** The handler's own event cannot be trusted: once we have sent close_notify, it comes with whatever is read next. */
    private boolean isTlsEnded() {
        return tls != null && tls.engine().isInboundDone();
    }

    private void endInput() {
        if (parting) {
            parting = false;
            ctx.close();
        }
        if (over || inputEnded) {
            return;
        }
        inputEnded = true;
        boolean unsent = unflushed > 0;
        events.onData(Unpooled.EMPTY_BUFFER, true);
        events.onReadComplete();
        if (outputEnded) {
            closeAfterWrites();
        } else if (unsent && isTlsShut()) {
            lost(SHUT);
        }
    }

    /** The JDK's engine ends both directions of TLS 1.2 when the peer ends its own. */
    private boolean isTlsShut() {
        return inputEnded && tls != null && tls.engine().isOutboundDone();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (!over && ctx.channel().isWritable()) {
            events.onWritable(); // also after the last byte, for which credit may still be owed
        }
        ctx.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        closeTimer.cancel();
        if (rest != null) {
            rest.end();
        }
        lost("the connection was reset"); // a FIN was reported as such before
        ctx.fireChannelInactive();
    }

    @Override
    @SuppressWarnings("deprecation") // of exceptionCaught in ChannelHandler, not in ChannelInboundHandler
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        boolean expected = cause instanceof IOException || cause instanceof DecoderException; // the latter is TLS's
        if (!expected && !DirectMemory.isShortage(cause)) {
            log.warn("closing a tunnel", cause);
        } else if (expected && !over) {
            observer.onSocketError();
        }
        lost("the connection failed");
        ctx.close();
    }

    private void lost(String detail) {
        if (!over) {
            finish();
            ctx.close();
            events.onReset(Failure.of(lost, detail));
        }
    }

    /**
     * Ends the tunnel, of which the other half is told why: in order if the other half sees to that, else at once.
     *
     * @return whether it closes the connection itself, as soon as the peer has had the time to read the end
     */
    public boolean end(Failure failure) {
        if (over) {
            return false;
        }
        if (events.onEnding(failure)) {
            return parting;
        }
        reset(failure);
        events.onReset(failure);
        return false;
    }

    private void finish() {
        over = true;
        onClosed.run();
    }

    // ---- what the other half does

    @Override
    public void data(ByteBuf data, boolean last) {
        if (over || outputEnded) {
            data.release();
            return;
        }
        if (data.isReadable() && isTlsShut()) {
            data.release();
            lost(SHUT);
        } else if (data.isReadable()) {
            unflushed += data.readableBytes();
            WriteRoom.fit(ctx.channel());
            ctx.write(isWritable() ? data : BufferCost.slim(data), ctx.voidPromise());
            if (unflushed > MAX_UNFLUSHED || !ctx.channel().isWritable()) {
                flush();
            }
        } else {
            data.release();
        }
        if (last && !over) { // a flush may find the channel closed
            endOutput();
        }
    }

    private void endOutput() {
        outputEnded = true;
        if (inputEnded) {
            closeAfterWrites();
        } else if (isAllSent()) {
            HalfClose.atOnce(ctx.channel());
        } else {
            unflushed = 0;
            onEnding(HalfClose.afterWrites(ctx));
        }
    }

    /** Whether nothing that was written waits here; false with TLS, which does not say. */
    private boolean isAllSent() {
        return tls == null && PendingWrites.bytes(ctx.channel()) == 0;
    }

    @Override
    public void trailers(Fields trailers) {
        data(Unpooled.EMPTY_BUFFER, true);
    }

    @Override
    public void flush() {
        if (unflushed > 0) {
            unflushed = 0;
            ctx.flush();
            UnwatchedOutput left = PendingWrites.bytes(ctx.channel()) == 0 ? null : rest();
            if (left != null) {
                left.onFlushed();
            }
        }
    }

    private void onEnding(ChannelFuture sent) {
        UnwatchedOutput left = rest();
        if (left != null) {
            left.onEnding(sent);
        }
    }

    private @Nullable UnwatchedOutput rest() {
        ConnectionInfo charged =
                client == null && events instanceof ResponseEvents asking ? asking.clientConnection() : client;
        if (rest == null && charged != null) {
            rest = new Rest(charged);
        }
        return rest;
    }

    /** What the peer has not taken. */
    private final class Rest extends UnwatchedOutput {
        Rest(ConnectionInfo charged) {
            super(ctx, charged);
        }

        @Override
        protected boolean isWatched() {
            return !over && !outputEnded;
        }

        @Override
        protected void cut() {
            if (over) {
                ctx.close();
            } else {
                finish();
                ctx.close();
                events.onReset(Failure.of(Cause.OVERLOAD, "memory ran low, and what was sent was not taken"));
            }
        }
    }

    /** Whether both directions have ended, or the tunnel has failed. */
    public boolean isOver() {
        return over;
    }

    @Override
    public boolean isWritable() {
        return ctx.channel().isWritable();
    }

    @Override
    public long unsent() {
        return Math.max(0, PendingWrites.memory(ctx.channel()) - (rest == null ? 0 : rest.charged()));
    }

    @Override
    public void consumed(int bytes) {
        if (!over) {
            credit.consumed(bytes);
        }
    }

    @Override
    public void reset(Failure failure) {
        if (!over) {
            finish();
            HalfClose.abort(ctx.channel());
        }
    }

    /** FIN comes first: to close with bytes unread would send a TCP reset, which destroys what the peer has not read yet. */
    @Override
    public void close(Failure failure) {
        if (over || inputEnded) {
            closeAfterWrites();
            return;
        }
        boolean ended = outputEnded;
        outputEnded = true;
        parting = true;
        finish();
        credit.reset(); // what the peer still sends is read and dropped
        if (!ended && isAllSent()) {
            HalfClose.atOnce(ctx.channel());
        } else if (!ended) {
            unflushed = 0;
            onEnding(HalfClose.afterWrites(ctx));
        }
        if (ctx.channel().isActive()) {
            closeTimer.start(PARTING_MILLIS);
        }
    }

    /** Both directions have ended. */
    private void closeAfterWrites() {
        if (!over) {
            finish();
            if (isAllSent()) {
                ctx.close();
                return;
            }
            onEnding(ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE));
            if (ctx.channel().isActive()) {
                closeTimer.start(LINGER_MILLIS);
            }
        }
    }

    /** Closes the connection although not all that was written has left: nobody watches any more whether its peer reads. */
    private final class CloseTimer extends Timer {
        private long unsent;
        private long millis;

        void start(long wait) {
            millis = wait;
            unsent = PendingWrites.bytes(ctx.channel());
            timers.arm(this, wait);
        }

        @Override
        protected void onExpired() {
            if (PendingWrites.bytes(ctx.channel()) < unsent) {
                start(millis);
            } else {
                ctx.close();
            }
        }
    }
}
