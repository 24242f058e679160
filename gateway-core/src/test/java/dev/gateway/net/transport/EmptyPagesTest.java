package dev.gateway.net.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EmptyPagesTest {
    private static final int CHUNK = 1 << 20;
    private static final int[] SMALL = {16, 48, 112, 256, 320, 1024, 2048, 4096, 16384, 28672};

    private final PooledByteBufAllocator allocator = new PooledByteBufAllocator(true, 0, 1, 8192, 7, 64, 16, true);

    /** Returns buffers of which each small one has a chunk for itself. */
    private List<ByteBuf> spread() {
        List<ByteBuf> buffers = new ArrayList<>();
        for (int size : SMALL) {
            buffers.add(allocator.directBuffer(size, size));
            for (int rest = CHUNK / 2; rest >= 32 << 10; rest /= 2) {
                buffers.add(allocator.directBuffer(rest, rest));
            }
            buffers.add(allocator.directBuffer(CHUNK / 2, CHUNK / 2)); // needs the next chunk
        }
        return buffers;
    }

    private long used() {
        return allocator.metric().usedDirectMemory();
    }

    private void release(List<ByteBuf> buffers) {
        buffers.forEach(ByteBuf::release);
        allocator.trimCurrentThreadCache();
        allocator.trimCurrentThreadCache();
    }

    @Test
    void freesChunksInWhichOnlyEmptyPagesLie() {
        release(spread());
        assertThat(used()).as("what the allocator keeps by itself").isGreaterThan(4 * CHUNK);

        EmptyPages.gather(allocator);

        assertThat(used()).isLessThanOrEqualTo(2 * CHUNK);
        assertThat(allocator.pinnedDirectMemory()).isZero();
    }

    @Test
    void leavesBuffersAloneThatAreInUse() {
        ByteBuf used = allocator.directBuffer(256, 256).writeLong(42);
        release(spread());

        EmptyPages.gather(allocator);

        assertThat(used.readLong()).isEqualTo(42);
        used.release();
    }
}
