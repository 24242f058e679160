package dev.gateway.filter.coding;

import io.netty.buffer.ByteBuf;

/** Bytes in direct memory, where native code can read them. No state. */
public final class DirectBytes {
    private static final int CHUNK = 16 * 1024;

    private DirectBytes() {}

    /**
     * Returns the readable bytes of a buffer without copying them if it is one piece of direct memory, else a copy of at
     * most 16 KiB of them. Leaves the buffer as it is. The caller releases the result.
     */
    public static ByteBuf of(ByteBuf in) {
        if (in.isDirect() && in.nioBufferCount() == 1) {
            return in.retainedSlice();
        }
        int length = Math.min(in.readableBytes(), CHUNK);
        return in.alloc().directBuffer(length).writeBytes(in, in.readerIndex(), length);
    }
}
