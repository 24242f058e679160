package dev.gateway.protocol.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

class UnreadInputTest {
    private static final PooledByteBufAllocator ALLOCATOR = PooledByteBufAllocator.DEFAULT;
    private static final int READ = 64 << 10;

    private static ByteBuf read(int length, int seed) {
        return ALLOCATOR.directBuffer(length, length).writeBytes(bytes(length, seed));
    }

    /** Whole arrays, because under leak detection each access to a buffer is dear. */
    private static byte[] bytes(int length, int seed) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (seed + i);
        }
        return bytes;
    }

    private static byte[] content(ByteBuf buffer) {
        return ByteBufUtil.getBytes(buffer);
    }

    @Test
    void whatWasDecodedIsNotKeptWithTheRest() {
        ByteBuf unread = Unpooled.EMPTY_BUFFER;
        for (int i = 0; i < 200; i++) {
            unread = UnreadInput.CUMULATOR.cumulate(ALLOCATOR, unread, read(READ, i));
            ByteBuf frame = unread.readRetainedSlice(unread.readableBytes() - 100);
            // Still being written at the end of the batch, when Netty would make room, and gone when more is read.
            frame.release();
        }
        assertThat(unread.capacity()).isLessThan(2 * READ);
        assertThat(unread.refCnt()).isEqualTo(1);
        unread.release();
    }

    @Test
    void aFrameThatIsStillBeingWrittenStaysWhatItIs() {
        ByteBuf unread = UnreadInput.CUMULATOR.cumulate(ALLOCATOR, Unpooled.EMPTY_BUFFER, read(1000, 0));
        ByteBuf frame = unread.readRetainedSlice(900);
        ByteBuf joined = UnreadInput.CUMULATOR.cumulate(ALLOCATOR, unread, read(READ, 1000));
        assertThat(joined.readableBytes()).isEqualTo(100 + READ);
        assertThat(content(frame)).isEqualTo(bytes(900, 0));
        assertThat(content(joined)).isEqualTo(bytes(100 + READ, 900));
        assertThat(frame.release()).isTrue();
        assertThat(joined.release()).isTrue();
    }

    /** Who keeps a part of it is charged by its capacity. */
    @Test
    void theCapacityIsTheMemoryThatWasAllocated() {
        PooledByteBufAllocator allocator = new PooledByteBufAllocator(true);
        ByteBuf unread = allocator.directBuffer(9_000, 9_000).writeZero(9_000);
        ByteBuf in = allocator.directBuffer(512 << 10, 512 << 10).writeZero(512 << 10);
        ByteBuf joined = UnreadInput.CUMULATOR.cumulate(allocator, unread, in);
        assertThat(joined.readableBytes()).isEqualTo(9_000 + (512 << 10));
        assertThat(joined.capacity()).isEqualTo(allocator.pinnedDirectMemory());
        assertThat(joined.release()).isTrue();
    }

    @Test
    void bytesThatComeOneByOneAreJoined() {
        ByteBuf unread = Unpooled.EMPTY_BUFFER;
        for (int i = 0; i < 5000; i++) {
            unread = UnreadInput.CUMULATOR.cumulate(ALLOCATOR, unread, read(1, i));
        }
        assertThat(unread.readableBytes()).isEqualTo(5000);
        assertThat(content(unread)).isEqualTo(bytes(5000, 0));
        assertThat(unread.release()).isTrue();
    }
}
