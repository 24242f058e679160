package dev.gateway.http2;

import dev.gateway.message.FieldName;
import dev.gateway.stream.ConnectionObserver;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Settings;

/**
 * Netty's frame writer, with heads and data written our way: a head is one buffer, a short payload is copied behind its
 * frame header, nobody is told when they were written, and every frame is counted. HPACK uses Huffman coding and the
 * dynamic table; credentials are never indexed (RFC 7541, section 7.1.3).
 */
final class FrameWriter extends DefaultHttp2FrameWriter {
    private static final int HEADER = 9;
    private static final int COPIED = 512; // copying less costs less than another buffer does
    private static final int SHORT_COOKIE = 20; // short enough to be guessed through compression
    private static final boolean IGNORE_LIST_SIZE = true; // it is advice, and the peer answers 431 by itself
    private static final int TABLE_SIZE_HINT = 32; // fields in the table, if there are more it is slower
    private static final int HUFFMAN_FROM = 1;

    private final Http2HeadersEncoder encoder;
    private final ConnectionObserver observer;
    private final FloodGuard guard;
    private boolean dirty;

    FrameWriter(FloodGuard guard, ConnectionObserver observer) {
        this(
                new DefaultHttp2HeadersEncoder(
                        FrameWriter::isSensitive, IGNORE_LIST_SIZE, TABLE_SIZE_HINT, HUFFMAN_FROM),
                guard,
                observer);
    }

    private FrameWriter(Http2HeadersEncoder encoder, FloodGuard guard, ConnectionObserver observer) {
        super(encoder);
        this.encoder = encoder;
        this.guard = guard;
        this.observer = observer;
    }

    private static boolean isSensitive(CharSequence name, CharSequence value) {
        return switch (name.length()) {
            case 6 -> FieldName.COOKIE.lower().contentEquals(name) && value.length() < SHORT_COOKIE;
            case 13 -> FieldName.AUTHORIZATION.lower().contentEquals(name);
            case 19 -> FieldName.PROXY_AUTHORIZATION.lower().contentEquals(name);
            default -> false;
        };
    }

    /** Whether anything was written since the last call. */
    boolean takeDirty() {
        boolean was = dirty;
        dirty = false;
        return was;
    }

    private void wrote(int type, int length) {
        dirty = true;
        observer.onFrameSent(type, length);
    }

    private static void putHeader(ByteBuf out, int length, int type, int flags, int streamId) {
        out.writeMedium(length);
        out.writeByte(type);
        out.writeByte(flags);
        out.writeInt(streamId);
    }

    /** Writes a head or trailers, in more than one frame only if the peer's limit demands it. */
    void head(ChannelHandlerContext ctx, int streamId, Http2Headers headers, boolean endStream) throws Http2Exception {
        ByteBuf out = ctx.alloc().buffer(256);
        try {
            out.writeZero(HEADER);
            encoder.encodeHeaders(streamId, headers, out);
        } catch (Http2Exception e) {
            out.release();
            throw e;
        }
        int block = out.readableBytes() - HEADER;
        int first = Math.min(block, maxFrameSize());
        int flags = (endStream ? Http2Flags.END_STREAM : 0) | (first == block ? Http2Flags.END_HEADERS : 0);
        int end = out.writerIndex();
        out.writerIndex(out.readerIndex());
        putHeader(out, first, Http2FrameTypes.HEADERS, flags, streamId);
        out.writerIndex(end);
        wrote(Http2FrameTypes.HEADERS, first);
        if (first == block) {
            ctx.write(out, ctx.voidPromise());
            return;
        }
        ctx.write(out.readRetainedSlice(HEADER + first), ctx.voidPromise());
        while (out.readableBytes() > maxFrameSize()) {
            continuation(ctx, streamId, out.readRetainedSlice(maxFrameSize()), 0);
        }
        continuation(ctx, streamId, out, Http2Flags.END_HEADERS);
    }

    private void continuation(ChannelHandlerContext ctx, int streamId, ByteBuf fragment, int flags) {
        int length = fragment.readableBytes();
        ByteBuf header = ctx.alloc().buffer(HEADER);
        putHeader(header, length, Http2FrameTypes.CONTINUATION, flags, streamId);
        wrote(Http2FrameTypes.CONTINUATION, length);
        ctx.write(header, ctx.voidPromise());
        ctx.write(fragment, ctx.voidPromise());
    }

    /** Writes a part of a body, in frames as large as the peer takes. */
    void data(ChannelHandlerContext ctx, int streamId, ByteBuf data, boolean endStream) {
        while (data.readableBytes() > maxFrameSize()) {
            dataFrame(ctx, streamId, data.readRetainedSlice(maxFrameSize()), 0);
        }
        dataFrame(ctx, streamId, data, endStream ? Http2Flags.END_STREAM : 0);
    }

    private void dataFrame(ChannelHandlerContext ctx, int streamId, ByteBuf data, int flags) {
        int length = data.readableBytes();
        boolean copied = length <= COPIED;
        ByteBuf out = ctx.alloc().buffer(copied ? HEADER + length : HEADER);
        putHeader(out, length, Http2FrameTypes.DATA, flags, streamId);
        wrote(Http2FrameTypes.DATA, length);
        guard.onDataSent();
        if (copied) {
            out.writeBytes(data);
            data.release();
            ctx.write(out, ctx.voidPromise());
        } else {
            ctx.write(out, ctx.voidPromise());
            ctx.write(data, ctx.voidPromise());
        }
    }

    @Override
    public ChannelFuture writeRstStream(
            ChannelHandlerContext ctx, int streamId, long errorCode, ChannelPromise promise) {
        wrote(Http2FrameTypes.RST_STREAM, 4);
        return super.writeRstStream(ctx, streamId, errorCode, promise);
    }

    @Override
    public ChannelFuture writeSettings(ChannelHandlerContext ctx, Http2Settings settings, ChannelPromise promise) {
        wrote(Http2FrameTypes.SETTINGS, settings.size() * 6);
        return super.writeSettings(ctx, settings, promise);
    }

    @Override
    public ChannelFuture writeSettingsAck(ChannelHandlerContext ctx, ChannelPromise promise) {
        wrote(Http2FrameTypes.SETTINGS, 0);
        return super.writeSettingsAck(ctx, promise);
    }

    @Override
    public ChannelFuture writePing(ChannelHandlerContext ctx, boolean ack, long data, ChannelPromise promise) {
        wrote(Http2FrameTypes.PING, 8);
        return super.writePing(ctx, ack, data, promise);
    }

    @Override
    public ChannelFuture writeGoAway(
            ChannelHandlerContext ctx, int lastStreamId, long errorCode, ByteBuf debugData, ChannelPromise promise) {
        wrote(Http2FrameTypes.GO_AWAY, 8 + debugData.readableBytes());
        return super.writeGoAway(ctx, lastStreamId, errorCode, debugData, promise);
    }

    @Override
    public ChannelFuture writeWindowUpdate(
            ChannelHandlerContext ctx, int streamId, int windowSizeIncrement, ChannelPromise promise) {
        wrote(Http2FrameTypes.WINDOW_UPDATE, 4);
        return super.writeWindowUpdate(ctx, streamId, windowSizeIncrement, promise);
    }
}
