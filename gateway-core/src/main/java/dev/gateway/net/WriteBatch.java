package dev.gateway.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import org.jspecify.annotations.Nullable;

/**
 * Write coalescing. The short pieces that a connection sends between two flushes, one behind the other in one buffer: that
 * costs less than a buffer, a write and an entry of a list for each. The channel does not know of them before {@link
 * #emit}, which so has to precede whatever else is written. Owns its buffer; confined to the connection's event loop.
 */
public final class WriteBatch {
    /** A piece of up to so many bytes is better copied here than written by itself. */
    public static final int SHORT = 512;

    private static final int LEAST = 256;
    private static final int MOST = 16 * 1024; // flow control does not know of it either

    private @Nullable ByteBuf batch;
    private int expected = LEAST; // so large was the last one

    /** Returns how many bytes wait for {@link #emit}. */
    public int bytes() {
        ByteBuf out = batch;
        return out == null ? 0 : out.readableBytes();
    }

    /**
     * Returns where a piece is to be written, which stays the batch's. There is room for so many bytes of it, so that memory
     * cannot run out in their midst.
     */
    public ByteBuf room(ChannelHandlerContext ctx, int bytes) {
        if (batch != null && batch.readableBytes() + bytes > MOST) {
            emit(ctx);
        }
        ByteBuf out = batch;
        if (out == null) {
            out = ctx.alloc().directBuffer(Math.max(expected, bytes));
            batch = out;
        }
        return out.ensureWritable(bytes);
    }

    /** Takes a piece in if it is short; else writes it by itself, behind what waits. Owns it, also on failure. */
    public void write(ChannelHandlerContext ctx, ByteBuf piece) {
        int length = piece.readableBytes();
        if (length > SHORT) {
            emit(ctx);
            ctx.write(piece, ctx.voidPromise());
            return;
        }
        try {
            room(ctx, length).writeBytes(piece);
        } finally {
            piece.release();
        }
    }

    /** Hands the channel what was added since the last call: before a flush, and before anything that goes past this. */
    public void emit(ChannelHandlerContext ctx) {
        ByteBuf out = batch;
        if (out != null) {
            batch = null;
            expected = Math.min(MOST, Math.max(LEAST, out.readableBytes()));
            ctx.write(out, ctx.voidPromise());
        }
    }

    /** Drops what waits for {@link #emit}. */
    public void clear() {
        if (batch != null) {
            batch.release();
            batch = null;
        }
    }
}
