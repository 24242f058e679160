package dev.gateway.http2;

import dev.gateway.message.Fields;
import dev.gateway.overload.Account;
import dev.gateway.overload.DirectMemory;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
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
    final SentHeaders sent = new SentHeaders();
    private final Codec codec;
    private final int connectionWindow;
    private final Http2Connection.PropertyKey streamKey;
    private final Http2RemoteFlowController outbound;
    private final ReceiveWindows windows;
    private final WindowGrowth growth;
    private final List<MultiplexedStream> touched = new ArrayList<>();
    private final PausedStreams paused = new PausedStreams();
    private final ClosedStreams closed;
    private final StreamErrors streamErrors;
    private final ConnectionShutdown ending;
    private final Runnable flushTask = this::flushScheduled;
    private @Nullable ChannelHandlerContext context;
    private long dataWritten; // bytes of all bodies
    private boolean started;
    private boolean reading;
    private boolean flushScheduled;
    private @Nullable String offence;

    MultiplexedConnection(Codec codec, int connectionWindow, int windowGrowth) {
        super(codec.decoder(), codec.encoder(), codec.settings(), true, false);
        setCumulator(UnreadInput.CUMULATOR);
        this.codec = codec;
        this.observer = codec.observer();
        this.timers = codec.timers();
        this.connectionWindow = connectionWindow;
        this.streamKey = codec.connection().newKey();
        this.outbound = codec.connection().remote().flowController();
        this.windows = new ReceiveWindows(this, codec.connection());
        this.growth = new WindowGrowth(this, codec.timers(), windowGrowth);
        this.closed = codec.closed();
        this.streamErrors = new StreamErrors(this, codec);
        this.ending = new ConnectionShutdown(this, codec.writer());
        codec.connection().addListener(new Streams());
        codec.decoder().frameListener(new PeerFrames(this, closed));
    }

    // What the two ends do differently.

    abstract void onHeaders(Http2Stream h2, ReceivedHeaders headers, boolean last) throws Http2Exception;

    abstract void onStreamClosed(@Nullable MultiplexedStream stream);

    abstract void onLocalHalfClosed(MultiplexedStream stream);

    /** The header list of a new stream was larger than we take. */
    abstract void onOversized(Http2Stream h2);

    abstract long writeIdleMillis();

    abstract void onActive();

    abstract void onInactive();

    void onSettings(Http2Settings received) {}

    void onPingAck(long data) {}

    /** The peer has reset the stream. */
    void onResetByPeer(MultiplexedStream stream, long errorCode) throws Http2Exception {
        stream.fail(stream.resetByPeer(errorCode));
    }

    void onGoAway(int lastStreamId, long errorCode) {}

    abstract void onPriorityUpdate(PriorityUpdate update) throws Http2Exception;

    /** A batch of frames was read. */
    void afterRead() {}

    // Life.

    final ChannelHandlerContext context() {
        ChannelHandlerContext ctx = context;
        if (ctx == null) {
            throw new IllegalStateException("not in a pipeline");
        }
        return ctx;
    }

    public final boolean isOpen() {
        return context != null && !ending.isFailed() && !ending.isClosing();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
        context = ctx;
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
        windows.open(connectionWindow);
        onActive();
        flush(ctx);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        reading = false;
        ending.onInactive();
        super.channelInactive(ctx);
        onInactive();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
        reading = true;
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
        // Streams join while others are told, and ones that closed in this batch are told nothing.
        for (int i = 0; i < touched.size(); i++) {
            touched.get(i).onReadComplete();
        }
        afterRead();
        touched.clear();
        reading = false;
        super.channelReadComplete(ctx);
        // Bodies stop at the socket's high-water mark; only replies to control frames and heads can pile up.
        if (!ending.isFailed() && ctx.channel().isActive() && leavesTooMuchUnread(ctx.channel())) {
            onError(ctx, false, codec.guard().violation(Violation.UNREAD_REPLIES));
        }
    }

    private boolean leavesTooMuchUnread(Channel channel) {
        long waiting = channel.bytesBeforeWritable();
        boolean mayWait = waiting != Long.MAX_VALUE; // else nothing can be sent any more
        return mayWait && waiting > (connection().isServer() ? MAX_UNREAD : MAX_UNREAD_REQUESTS);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) throws Exception {
        super.channelWritabilityChanged(ctx);
        if (ctx.channel().isWritable()) {
            paused.resume();
        }
    }

    final boolean isReading() {
        return reading;
    }

    final List<MultiplexedStream> touchedStreams() {
        return touched;
    }

    final void touched(MultiplexedStream stream) {
        touched.add(stream);
    }

    /** Flushes soon: at the end of this batch of reads, or with others that ask in this turn of the event loop. */
    final void requestFlush() {
        ChannelHandlerContext ctx = context;
        if (reading || flushScheduled || ctx == null || ending.isClosing()) {
            return;
        }
        if (connection().numActiveStreams() > 1) {
            flushScheduled = true;
            ctx.executor().execute(flushTask);
        } else {
            flush(ctx);
        }
    }

    private void flushScheduled() {
        flushScheduled = false;
        if (!ending.isClosing()) {
            flush(context());
        }
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        if (ending.isLingering()) {
            ctx.flush(); // nothing is written behind FIN
            return;
        }
        super.flush(ctx);
        if (codec.writer().takeDirty()) {
            observer.onFlushed();
        }
        paused.resume();
    }

    // What streams do to the peer.

    final @Nullable MultiplexedStream stream(Http2Stream h2) {
        return h2.getProperty(streamKey);
    }

    final void attach(Http2Stream h2, MultiplexedStream stream) {
        h2.setProperty(streamKey, stream);
    }

    final boolean isWritable(Http2Stream h2) {
        // Netty counts what waits on all streams against the connection's window, also what waits for a stream's own.
        // So that peers that stall some streams do not stop others, each may have something waiting.
        return outbound.isWritable(h2)
                || (!outbound.hasFlowControlled(h2)
                        && outbound.windowSize(h2) > 0
                        && outbound.windowSize(connection().connectionStream()) > 0
                        && context().channel().isWritable());
    }

    /** Whether the socket takes more, so that frames without flow control need not wait for it. */
    final boolean takesMore() {
        return context().channel().isWritable();
    }

    final boolean hasPending(Http2Stream h2) {
        return outbound.hasFlowControlled(h2);
    }

    final long dataWritten() {
        return dataWritten;
    }

    /** Whether a stream could send, if it were its turn. */
    final boolean hasWindow(Http2Stream h2) {
        return outbound.windowSize(h2) > 0;
    }

    final void enqueue(Http2Stream h2, Http2RemoteFlowController.FlowControlled frame) {
        outbound.addFlowControlled(h2, frame);
    }

    final void writeData(ChannelHandlerContext ctx, Http2Stream h2, ByteBuf data, boolean last) {
        dataWritten += data.readableBytes();
        codec.writer().data(ctx, h2.id(), data, last);
    }

    /** Writes what {@link #sent} points at. */
    final void writeHeaders(Http2Stream h2, boolean interim, boolean last) {
        ChannelHandlerContext ctx = context();
        try {
            codec.writer().head(ctx, h2.id(), sent, last);
        } catch (Http2Exception | RuntimeException | Error e) {
            onError(ctx, true, e); // part of it may be in HPACK's table, so no head after it could be read
            return;
        } finally {
            sent.forget();
        }
        h2.headersSent(interim);
        if (last) {
            closeLocal(h2);
        }
    }

    final void writeTrailers(Http2Stream h2, Fields trailers) {
        sent.trailers(trailers);
        writeHeaders(h2, false, true);
    }

    final void closeLocal(Http2Stream h2) {
        closeStreamLocal(h2, context().newSucceededFuture());
    }

    final ReceiveWindows windows() {
        return windows;
    }

    final WindowGrowth growth() {
        return growth;
    }

    final void ping(long data) {
        encoder().writePing(context(), false, data, context().newPromise());
        requestFlush();
    }

    /** Ends a stream in both directions. */
    final void reset(MultiplexedStream stream, Http2Error error) {
        stream.die();
        Http2Stream h2 = stream.h2();
        if (h2 != null) {
            resetStream(h2, error);
        }
    }

    final void resetStream(Http2Stream h2, Http2Error error) {
        ChannelHandlerContext ctx = context();
        if (h2.state() != Http2Stream.State.CLOSED && !h2.isResetSent() && !ending.isClosing()) {
            closed.onResetByUs(h2.id());
            if (h2.state().remoteSideOpen()) {
                ending.onCutShort();
            }
            resetStream(ctx, h2.id(), error.code(), ctx.newPromise());
            requestFlush();
        }
    }

    final Http2Exception streamError(MultiplexedStream stream, String detail) {
        Http2Stream h2 = stream.h2();
        return Http2Exception.streamError(h2 == null ? 0 : h2.id(), Http2Error.PROTOCOL_ERROR, detail);
    }

    final void onStalled(MultiplexedStream stream) {
        observer.onViolation(Violation.STALLED_READER.kind());
        Http2Stream h2 = stream.h2();
        stream.fail(stream.stalled());
        stream.die();
        if (h2 != null) {
            resetStream(h2, Http2Error.CANCEL);
        }
    }

    /** Returns whom to blame for what its streams hold. */
    Object culprit() {
        return this;
    }

    /** Returns what the heap is charged to that the peer makes us hold. */
    Account account() {
        return Account.UNLIMITED;
    }

    /** Ends a stream for lack of memory. */
    final void cut(MultiplexedStream stream, String detail) {
        Http2Stream h2 = stream.h2();
        stream.fail(Failure.of(Cause.OVERLOAD, detail));
        stream.die();
        if (h2 != null) {
            resetStream(h2, Http2Error.ENHANCE_YOUR_CALM);
        }
    }

    final void paused(MultiplexedStream stream) {
        paused.add(stream);
    }

    // Errors.

    @Override
    protected void onStreamError(
            ChannelHandlerContext ctx, boolean outbound, Throwable cause, Http2Exception.StreamException error) {
        streamErrors.on(ctx, outbound, error);
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
            log.error("ending an HTTP/2 connection with {}", ctx.channel().remoteAddress(), cause);
        }
        Http2Error code = error == null ? Http2Error.INTERNAL_ERROR : error.error();
        if (!outbound && error != null) {
            offence = String.valueOf(error.getMessage());
        }
        if (!outbound && error != null && !(error instanceof FloodGuard.FloodException)) {
            observer.onViolation(Violation.PROTOCOL_ERROR.kind());
        }
        end(code, String.valueOf(cause.getMessage()));
    }

    /** Tells the peer by GOAWAY why, ends all streams, and closes once the peer had time to read it. */
    final void end(Http2Error code, String detail) {
        ending.fail(code, detail);
    }

    final void forEachStream(Consumer<MultiplexedStream> action) {
        try {
            connection().forEachActiveStream(h2 -> {
                MultiplexedStream stream = stream(h2);
                if (stream != null) {
                    action.accept(stream);
                }
                return true;
            });
        } catch (Http2Exception e) {
            throw new IllegalStateException(e); // no action throws it
        }
    }

    /** Closes when what was written has left, or the peer takes nothing of it any more. */
    final void closeAfterWrites() {
        if (context != null) {
            ending.closeAfterWrites();
        }
    }

    /** Sees to it that no response that was handed over whole waits for ever for a window that was full only later. */
    final void watchUnsent() {
        forEachStream(MultiplexedStream::watchUnsent);
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
            closed.onOpened(h2.id());
        }

        @Override
        public void onStreamHalfClosed(Http2Stream h2) {
            MultiplexedStream stream = stream(h2);
            if (stream != null && h2.state() == Http2Stream.State.HALF_CLOSED_LOCAL) {
                onLocalHalfClosed(stream);
            }
        }

        @Override
        public void onStreamClosed(Http2Stream h2) {
            observer.onStreamClosed();
            MultiplexedStream stream = stream(h2);
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

    /** Returns what a stream lost with the connection is told of it. */
    final String lossDetail() {
        return ending.isFailed() ? "the connection ended by a protocol error" : "the connection was closed";
    }

    final LateFrames lateFrames() {
        return codec.late();
    }

    final FloodGuard guard() {
        return codec.guard();
    }

    /** Returns the compressed size of the header block that was unpacked last. */
    final int headerBlockLength() {
        return codec.headers().blockLength();
    }

    final FrameReader frameReader() {
        return codec.reader();
    }
}
