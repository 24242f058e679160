package dev.gateway.protocol.http2;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.ByteToMessageDecoder.Cumulator;

/**
 * Joins what was read to the part of a frame that was read before. Netty's own way makes the old buffer larger, with all
 * the frames in it that were decoded long ago: at full speed, where each batch of reads ends within a frame and what was
 * decoded is still being written, it grows without bound. Here only what is unread is kept.
 */
final class UnreadInput implements Cumulator {
    static final UnreadInput CUMULATOR = new UnreadInput();

    private UnreadInput() {}

    @Override
    public ByteBuf cumulate(ByteBufAllocator allocator, ByteBuf unread, ByteBuf in) {
        if (!unread.isReadable()) {
            unread.release();
            return in;
        }
        try {
            if (!unread.isReadOnly() && in.readableBytes() <= unread.maxFastWritableBytes()) {
                return unread.writeBytes(in);
            }
            ByteBuf joined = allocator.buffer(unread.readableBytes() + in.readableBytes());
            joined.capacity(joined.maxFastWritableBytes()); // all that was allocated, so that it is charged
            joined.writeBytes(unread).writeBytes(in);
            unread.release();
            return joined;
        } finally {
            in.release();
        }
    }
}
