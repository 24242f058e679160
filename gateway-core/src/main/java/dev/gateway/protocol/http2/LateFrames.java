package dev.gateway.protocol.http2;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;

/**
 * Ignores frames that their sender could not know to be too late: those of streams that we have reset (RFC 9113, section
 * 5.4.2), and those of streams above the last one that our GOAWAY has named (section 6.8). Netty's decoder, which gets all
 * others, would answer many of these by an error. Header blocks have passed HPACK's table when they come here, and ignored
 * DATA still counts against the connection's window. The {@link FloodGuard} limits how many there are.
 */
final class LateFrames implements Http2FrameListener {
    private final Http2Connection connection;
    private final ClosedStreams closed;
    private final FloodGuard guard;
    private Http2FrameListener decoder;
    private int lastStream = Integer.MAX_VALUE; // of the peer's, that we take

    LateFrames(Http2Connection connection, ClosedStreams closed, FloodGuard guard) {
        this.connection = connection;
        this.closed = closed;
        this.guard = guard;
        this.decoder = this;
    }

    /** Returns the listener of frames, which passes those that are not late to Netty's decoder. */
    Http2FrameListener before(Http2FrameListener decoder) {
        this.decoder = decoder;
        return this;
    }

    /** GOAWAY has told the peer that we take none of its streams above this one. */
    void onLastStreamSaid(int streamId) {
        lastStream = streamId;
    }

    /** Whether GOAWAY has told the peer that we do not take this stream. */
    boolean isBeyondLast(int streamId) {
        return streamId > lastStream;
    }

    private boolean isLate(int streamId) {
        if (isBeyondLast(streamId)) {
            return true;
        }
        Http2Stream h2 = connection.stream(streamId);
        return h2 == null
                ? connection.streamMayHaveExisted(streamId) && closed.wasResetByUs(streamId)
                : h2.isResetSent();
    }

    @Override
    public int onDataRead(ChannelHandlerContext ctx, int streamId, ByteBuf data, int padding, boolean last)
            throws Http2Exception {
        int length = data.readableBytes();
        if (isLate(streamId)) {
            if (length < FloodGuard.TINY) {
                guard.onStray();
            }
            connection.local().flowController().receiveFlowControlledFrame(null, data, padding, last);
            return length + padding;
        }
        if (length == 0 && padding > 0 && !last) {
            guard.onEmptyData(); // without padding, the guard has seen it by its length
        }
        return decoder.onDataRead(ctx, streamId, data, padding, last);
    }

    @Override
    public void onHeadersRead(ChannelHandlerContext ctx, int streamId, Http2Headers headers, int padding, boolean last)
            throws Http2Exception {
        if (isLate(streamId)) {
            guard.onStray();
        } else {
            decoder.onHeadersRead(ctx, streamId, headers, padding, last);
        }
    }

    @Override
    public void onHeadersRead(
            ChannelHandlerContext ctx,
            int streamId,
            Http2Headers headers,
            int streamDependency,
            short weight,
            boolean exclusive,
            int padding,
            boolean last)
            throws Http2Exception {
        if (isLate(streamId)) {
            guard.onStray();
        } else {
            decoder.onHeadersRead(ctx, streamId, headers, streamDependency, weight, exclusive, padding, last);
        }
    }

    @Override
    public void onRstStreamRead(ChannelHandlerContext ctx, int streamId, long errorCode) throws Http2Exception {
        if (connection.stream(streamId) == null) {
            guard.onStray();
        }
        if (!isBeyondLast(streamId)) {
            decoder.onRstStreamRead(ctx, streamId, errorCode);
        }
    }

    @Override
    public void onWindowUpdateRead(ChannelHandlerContext ctx, int streamId, int increment) throws Http2Exception {
        if (!isBeyondLast(streamId)) {
            decoder.onWindowUpdateRead(ctx, streamId, increment);
        }
    }

    @Override
    public void onPriorityRead(
            ChannelHandlerContext ctx, int streamId, int streamDependency, short weight, boolean exclusive)
            throws Http2Exception {
        decoder.onPriorityRead(ctx, streamId, streamDependency, weight, exclusive);
    }

    @Override
    public void onUnknownFrame(
            ChannelHandlerContext ctx, byte frameType, int streamId, Http2Flags flags, ByteBuf payload)
            throws Http2Exception {
        decoder.onUnknownFrame(ctx, frameType, streamId, flags, payload);
    }

    @Override
    public void onSettingsRead(ChannelHandlerContext ctx, Http2Settings settings) throws Http2Exception {
        decoder.onSettingsRead(ctx, settings);
    }

    @Override
    public void onSettingsAckRead(ChannelHandlerContext ctx) throws Http2Exception {
        decoder.onSettingsAckRead(ctx);
    }

    @Override
    public void onPingRead(ChannelHandlerContext ctx, long data) throws Http2Exception {
        decoder.onPingRead(ctx, data);
    }

    @Override
    public void onPingAckRead(ChannelHandlerContext ctx, long data) throws Http2Exception {
        decoder.onPingAckRead(ctx, data);
    }

    @Override
    public void onPushPromiseRead(
            ChannelHandlerContext ctx, int streamId, int promisedStreamId, Http2Headers headers, int padding)
            throws Http2Exception {
        decoder.onPushPromiseRead(ctx, streamId, promisedStreamId, headers, padding);
    }

    @Override
    public void onGoAwayRead(ChannelHandlerContext ctx, int lastStreamId, long errorCode, ByteBuf debugData)
            throws Http2Exception {
        decoder.onGoAwayRead(ctx, lastStreamId, errorCode, debugData);
    }
}
