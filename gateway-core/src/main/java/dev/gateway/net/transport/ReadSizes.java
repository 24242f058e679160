package dev.gateway.net.transport;

import dev.gateway.overload.memory.DirectMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import io.netty.util.internal.AdaptiveCalculator;
import java.util.function.Supplier;

/**
 * How much is read from a connection at once: what its last reads suggest. A bulk transfer gets buffers in which a system
 * call, and the waking of the other end, are worth their cost; but only while there is memory to spare, for
 * a reader that stalls keeps what was read for it. The less is left, the less is read. Safe from any thread; what it makes belongs to one connection's loop.
 */
final class ReadSizes extends DefaultMaxMessagesRecvByteBufAllocator {
    /** Never so little that a browser's head, after many short requests, would need a second read. */
    private static final int LEAST = 1 << 10;

    private static final int FIRST = 2 << 10;
    /** The most while memory is neither ample nor scarce, and for who has not shown that it needs more. */
    static final int MODERATE = 64 << 10;
    /** Twice as much saves little more, half of it much less; a buffer is read and written in some 0.2 ms. */
    static final int BULK = 512 << 10;
    /** The most where memory is scarce: with two of them a stalled reader keeps no more than others' proxies keep for it. */
    static final int SCANT = 16 << 10;

    private final Supplier<DirectMemory.Supply> supply;

    /** Makes it for the memory of this process. */
    ReadSizes() {
        this(DirectMemory::supply);
    }

    /**
     * Makes it.
     *
     * @param supply how much memory is left; asked before each buffer that is not small
     */
    ReadSizes(Supplier<DirectMemory.Supply> supply) {
        this.supply = supply;
    }

    private int most() {
        return switch (supply.get()) {
            case AMPLE -> BULK;
            case MODERATE -> MODERATE;
            case SCARCE -> SCANT;
            case RESERVE -> FIRST;
        };
    }

    @Override
    public ExtendedHandle newHandle() {
        return new ReadSize();
    }

    private final class ReadSize extends MaxMessageHandle {
        private final AdaptiveCalculator sizes = new AdaptiveCalculator(LEAST, FIRST, BULK);
        private boolean bulk; // the last turn read as much as a large buffer is for

        @Override
        public ByteBuf allocate(ByteBufAllocator allocator) {
            int size = guess();
            try {
                return allocator.ioBuffer(size);
            } catch (OutOfMemoryError e) {
                // What is left is in pieces; a small one may do.
                if (size <= LEAST) {
                    throw e;
                }
                return allocator.ioBuffer(LEAST);
            }
        }

        @Override
        public int guess() {
            int size = sizes.nextSize();
            if (size <= FIRST) {
                return size;
            }
            return Math.min(Math.min(size, most()), bulk ? BULK : MODERATE);
        }

        @Override
        public void lastBytesRead(int bytes) {
            // A buffer that was filled asks for a larger one at once, not after all of a burst.
            if (bytes == attemptedBytesRead()) {
                sizes.record(bytes);
            }
            bulk |= bytes >= MODERATE;
            super.lastBytesRead(bytes);
        }

        @Override
        public void readComplete() {
            sizes.record(totalBytesRead());
            bulk = totalBytesRead() >= MODERATE;
        }
    }
}
