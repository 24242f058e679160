package dev.gateway.testing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;

/**
 * Buffers as sockets make them: direct, pooled and tracked, so that one that nobody releases is reported. Those that
 * {@code Unpooled} makes of an array are not tracked, and may leak without a word.
 */
public final class Buffers {
    private Buffers() {}

    /** Returns a buffer with a text of Latin-1. */
    public static ByteBuf of(String text) {
        return of(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Returns a buffer with a copy of these bytes. */
    public static ByteBuf of(byte... bytes) {
        return ByteBufAllocator.DEFAULT.directBuffer(bytes.length).writeBytes(bytes);
    }

    /** Returns one buffer with what these have, which it releases. */
    public static ByteBuf join(ByteBuf... parts) {
        ByteBuf joined = ByteBufAllocator.DEFAULT.directBuffer();
        for (ByteBuf part : parts) {
            joined.writeBytes(part);
            part.release();
        }
        return joined;
    }
}
