package dev.gateway.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import java.nio.charset.StandardCharsets;

/**
 * The buffers of one channel, counted: what nobody has released by the end of a test fails that test. They are not
 * tracked, which would cost the trace of a stack for each byte that is read.
 */
public final class CountedMemory {
    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true, true);

    /** Has a channel allocate its buffers here. */
    public CountedMemory(Channel channel) {
        channel.config().setAllocator(allocator);
    }

    /** Returns a buffer with a text of Latin-1. */
    public ByteBuf of(String text) {
        return of(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Returns a buffer with a copy of these bytes. */
    public ByteBuf of(byte... bytes) {
        return allocator.directBuffer(bytes.length).writeBytes(bytes);
    }

    /** Returns how many bytes nobody has released. */
    public long held() {
        return allocator.metric().usedHeapMemory() + allocator.metric().usedDirectMemory();
    }

    /** Asserts that everything was released. */
    public void assertNothingLeft() {
        assertEquals(0, held(), "bytes not released");
    }
}
