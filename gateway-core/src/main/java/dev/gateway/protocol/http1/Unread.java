package dev.gateway.protocol.http1;

import dev.gateway.overload.memory.BufferCost;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.ByteToMessageDecoder;
import org.jspecify.annotations.Nullable;

/** What was read from a connection and not yet gone through; owns it. */
final class Unread {
    private @Nullable ByteBuf bytes;

    /** Adds what was read; owned from here on. */
    void add(ByteBufAllocator alloc, ByteBuf read) {
        ByteBuf rest = bytes;
        bytes = rest == null ? read : ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(alloc, rest, read);
    }

    /** Returns it to be gone through, still owned by this; null if there is nothing. */
    @Nullable
    ByteBuf peek() {
        if (bytes != null && !bytes.isReadable()) {
            release();
        }
        return bytes;
    }

    /** Returns how many bytes of memory it takes, as it is to wait: what is less than half of its buffer is copied. */
    int keep() {
        ByteBuf all = peek();
        if (all == null) {
            return 0;
        }
        ByteBuf kept = BufferCost.slim(all);
        bytes = kept;
        return kept.capacity();
    }

    boolean isEmpty() {
        return bytes == null || !bytes.isReadable();
    }

    /** Takes that many bytes off: the buffer itself if nothing else is in it, else a slice. */
    ByteBuf take(ByteBuf in, int length) {
        if (length == in.readableBytes()) {
            bytes = null;
            return in;
        }
        return in.readRetainedSlice(length);
    }

    /** Takes all of it. */
    @Nullable
    ByteBuf takeAll() {
        ByteBuf all = bytes;
        bytes = null;
        return all;
    }

    void release() {
        ByteBuf all = takeAll();
        if (all != null) {
            all.release();
        }
    }
}
