package dev.gateway.net.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.memory.DirectMemory.Supply;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ReadSizesTest {
    private final AtomicReference<Supply> supply = new AtomicReference<>(Supply.AMPLE);
    private final RecvByteBufAllocator.ExtendedHandle size = new ReadSizes(supply::get).newHandle();

    @Test
    void growsWithWhatFillsItAndShrinksWithWhatDoesNot() {
        int first = size.guess();
        assertThat(first).isLessThanOrEqualTo(ReadSizes.MODERATE);

        read(first);
        assertThat(size.guess()).isGreaterThan(first);
        while (size.guess() < ReadSizes.BULK) {
            read(size.guess());
        }
        read(size.guess());
        assertThat(size.guess()).isEqualTo(ReadSizes.BULK);

        for (int i = 0; i < 40; i++) {
            read(100);
        }
        assertThat(size.guess()).isEqualTo(1024);
    }

    @Test
    void takesSmallerBuffersTheLessMemoryIsLeft() {
        while (size.guess() < ReadSizes.BULK) {
            read(size.guess());
        }
        supply.set(Supply.MODERATE);
        read(size.guess());
        assertThat(size.guess()).isEqualTo(ReadSizes.MODERATE);
        supply.set(Supply.SCARCE);
        assertThat(size.guess()).isEqualTo(ReadSizes.SCANT);
        supply.set(Supply.RESERVE);
        assertThat(size.guess()).isEqualTo(2 << 10);

        supply.set(Supply.AMPLE);
        while (size.guess() < ReadSizes.BULK) {
            read(size.guess());
        }
    }

    /** Else single bytes that nobody takes could each keep a large one. */
    @Test
    void takesNoLargeBufferAfterOneThatGotLittle() {
        while (size.guess() < ReadSizes.BULK) {
            read(size.guess());
        }
        read(1);
        assertThat(size.guess()).isEqualTo(ReadSizes.MODERATE);

        read(ReadSizes.MODERATE);
        assertThat(size.guess()).isGreaterThan(ReadSizes.MODERATE);
    }

    @Test
    void asksForMemoryOfSocketsOnly() {
        assertThat(size.guess()).isLessThanOrEqualTo(ReadSizes.MODERATE);
        ByteBuf buffer = size.allocate(UnpooledByteBufAllocator.DEFAULT);
        try {
            assertThat(buffer.isDirect()).isTrue();
            assertThat(buffer.writableBytes()).isEqualTo(size.guess());
        } finally {
            buffer.release();
        }
    }

    @Test
    void aSmallBufferWillDoWhereThereIsNoLargeOne() {
        while (size.guess() < ReadSizes.BULK) {
            read(size.guess());
        }
        ByteBuf buffer = size.allocate(new PooledByteBufAllocator(true) {
            @Override
            protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
                if (initialCapacity > 1024) {
                    throw new OutOfMemoryError("for the test");
                }
                return super.newDirectBuffer(initialCapacity, maxCapacity);
            }
        });
        assertThat(buffer.writableBytes()).isEqualTo(1024);
        buffer.release();
    }

    /** What a channel does for one read of a socket that had so many bytes. */
    private void read(int bytes) {
        size.reset(new EmbeddedChannel().config());
        size.attemptedBytesRead(size.guess());
        size.lastBytesRead(bytes);
        size.incMessagesRead(1);
        size.readComplete();
    }
}
