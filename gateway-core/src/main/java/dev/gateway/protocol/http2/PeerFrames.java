package dev.gateway.protocol.http2;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;

/** Dispatches valid frames that Netty has read to their streams, or to the connection. */
final class PeerFrames implements Http2FrameListener {
    private final MultiplexedConnection connection;
    private final Http2Connection netty;
    private final ClosedStreams closed;
    private final OpenStreams streams;

    PeerFrames(MultiplexedConnection connection, Codec codec, OpenStreams streams) {
        this.connection = connection;
        this.netty = codec.connection();
        this.closed = codec.closed();
        this.streams = streams;
    }

    @Override
    public int onDataRead(ChannelHandlerContext ctx, int streamId, ByteBuf data, int padding, boolean last)
            throws Http2Exception {
        MultiplexedStream stream = streams.of(streamId);
        return padding + (stream == null ? data.readableBytes() : stream.onData(ctx, data, last));
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
        Http2Stream h2 = netty.stream(streamId);
        if (h2 != null) {
            connection.onHeaders(h2, (ReceivedHeaders) headers, last);
        }
    }

    @Override
    public void onRstStreamRead(ChannelHandlerContext ctx, int streamId, long errorCode) throws Http2Exception {
        MultiplexedStream stream = streams.of(streamId);
        closed.onResetByPeer(streamId);
        if (stream != null) {
            stream.touch();
            connection.onResetByPeer(stream, errorCode);
        }
    }

    @Override
    public void onUnknownFrame(
            ChannelHandlerContext ctx, byte frameType, int streamId, Http2Flags flags, ByteBuf payload)
            throws Http2Exception {
        if (frameType == PriorityUpdate.TYPE) {
            if (streamId != 0) {
                throw Http2Exception.connectionError(Http2Error.PROTOCOL_ERROR, "PRIORITY_UPDATE on a stream");
            }
            connection.onPriorityUpdate(PriorityUpdate.read(payload));
        }
    }

    @Override
    public void onSettingsRead(ChannelHandlerContext ctx, Http2Settings settings) {
        connection.onSettings(settings);
    }

    @Override
    public void onPingAckRead(ChannelHandlerContext ctx, long data) {
        connection.onPingAck(data);
    }

    @Override
    public void onGoAwayRead(ChannelHandlerContext ctx, int lastStreamId, long errorCode, ByteBuf debugData) {
        connection.onGoAway(errorCode);
    }

    // Frames that need no action here: Netty has handled them, or peers do not send them.

    @Override
    public void onHeadersRead(
            ChannelHandlerContext ctx, int streamId, Http2Headers headers, int padding, boolean last) {}

    @Override
    public void onPriorityRead(
            ChannelHandlerContext ctx, int streamId, int streamDependency, short weight, boolean exclusive) {}

    @Override
    public void onSettingsAckRead(ChannelHandlerContext ctx) {}

    @Override
    public void onPingRead(ChannelHandlerContext ctx, long data) {}

    @Override
    public void onPushPromiseRead(
            ChannelHandlerContext ctx, int streamId, int promisedStreamId, Http2Headers headers, int padding) {}

    @Override
    public void onWindowUpdateRead(ChannelHandlerContext ctx, int streamId, int increment) {}
}
