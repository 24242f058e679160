package dev.gateway.overload.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;

/**
 * Buffer cost: how much memory goes when a buffer is released, except what is {@link Charged}. To be asked only where a
 * buffer is kept: it looks into it.
 */
public final class BufferCost {
    /** What is less than this part (a half) of the memory that it keeps is better copied where it waits. */
    private static final int PART = 2;

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

    /** Returns the bytes of direct memory: its part of the whole buffer, which it keeps from reuse with all that share it. */
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
        return base.isDirect() ? shared(base, room(buffer)) : 0;
    }

    /** Others may have slices of the buffer, and free them sooner or later: measured, that is half as much again at most. */
    private static long shared(ByteBuf base, int room) {
        int refs = base.refCnt();
        return refs <= 1 ? base.capacity() : Math.max(room, Math.min(base.capacity() / refs, room + room / 2));
    }

    /**
     * Returns the bytes that a buffer has behind its reader index, whether or not they can be read. Those before are mostly in
     * other slices. It is quick, as it does not look into the buffer.
     */
    public static int room(ByteBuf buffer) {
        return buffer instanceof Charged ? 0 : buffer.capacity() - buffer.readerIndex();
    }

    /**
     * Returns the bytes that a buffer keeps from being freed: all of a whole one, read or not, and its own of a slice. It is
     * quick, as it does not look into the buffer.
     */
    public static int kept(ByteBuf buffer) {
        return buffer.unwrap() == null && !(buffer instanceof Charged) ? buffer.capacity() : room(buffer);
    }

    /**
     * Returns a buffer with the same bytes that may wait for long: a copy if the bytes are less than half of the memory that
     * they keep from being freed. Without memory for a copy it is the buffer itself.
     *
     * @param buffer owned by this, and what is returned by the caller
     */
    public static ByteBuf slim(ByteBuf buffer) {
        int length = buffer.readableBytes();
        if (length >= whole(buffer) / PART) {
            return buffer;
        }
        ByteBuf copy;
        try {
            copy = buffer.alloc().buffer(length, length).writeBytes(buffer, buffer.readerIndex(), length);
        } catch (OutOfMemoryError e) {
            return buffer;
        }
        buffer.release();
        return copy;
    }

    /** Returns the bytes of memory that {@link #slim} leaves. */
    public static int slimBytes(ByteBuf buffer) {
        int length = buffer.readableBytes();
        int whole = whole(buffer);
        return length < whole / PART ? length : whole;
    }

    /** Returns the bytes of the whole buffers that a buffer keeps from being freed, even if others have slices of them. */
    public static int whole(ByteBuf buffer) {
        ByteBuf base = base(buffer);
        if (base instanceof Charged || base instanceof SharedBytes) {
            return 0;
        }
        if (base instanceof CompositeByteBuf composite) {
            int bytes = 0;
            for (int i = 0; i < composite.numComponents(); i++) {
                bytes += whole(composite.internalComponent(i));
            }
            return bytes;
        }
        return base.capacity();
    }

    /** Returns the buffer of which it is a slice, or itself. Goes through slices, and what follows leaks in tests. */
    public static ByteBuf base(ByteBuf buffer) {
        ByteBuf base = buffer;
        for (ByteBuf next = base; next != null && !(base instanceof CompositeByteBuf); next = base.unwrap()) {
            base = next;
        }
        return base;
    }
}
