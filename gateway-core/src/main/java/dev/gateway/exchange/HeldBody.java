package dev.gateway.exchange;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Bytes that cannot be passed on yet; owned until they are taken or discarded. Makes no object before it holds one. */
final class HeldBody {
    private @Nullable ArrayDeque<ByteBuf> buffers;

    void add(ByteBuf data) {
        if (buffers == null) {
            buffers = new ArrayDeque<>(4);
        }
        buffers.add(data);
    }

    boolean isEmpty() {
        return buffers == null || buffers.isEmpty();
    }

    /** Gives the first of it away, null if there is none. */
    @Nullable
    ByteBuf poll() {
        return buffers == null ? null : buffers.poll();
    }

    /** Returns all of it as one buffer, which stays held. */
    ByteBuf merged() {
        ByteBuf first = poll();
        if (first == null) {
            return Unpooled.EMPTY_BUFFER;
        }
        ByteBuf second = poll();
        if (second == null) {
            add(first);
            return first;
        }
        CompositeByteBuf all = first instanceof CompositeByteBuf before
                ? before // made here when there was less of it
                : first.alloc().compositeBuffer().addComponent(true, first);
        for (ByteBuf next = second; next != null; next = poll()) {
            all.addComponent(true, next);
        }
        add(all);
        return all;
    }

    void discard() {
        for (ByteBuf data = poll(); data != null; data = poll()) {
            data.release();
        }
    }
}
