package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** How much memory waits in a channel whose peer takes nothing. */
class WaitingSizesTest {
    private static final int READ = 512 << 10;

    private final EmbeddedChannel channel = new EmbeddedChannel();

    WaitingSizesTest() {
        channel.config().setOption(ChannelOption.MESSAGE_SIZE_ESTIMATOR, WaitingSizes.INSTANCE);
    }

    private static ByteBuf read(int bytes) {
        return PooledByteBufAllocator.DEFAULT.directBuffer(READ, READ).writeZero(bytes);
    }

    @Test
    void aBufferWaitsWithTheRoomBehindItsBytes() {
        channel.write(read(1000));
        assertThat(PendingWrites.bytes(channel)).isBetween((long) READ, READ + 200L);
        assertThat(channel.isWritable()).isFalse();
        channel.flush();
        assertThat(PendingWrites.bytes(channel)).isZero();
        channel.finishAndReleaseAll();
    }

    @Test
    void aSliceWaitsWithItsOwnBytes() {
        ByteBuf read = read(READ);
        for (int i = 0; i < 4; i++) {
            channel.write(read.readRetainedSlice(10_000));
        }
        read.release();
        assertThat(PendingWrites.bytes(channel)).isBetween(40_000L, 41_000L);
        channel.finishAndReleaseAll();
    }

    /** The kernel has taken the slices before. */
    @Test
    void theLastSlicesOfABufferWaitWithAllOfItThatOthersDoNotHave() {
        EmbeddedChannel full = new EmbeddedChannel() {
            @Override
            protected void doWrite(ChannelOutboundBuffer waiting) {
                // the peer takes nothing
            }
        };
        full.config().setOption(ChannelOption.MESSAGE_SIZE_ESTIMATOR, WaitingSizes.INSTANCE);
        assertThat(PendingWrites.memory(full)).isZero();
        ByteBuf read = read(READ);
        ByteBuf others = read.retainedSlice(0, 1000);
        read.skipBytes(READ - 20_000);
        for (int i = 0; i < 2; i++) {
            full.write(Unpooled.directBuffer(10, 10).writeZero(10)); // the line of a chunk
            full.write(read.readRetainedSlice(10_000));
        }
        read.release();
        full.flush();
        assertThat(PendingWrites.bytes(full)).isBetween(20_000L, 21_000L);
        assertThat(PendingWrites.memory(full)).isBetween(READ * 2L / 3, READ * 2L / 3 + 1_000);
        others.release();
        assertThat(PendingWrites.memory(full)).isBetween((long) READ, READ + 1_000L);
        full.finishAndReleaseAll();
        assertThat(PendingWrites.memory(full)).isZero();
    }

    @Test
    void whatIsNoBufferHasTheUsualSize() {
        assertThat(WaitingSizes.INSTANCE.newHandle().size(new Object())).isEqualTo(8);
        assertThat(WaitingSizes.INSTANCE.size(Unpooled.EMPTY_BUFFER)).isZero();
    }

    /** Whatever the buffers are, the sum is their memory. */
    @Test
    void theSumIsTheMemoryThatWaits() {
        Random random = new Random(1);
        for (int round = 0; round < 20; round++) {
            long memory = 0;
            int pieces = 1 + random.nextInt(50);
            for (int i = 0; i < pieces; i++) {
                int size = 1 + random.nextInt(random.nextBoolean() ? 100 : 100_000);
                ByteBuf whole = PooledByteBufAllocator.DEFAULT.directBuffer(size, size);
                whole.writeZero(size - random.nextInt(size));
                memory += size;
                channel.write(whole);
            }
            assertThat(PendingWrites.bytes(channel)).isBetween(memory, memory + 100L * pieces);
            channel.flush();
            assertThat(PendingWrites.bytes(channel)).isZero();
            channel.releaseOutbound();
        }
        channel.finishAndReleaseAll();
    }
}
