package dev.gateway.net.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PoolArenaMetric;
import io.netty.buffer.PoolSubpageMetric;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;

/**
 * Brings pages together that hold no buffer. For each size of small buffers the allocator keeps a page, even when nobody
 * uses it. After an attack these pages lie in as many chunks as the attack needed, and no such chunk can be freed.
 *
 * <p>The allocator has no call for this. But it frees an empty page when another page of the same size has room. So this
 * class fills the page and asks for one buffer more, which gets a new page in the fullest chunk that has room. Then it
 * gives all of them back, and the old page goes.
 */
final class EmptyPages {
    private EmptyPages() {}

    /** Moves the empty pages of the arena that the calling thread allocates from. */
    static void gather(PooledByteBufAllocator allocator) {
        allocator.trimCurrentThreadCache();
        sizes(allocator).forEach((size, count) -> replace(allocator, size, count));
    }

    /** Returns the sizes of buffers that have an empty page, and how many buffers such a page holds. */
    private static Map<Integer, Integer> sizes(PooledByteBufAllocator allocator) {
        Map<Integer, Integer> sizes = new TreeMap<>();
        for (PoolArenaMetric arena : allocator.metric().directArenas()) {
            for (PoolSubpageMetric page : arena.smallSubpages()) {
                if (page.numAvailable() == page.maxNumElements()) {
                    sizes.put(page.elementSize(), page.maxNumElements());
                }
            }
        }
        return sizes;
    }

    private static void replace(PooledByteBufAllocator allocator, int size, int count) {
        Deque<ByteBuf> inOld = new ArrayDeque<>();
        Deque<ByteBuf> inNew = new ArrayDeque<>();
        try {
            while (inOld.size() < count) {
                inOld.add(allocator.directBuffer(size, size));
            }
            inNew.add(allocator.directBuffer(size, size));
        } finally {
            // The page that goes is the last to become empty while another has room. A page of one buffer has room only
            // when it is empty, so there the new one is emptied first.
            release(allocator, count == 1 ? inNew : inOld);
            release(allocator, count == 1 ? inOld : inNew);
        }
    }

    private static void release(PooledByteBufAllocator allocator, Deque<ByteBuf> buffers) {
        buffers.forEach(ByteBuf::release);
        allocator.trimCurrentThreadCache(); // which has got some of them
    }
}
