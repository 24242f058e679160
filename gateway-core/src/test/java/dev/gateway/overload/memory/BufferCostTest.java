package dev.gateway.overload.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;

class BufferCostTest {
    private static final byte[] BYTES = new byte[5000];

    @Test
    void anArrayCountsInFullHoweverLittleOfItIsToBeSent() {
        ByteBuf buffer = Unpooled.wrappedBuffer(BYTES).slice(10, 20);
        assertThat(BufferCost.heap(buffer)).isEqualTo(Cost.PIECE + BYTES.length);
        assertThat(BufferCost.direct(buffer)).isZero();
    }

    @Test
    void sharedBytesDoNotCount() {
        assertThat(BufferCost.heap(SharedBytes.of(BYTES))).isEqualTo(Cost.PIECE);
        assertThat(BufferCost.heap(SharedBytes.of(BYTES).retainedDuplicate())).isEqualTo(Cost.PIECE);
    }

    /** The rest is for other slices, but nobody can use it before they are gone, too. */
    @Test
    void ofDirectMemoryASliceCountsForALittleMoreThanItself() {
        ByteBuf all = UnpooledByteBufAllocator.DEFAULT.directBuffer(4096).writeZero(4096);
        ByteBuf part = all.readRetainedSlice(100);
        assertThat(BufferCost.direct(part)).isEqualTo(150);
        assertThat(BufferCost.heap(part)).isEqualTo(Cost.PIECE);
        part.release();
        all.release();
    }

    @Test
    void theLastSliceOfABufferCountsForAllThatItKeeps() {
        ByteBuf all = UnpooledByteBufAllocator.DEFAULT.directBuffer(4096).writeZero(100);
        assertThat(BufferCost.direct(all)).isEqualTo(4096);
        ByteBuf part = all.readSlice(50);
        assertThat(BufferCost.direct(part)).isEqualTo(4096);
        assertThat(BufferCost.room(all)).isEqualTo(4046);
        all.release();
    }

    @Test
    void thePartsOfAWholeAddUp() {
        ByteBuf direct = UnpooledByteBufAllocator.DEFAULT.directBuffer(64).writeZero(64);
        ByteBuf whole = Unpooled.wrappedBuffer(SharedBytes.of(BYTES), Unpooled.wrappedBuffer(new byte[7]), direct);
        assertThat(BufferCost.heap(whole)).isEqualTo(4 * Cost.PIECE + 7);
        assertThat(BufferCost.direct(whole)).isEqualTo(64);
        whole.release();
    }
}
