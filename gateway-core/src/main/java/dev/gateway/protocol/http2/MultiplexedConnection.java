package dev.gateway.protocol.http2;

import dev.gateway.net.PendingWrites;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.DirectMemory;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What both ends of an HTTP/2 connection have in common: Netty's framing, tables and windows below, {@link
 * MultiplexedStream} above, one handler and no channel per stream. Flushes once per batch of reads or of writes. Made on
 * the channel's event loop, and lives there, as the last handler of its pipeline, until the channel closes.
 */
abstract class MultiplexedConnection extends Http2ConnectionHandler {
    private static final Logger log = LoggerFactory.getLogger(MultiplexedConnection.class);
    private static final int MAX_UNREAD = 1024 * 1024;
    private static final int MAX_UNREAD_REQUESTS = 16 * 1024 * 1024; // 2,048 heads of 8 KiB

    final ConnectionObserver observer;
    final TimerWheel timers;
    final Codec codec;
    private final int connectionWindow;
    private final OpenStreams streams;
    private final StreamErrors streamErrors;
    private final ConnectionShutdown ending;
    private final FlushSchedule flushes;
    private final StreamContext shared;
    private @Nullable ChannelHandlerContext context;
    private boolean started;
    private long unsent; // bytes of memory that wait for the socket, and are charged
    private boolean awaited; // told when they have left
    private @Nullable String offence;

    /**
     * Makes one end of a connection.
     *
     * @param windowGrowth how much its streams' windows may grow, together
     * @param account what the heap is charged to that the peer makes us hold
     * @param culprit whom to blame for what its streams hold
     * @param writeIdleMillis how long the peer may take nothing of what waits for it, 0 for no limit
     */
    MultiplexedConnection(
            Codec codec,
            int connectionWindow,
            int windowGrowth,
            Account account,
            Object culprit,
            long writeIdleMillis) {
        super(codec.decoder(), codec.encoder(), codec.settings(), true, false);
        setCumulator(UnreadInput.CUMULATOR);
        this.codec = codec;
        this.observer = codec.observer();
        this.timers = codec.timers();
        this.connectionWindow = connectionWindow;
        this.streams = new OpenStreams(codec.connection());
        this.ending = new ConnectionShutdown(this, codec, writeIdleMillis);
        this.flushes = new FlushSchedule(this, codec.connection(), ending);
        StreamSender sender = new StreamSender(this, codec, ending, flushes);
        ReceiveWindows windows = new ReceiveWindows(this, codec.connection(), flushes);
        this.shared = new StreamContext(
                streams,
                sender,
                windows,
                new WindowGrowth(this, windows, timers, windowGrowth),
                flushes,
                ending,
                codec.guard(),
                observer,
                timers,
                account,
                culprit,
                writeIdleMillis);
        this.streamErrors = new StreamErrors(this, codec, streams, sender);
        codec.connection().addListener(new Streams());
        codec.decoder().frameListener(new PeerFrames(this, codec, streams));
    }

    // What the two ends do differently.

    abstract void onStreamClosed(@Nullable MultiplexedStream stream);

    abstract void onActive();

    abstract void onInactive();

    /** The peer has read what was sent before a PING of ours. */
    void onPingAnswered(long data) {}

    /** A head, or trailers. */
    abstract void onHeaders(Http2Stream h2, ReceivedHeaders headers, boolean last) throws Http2Exception;

    /** The header list of a new stream was larger than the limit. */
    abstract void onOversized(Http2Stream h2);

    abstract void onPriorityUpdate(PriorityUpdate update) throws Http2Exception;

    abstract void onSettings(Http2Settings received);

    /** The peer has reset the stream. */
    void onResetByPeer(MultiplexedStream stream, long errorCode) throws Http2Exception {
        stream.fail(stream.resetByPeer(errorCode));
    }

    void onGoAway(long errorCode) {}

    /** A batch of frames was read. */
    void afterRead() {}

    // Life.

    /** Returns its place in the pipeline; it has one. */
    final ChannelHandlerContext context() {
        ChannelHandlerContext ctx = context;
        if (ctx == null) {
            throw new IllegalStateException("not in a pipeline");
        }
        return ctx;
    }

    final boolean isOpen() {
        return context != null && !ending.isFailed() && !ending.isClosing();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
        context = ctx;
        flushes.onAdded(ctx);
        // HTTP/2 knows no half-closed connection: a FIN, like a reset, is its end, and that of all its streams.
        ctx.channel().config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
        super.handlerAdded(ctx);
        if (ctx.channel().isActive()) {
            start(ctx);
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) throws Exception {
        super.channelActive(ctx);
        start(ctx);
    }

    /** An accepted channel is active when handlers are added, and says so once more. */
    private void start(ChannelHandlerContext ctx) throws Http2Exception {
        if (started) {
            return;
        }
        started = true;
        windows().open(connectionWindow);
        onActive();
        flush(ctx);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        flushes.onReadEnded();
        ending.onInactive();
        chargeUnsent(0);
        super.channelInactive(ctx);
        onInactive();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
        flushes.onRead();
        super.channelRead(ctx, msg);
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        if (ending.isFailed() || ending.isLingering()) {
            ending.drop(in);
        } else {
            super.decode(ctx, in, out);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) throws Exception {
        streams.onReadComplete();
        if (flushes.isReading()) { // else nothing was read but the end
            afterRead();
        }
        flushes.onReadEnded();
        super.channelReadComplete(ctx);
        // Bodies stop at the socket's high-water mark, though their last pieces may keep large buffers. Only replies to
        // control frames and heads can pile up.
        if (!ending.isFailed() && ctx.channel().isActive() && leavesTooMuchUnread(ctx.channel())) {
            onError(ctx, false, codec.guard().violation(Http2Violation.UNREAD_REPLIES));
        }
    }

    private boolean leavesTooMuchUnread(Channel channel) {
        long waiting = channel.bytesBeforeWritable();
        boolean mayWait = waiting != Long.MAX_VALUE; // else nothing can be sent any more
        long most = connection().isServer() ? MAX_UNREAD : MAX_UNREAD_REQUESTS;
        return mayWait && waiting > most && codec.writer().replies() > most;
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) throws Exception {
        super.channelWritabilityChanged(ctx);
        codec.writer().restartReplies();
        if (ctx.channel().isWritable()) {
            chargeUnsent(ctx);
            streams.resume();
        } else { // amid a write, so that nothing may be written here
            chargeUnsent(connection().isServer() ? PendingWrites.memory(ctx.channel()) : 0);
        }
    }

    /** Charges the client for what its connection holds, also if there is room for more: the streams of it may have ended. */
    private void chargeUnsent(ChannelHandlerContext ctx) {
        Channel channel = ctx.channel();
        if (!connection().isServer() || PendingWrites.bytes(channel) <= PendingWrites.SLIGHT) {
            chargeUnsent(0);
            return;
        }
        chargeUnsent(PendingWrites.memory(channel));
        if (!awaited) {
            awaited = true;
            ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(sent -> {
                awaited = false;
                chargeUnsent(ctx);
            });
        }
    }

    private void chargeUnsent(long now) {
        if (now != unsent) {
            shared.account().waitingBodies().change(unsent, now);
            unsent = now;
        }
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        if (ending.isLingering()) {
            ctx.flush(); // nothing is written behind FIN
            return;
        }
        super.flush(ctx);
        chargeUnsent(ctx);
        if (codec.writer().takeDirty()) {
            observer.onFlushed();
        }
        streams.resume();
    }

    // What its parts do.

    final StreamContext shared() {
        return shared;
    }

    final StreamSender sender() {
        return shared.sender();
    }

    final ReceiveWindows windows() {
        return shared.windows();
    }

    /** Flushes soon: at the end of this batch of reads, or with others that ask in this turn of the event loop. */
    final void requestFlush() {
        flushes.request();
    }

    /** Sends a PING. */
    final void ping(long data) {
        encoder().writePing(context(), false, data, context().newPromise());
        requestFlush();
    }

    final void onPingAck(long data) {
        if (data == WindowGrowth.PING) {
            shared.growth().onPingAck();
        } else {
            onPingAnswered(data);
        }
    }

    /** Fails all streams: they were lost with the connection. */
    final void failStreams() {
        streams.forEach(stream -> stream.fail(stream.lost()));
    }

    // Errors.

    @Override
    protected void onStreamError(
            ChannelHandlerContext ctx, boolean outbound, Throwable cause, Http2Exception.StreamException error) {
        streamErrors.on(ctx, outbound, error);
    }

    /** Ends the connection for too many errors, or one that is enough. */
    final void onFlood(ChannelHandlerContext ctx, Http2Exception flood) {
        onConnectionError(ctx, false, flood, flood);
    }

    @Override
    protected void onConnectionError(
            ChannelHandlerContext ctx, boolean outbound, Throwable cause, @Nullable Http2Exception error) {
        if (!isOpen()) {
            return;
        }
        if (cause instanceof IOException) {
            onSocketFailed(ctx, cause);
            return;
        }
        if (error == null && !DirectMemory.isShortage(cause)) { // not the peer's doing
            log.error("Ending an HTTP/2 connection with {}", ctx.channel().remoteAddress(), cause);
        }
        Http2Error code = error == null ? Http2Error.INTERNAL_ERROR : error.error();
        if (!outbound && error != null) {
            offence = String.valueOf(error.getMessage());
        }
        if (!outbound && error != null && !(error instanceof FloodGuard.FloodException)) {
            observer.onViolation(Http2Violation.PROTOCOL_ERROR.kind());
        }
        end(code, String.valueOf(cause.getMessage()));
    }

    /** Tells the peer by GOAWAY why, ends all streams, and closes once the peer had time to read it. */
    final void end(Http2Error code, String detail) {
        ending.fail(code, detail);
    }

    /** Closes when what was written has left, or the peer takes nothing of it any more. */
    final void closeAfterWrites() {
        if (context != null) {
            ending.closeAfterWrites();
        }
    }

    /** The same, but a peer that still reads has two seconds at most. */
    final void closeSoonAfterWrites() {
        ending.hurry();
        closeAfterWrites();
    }

    /** Ensures that no response that was handed over whole waits for ever for a window that was full only later. */
    final void watchUnsent() {
        streams.forEach(MultiplexedStream::watchUnsent);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) throws Exception {
        // TLS reports what is wrong with its records wrapped by Netty's decoder.
        if (cause instanceof IOException || cause.getCause() instanceof IOException) {
            observer.onSocketError();
            onSocketFailed(ctx, cause);
        } else {
            onError(ctx, false, cause);
        }
    }

    /** The socket has failed, in one direction at least. */
    void onSocketFailed(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close();
    }

    // What Netty tells.

    private final class Streams extends Http2ConnectionAdapter {
        @Override
        public void onStreamActive(Http2Stream h2) {
            observer.onStreamOpened();
            codec.closed().onOpened(h2.id());
        }

        @Override
        public void onStreamHalfClosed(Http2Stream h2) {
            MultiplexedStream stream = streams.of(h2);
            if (stream != null && h2.state() == Http2Stream.State.HALF_CLOSED_LOCAL) {
                stream.onLocalHalfClosed();
            }
        }

        @Override
        public void onStreamClosed(Http2Stream h2) {
            observer.onStreamClosed();
            MultiplexedStream stream = streams.of(h2);
            if (stream != null) {
                stream.giveBack();
                stream.onClosed();
            }
            MultiplexedConnection.this.onStreamClosed(stream);
        }
    }

    /** Returns how the peer has broken the protocol, so that the connection had to be ended; null if it has not. */
    final @Nullable String offence() {
        return offence;
    }
}
