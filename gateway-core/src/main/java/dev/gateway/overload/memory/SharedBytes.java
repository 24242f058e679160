package dev.gateway.overload.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;

/**
 * Shared content: bytes of the heap that exist once, however many replies send them, such as a page of the configuration.
 * Each reply has a buffer of its own over them. {@link BufferCost} counts that buffer, but not the bytes.
 */
public final class SharedBytes extends UnpooledHeapByteBuf {
    private SharedBytes(byte[] bytes) {
        super(UnpooledByteBufAllocator.DEFAULT, bytes, bytes.length);
    }

    /**
     * Returns a buffer that reads the bytes.
     *
     * @param bytes nobody may change them afterwards
     */
    public static ByteBuf of(byte[] bytes) {
        return new SharedBytes(bytes);
    }
}
