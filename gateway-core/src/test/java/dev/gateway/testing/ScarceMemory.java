package dev.gateway.testing;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

/** An allocator that runs out of memory after some buffers, so that tests meet every place where that may happen. */
public final class ScarceMemory extends AbstractByteBufAllocator {
    private int left;

    /** Makes one that has memory for so many buffers. */
    public ScarceMemory(int buffers) {
        super(true);
        left = buffers;
    }

    /** Has memory for so many buffers more from now on. */
    public void leave(int buffers) {
        left = buffers;
    }

    private void take() {
        if (left == 0) {
            throw new OutOfMemoryError("made by the test");
        }
        left--;
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        take();
        return PooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        take();
        return PooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
    }

    @Override
    public boolean isDirectBufferPooled() {
        return true;
    }
}
