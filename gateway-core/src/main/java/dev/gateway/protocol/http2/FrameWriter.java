package dev.gateway.protocol.http2;

import dev.gateway.message.FieldName;
import dev.gateway.net.WriteBatch;
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
 * Netty's frame writer with three changes. Heads, DATA, PING and WINDOW_UPDATE are joined into one buffer for each flush,
 * except for long payloads. Their promises are not completed. Every frame is counted. HPACK uses Huffman coding and
 * the dynamic table; credentials are never indexed (RFC 7541, section 7.1.3). Owns what waits for {@link #emit}, until it is
 * closed.
 */
final class FrameWriter extends DefaultHttp2FrameWriter {
    private static final int HEADER = 9;
    private static final int SHORT_COOKIE = 20; // short enough to be guessed through compression
    private static final boolean IGNORE_LIST_SIZE = true; // it is advice, and the peer answers 431 by itself
    private static final int TABLE_SIZE_HINT = 32; // fields in the table, if there are more it is slower
    private static final int HUFFMAN_FROM = 1;

    private final Http2HeadersEncoder encoder;
    private final ConnectionObserver observer;
    private final FloodGuard guard;
    private final WriteBatch batch = new WriteBatch(); // frames since the last flush
    private long replies; // bytes of frames that are no bodies, since the channel became unwritable
    private boolean dirty;
    private boolean closed;

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

    /** Returns how many bytes of heads and control frames were written since the channel became unwritable. */
    long replies() {
        return replies;
    }

    /** The channel has become writable or unwritable. */
    void restartReplies() {
        replies = 0;
    }

    private void wrote(int type, int length) {
        dirty = true;
        if (type != Http2FrameTypes.DATA) {
            replies += HEADER + length;
        }
        observer.onFrameSent(type, length);
    }

    private static void putHeader(ByteBuf out, int length, int type, int flags, int streamId) {
        out.writeMedium(length);
        out.writeByte(type);
        out.writeByte(flags);
        out.writeInt(streamId);
    }

    /** Hands the channel what was written since the last call: before a flush, and before anything that goes past this. */
    void emit(ChannelHandlerContext ctx) {
        batch.emit(ctx);
    }

    private void appended(ChannelHandlerContext ctx) {
        if (closed) {
            emit(ctx); // which nobody would release later
        }
    }

    @Override
    public void close() {
        closed = true;
        batch.clear();
        super.close();
    }

    /** Writes a head or trailers, in more than one frame only if the peer's limit demands it. Returns how many bytes they take. */
    int head(ChannelHandlerContext ctx, int streamId, Http2Headers headers, boolean endStream) throws Http2Exception {
        ByteBuf out = batch.room(ctx, HEADER);
        int start = out.writerIndex();
        out.writeZero(HEADER);
        try {
            encoder.encodeHeaders(streamId, headers, out);
        } catch (Http2Exception | RuntimeException | Error e) {
            out.writerIndex(start); // so that no part of it is sent
            throw e;
        }
        int end = out.writerIndex();
        int block = end - start - HEADER;
        out.writerIndex(start);
        int endOfStream = endStream ? Http2Flags.END_STREAM : 0;
        if (block > maxFrameSize()) {
            ByteBuf fragments = out.retainedSlice(start + HEADER, block);
            emit(ctx); // it does not reach to the fragments
            headInFragments(ctx, streamId, fragments, endOfStream);
        } else {
            putHeader(out, block, Http2FrameTypes.HEADERS, endOfStream | Http2Flags.END_HEADERS, streamId);
            out.writerIndex(end);
            wrote(Http2FrameTypes.HEADERS, block);
        }
        appended(ctx);
        return HEADER + block;
    }

    private void headInFragments(ChannelHandlerContext ctx, int streamId, ByteBuf block, int endOfStream) {
        try {
            fragment(ctx, Http2FrameTypes.HEADERS, endOfStream, streamId, block.readRetainedSlice(maxFrameSize()));
            while (block.readableBytes() > maxFrameSize()) {
                fragment(ctx, Http2FrameTypes.CONTINUATION, 0, streamId, block.readRetainedSlice(maxFrameSize()));
            }
        } catch (RuntimeException | Error e) {
            block.release();
            throw e;
        }
        fragment(ctx, Http2FrameTypes.CONTINUATION, Http2Flags.END_HEADERS, streamId, block);
    }

    /** Writes a frame whose payload is a buffer of its own. Owns the payload, also on failure. */
    private void fragment(ChannelHandlerContext ctx, int type, int flags, int streamId, ByteBuf payload) {
        int length = payload.readableBytes();
        putHeader(room(ctx, HEADER, payload), length, type, flags, streamId);
        wrote(type, length);
        emit(ctx);
        ctx.write(payload, ctx.voidPromise());
    }

    /** Returns where a frame's header is to be written. Memory may run out here: then the payload is released. */
    private ByteBuf room(ChannelHandlerContext ctx, int bytes, ByteBuf payload) {
        try {
            return batch.room(ctx, bytes);
        } catch (RuntimeException | Error e) {
            payload.release();
            throw e;
        }
    }

    /** Writes a part of a body, in frames as large as the peer takes. Owns it, also on failure. */
    void data(ChannelHandlerContext ctx, int streamId, ByteBuf data, boolean endStream) {
        while (data.readableBytes() > maxFrameSize()) {
            ByteBuf part = data.readRetainedSlice(maxFrameSize());
            try {
                dataFrame(ctx, streamId, part, 0);
            } catch (RuntimeException | Error e) {
                data.release();
                throw e;
            }
        }
        dataFrame(ctx, streamId, data, endStream ? Http2Flags.END_STREAM : 0);
    }

    private void dataFrame(ChannelHandlerContext ctx, int streamId, ByteBuf data, int flags) {
        int length = data.readableBytes();
        guard.onDataSent();
        if (length > WriteBatch.SHORT) {
            fragment(ctx, Http2FrameTypes.DATA, flags, streamId, data);
            return;
        }
        ByteBuf out = room(ctx, HEADER + length, data);
        putHeader(out, length, Http2FrameTypes.DATA, flags, streamId);
        out.writeBytes(data);
        data.release();
        wrote(Http2FrameTypes.DATA, length);
        appended(ctx);
    }

    @Override
    public ChannelFuture writeRstStream(
            ChannelHandlerContext ctx, int streamId, long errorCode, ChannelPromise promise) {
        emit(ctx);
        wrote(Http2FrameTypes.RST_STREAM, 4);
        return super.writeRstStream(ctx, streamId, errorCode, promise);
    }

    @Override
    public ChannelFuture writeSettings(ChannelHandlerContext ctx, Http2Settings settings, ChannelPromise promise) {
        emit(ctx);
        wrote(Http2FrameTypes.SETTINGS, settings.size() * 6);
        return super.writeSettings(ctx, settings, promise);
    }

    @Override
    public ChannelFuture writeSettingsAck(ChannelHandlerContext ctx, ChannelPromise promise) {
        emit(ctx);
        wrote(Http2FrameTypes.SETTINGS, 0);
        return super.writeSettingsAck(ctx, promise);
    }

    @Override
    public ChannelFuture writePing(ChannelHandlerContext ctx, boolean ack, long data, ChannelPromise promise) {
        if (!ack) {
            guard.onPingSent();
        }
        ByteBuf out = batch.room(ctx, HEADER + Long.BYTES);
        putHeader(out, Long.BYTES, Http2FrameTypes.PING, ack ? Http2Flags.ACK : 0, 0);
        out.writeLong(data);
        wrote(Http2FrameTypes.PING, Long.BYTES);
        appended(ctx);
        return promise.setSuccess();
    }

    @Override
    public ChannelFuture writeGoAway(
            ChannelHandlerContext ctx, int lastStreamId, long errorCode, ByteBuf debugData, ChannelPromise promise) {
        emit(ctx);
        wrote(Http2FrameTypes.GO_AWAY, 8 + debugData.readableBytes());
        return super.writeGoAway(ctx, lastStreamId, errorCode, debugData, promise);
    }

    @Override
    public ChannelFuture writeWindowUpdate(
            ChannelHandlerContext ctx, int streamId, int windowSizeIncrement, ChannelPromise promise) {
        ByteBuf out = batch.room(ctx, HEADER + Integer.BYTES);
        putHeader(out, Integer.BYTES, Http2FrameTypes.WINDOW_UPDATE, 0, streamId);
        out.writeInt(windowSizeIncrement);
        wrote(Http2FrameTypes.WINDOW_UPDATE, Integer.BYTES);
        if (streamId == 0) {
            emit(ctx); // when a stream closes, Netty flushes past the connection's handler
        } else {
            appended(ctx);
        }
        return promise.setSuccess();
    }
}
