package dev.gateway.overload;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;

/**
 * Buffer cost: how much memory goes when a buffer is released, except what is {@link Charged}. To be asked only where a
 * buffer is kept: it looks into it.
 */
public final class BufferCost {
    private BufferCost() {}

    /** A buffer that has charged its bytes itself, until it is released. */
    interface Charged {}

    /** Returns the bytes of heap: the objects, and arrays that are not {@link SharedBytes}. */
    public static long heap(ByteBuf buffer) {
        ByteBuf base = base(buffer);
        if (base instanceof Charged) {
            return Cost.PIECE;
        }
        if (base instanceof CompositeByteBuf composite) {
            long bytes = Cost.PIECE;
            for (int i = 0; i < composite.numComponents(); i++) {
                bytes += heap(composite.internalComponent(i));
            }
            return bytes;
        }
        return Cost.PIECE + (base instanceof SharedBytes || base.isDirect() ? 0 : base.capacity());
    }

    /** Returns the bytes of direct memory. */
    public static long direct(ByteBuf buffer) {
        ByteBuf base = base(buffer);
        if (base instanceof Charged) {
            return 0;
        }
        if (base instanceof CompositeByteBuf composite) {
            long bytes = 0;
            for (int i = 0; i < composite.numComponents(); i++) {
                bytes += direct(composite.internalComponent(i));
            }
            return bytes;
        }
        return base.isDirect() ? buffer.readableBytes() : 0; // the rest of it is for other slices
    }

    /** Goes through slices, and what follows leaks in tests. */
    private static ByteBuf base(ByteBuf buffer) {
        ByteBuf base = buffer;
        for (ByteBuf next = base; next != null && !(base instanceof CompositeByteBuf); next = base.unwrap()) {
            base = next;
        }
        return base;
    }
}
