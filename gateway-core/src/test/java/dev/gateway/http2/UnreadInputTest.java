package dev.gateway.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

class UnreadInputTest {
    private static final PooledByteBufAllocator ALLOCATOR = PooledByteBufAllocator.DEFAULT;
    private static final int READ = 64 << 10;

    private static ByteBuf read(int length, int seed) {
        ByteBuf in = ALLOCATOR.directBuffer(length, length);
        for (int i = 0; i < length; i++) {
            in.writeByte(seed + i);
        }
        return in;
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
        for (int i = 0; i < 900; i++) {
            assertThat(frame.getByte(i)).isEqualTo((byte) i);
        }
        for (int i = 0; i < 100 + READ; i++) {
            assertThat(joined.getByte(i)).isEqualTo((byte) (900 + i));
        }
        assertThat(frame.release()).isTrue();
        assertThat(joined.release()).isTrue();
    }

    @Test
    void bytesThatComeOneByOneAreJoined() {
        ByteBuf unread = Unpooled.EMPTY_BUFFER;
        for (int i = 0; i < 5000; i++) {
            unread = UnreadInput.CUMULATOR.cumulate(ALLOCATOR, unread, read(1, i));
        }
        assertThat(unread.readableBytes()).isEqualTo(5000);
        for (int i = 0; i < 5000; i++) {
            assertThat(unread.readByte()).isEqualTo((byte) i);
        }
        assertThat(unread.release()).isTrue();
    }
}
