package dev.gateway.protocol.http2;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import dev.gateway.net.HalfClose;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Sends the frames of a connection's streams: DATA by Netty's flow controller, which keeps the peer's windows, heads and
 * RST_STREAM at once. Part of the connection, on its event loop; all waits for its flush.
 */
final class StreamSender {
    private final MultiplexedConnection connection;
    private final Http2Connection netty;
    private final Http2RemoteFlowController outbound;
    private final FrameWriter writer;
    private final ClosedStreams closed;
    private final FloodGuard guard;
    private final ConnectionShutdown ending;
    private final FlushSchedule flushes;
    private final SentHeaders sent = new SentHeaders();
    private @Nullable AsciiString scheme; // of the connection; known once it has sent a request
    private long dataWritten; // bytes of all bodies

    StreamSender(MultiplexedConnection connection, Codec codec, ConnectionShutdown ending, FlushSchedule flushes) {
        this.connection = connection;
        this.netty = codec.connection();
        this.outbound = netty.remote().flowController();
        this.writer = codec.writer();
        this.closed = codec.closed();
        this.guard = codec.guard();
        this.ending = ending;
        this.flushes = flushes;
    }

    // What waits for windows.

    boolean isWritable(Http2Stream h2) {
        // Netty counts what waits on all streams against the connection's window, also what waits for a stream's own.
        // So that peers that stall some streams do not stop others, each may have something waiting.
        return outbound.isWritable(h2)
                || (!outbound.hasFlowControlled(h2)
                        && hasWindow(h2)
                        && hasWindow(netty.connectionStream())
                        && takesMore());
    }

    /** Whether this number of bytes would leave at once. */
    boolean takesAll(Http2Stream h2, int bytes) {
        return isWritable(h2)
                && outbound.windowSize(h2) >= bytes
                && outbound.windowSize(netty.connectionStream()) >= bytes;
    }

    /** Whether the socket takes more, so that frames without flow control need not wait for it. */
    boolean takesMore() {
        return channel().isWritable();
    }

    Channel channel() {
        return connection.context().channel();
    }

    boolean hasPending(Http2Stream h2) {
        return outbound.hasFlowControlled(h2);
    }

    /** Whether a stream could send, if it were its turn. */
    boolean hasWindow(Http2Stream h2) {
        return outbound.windowSize(h2) > 0;
    }

    void enqueue(Http2Stream h2, Http2RemoteFlowController.FlowControlled frame) {
        outbound.addFlowControlled(h2, frame);
    }

    // What is written.

    /** Returns how many bytes of bodies were written. */
    long dataWritten() {
        return dataWritten;
    }

    void data(ChannelHandlerContext ctx, Http2Stream h2, ByteBuf data, boolean last) {
        dataWritten += data.readableBytes();
        ending.onSent();
        writer.data(ctx, h2.id(), data, last);
    }

    /** Sends a request's head. Returns how many bytes it takes, 0 if the connection has failed instead. */
    int request(Http2Stream h2, RequestHead head, boolean last) {
        AsciiString known = scheme;
        if (known == null) {
            known = Scheme.of(HalfClose.isSecured(channel()));
            scheme = known;
        }
        sent.request(head, known);
        return writeHeaders(h2, false, last);
    }

    /** Sends a response's head; an interim one ends nothing. */
    void response(Http2Stream h2, ResponseHead head, boolean last) {
        boolean interim = head.isInterim();
        sent.response(head);
        writeHeaders(h2, interim, last && !interim);
    }

    /** Sends trailers. Returns how many bytes they take, 0 if the connection has failed instead. */
    int trailers(Http2Stream h2, Fields trailers) {
        sent.trailers(trailers);
        return writeHeaders(h2, false, true);
    }

    /** Writes what {@link #sent} points at. Returns how many bytes it takes, 0 if the connection has failed instead. */
    private int writeHeaders(Http2Stream h2, boolean interim, boolean last) {
        ChannelHandlerContext ctx = connection.context();
        ending.onSent();
        int bytes;
        try {
            bytes = writer.head(ctx, h2.id(), sent, last);
        } catch (Http2Exception | RuntimeException | Error e) {
            connection.onError(ctx, true, e); // part of it may be in HPACK's table, so no head after it could be read
            return 0;
        } finally {
            sent.forget();
        }
        h2.headersSent(interim);
        if (last) {
            closeLocal(h2);
        }
        return bytes;
    }

    /** The last of what we send on a stream was written. */
    void closeLocal(Http2Stream h2) {
        connection.closeStreamLocal(h2, connection.context().newSucceededFuture());
    }

    /** Ends a stream in both directions. */
    void reset(Http2Stream h2, Http2Error error) {
        ChannelHandlerContext ctx = connection.context();
        if (h2.state() != Http2Stream.State.CLOSED && !h2.isResetSent() && !ending.isClosing()) {
            closed.onResetByUs(h2.id());
            guard.onResetSent();
            if (h2.state().remoteSideOpen()) {
                ending.onCutShort();
            }
            connection.resetStream(ctx, h2.id(), error.code(), ctx.newPromise());
            flushes.request();
        }
    }
}
