package dev.gateway.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import java.nio.charset.StandardCharsets;

/**
 * The buffers of one channel, counted: what nobody has released by the end of a test fails that test. They are not
 * tracked, which would cost the trace of a stack for each byte that is read.
 */
final class CountedMemory {
    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true, true);

    CountedMemory(Channel channel) {
        channel.config().setAllocator(allocator);
    }

    /** Returns a buffer with a text of Latin-1. */
    ByteBuf of(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        return allocator.directBuffer(bytes.length).writeBytes(bytes);
    }

    /** Returns how many bytes nobody has released. */
    long held() {
        return allocator.metric().usedHeapMemory() + allocator.metric().usedDirectMemory();
    }

    void assertNothingLeft() {
        assertEquals(0, held(), "bytes not released");
    }
}
