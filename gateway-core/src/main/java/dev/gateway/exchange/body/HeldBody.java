package dev.gateway.exchange.body;

import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.BufferCost;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.Holding;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Bytes of a request's body that cannot be sent upstream yet; owns them until they are taken or discarded. Each piece
 * counts against the exchange's memory, and its buffer counts against the connection's share of direct memory, at once:
 * clients could fill memory faster than a periodic check would notice. A piece that is less than half of its buffer is
 * copied, so that it does not keep the rest. If direct memory still runs out, the exchanges that hold most may be ended.
 */
public final class HeldBody {
    private final BodyContext exchange;
    private final Holding holding;
    private final ArrayDeque<ByteBuf> buffers = new ArrayDeque<>(4);
    private final StalledBody waiting;
    private long bytes;
    private long charged; // bytes of memory that the buffers have
    private int pieces; // number of pieces that count against the exchange

    /**
     * Begins empty.
     *
     * @param holding the memory that the exchange holds
     */
    public HeldBody(BodyContext exchange, Holding holding) {
        this.exchange = exchange;
        this.holding = holding;
        this.waiting = new StalledBody(
                exchange, () -> bytes, "memory ran low, and the request's body could not be passed on yet");
    }

    /** Adds a piece and owns it. If there is no memory for it, returns false, and the caller keeps it. */
    public boolean tryAdd(ByteBuf data) {
        long room = BufferCost.slimBytes(data);
        if (!share().tryCharge(room)) {
            return false;
        }
        if (!holding.tryAdd(Cost.PIECE)) {
            share().release(room);
            return false;
        }
        ByteBuf piece = BufferCost.slim(data);
        charged += room;
        pieces++;
        buffers.add(piece);
        bytes += piece.readableBytes();
        waiting.stall();
        return true;
    }

    private Account share() {
        return exchange.connection().account().waitingBodies();
    }

    /** Whether no piece waits. */
    public boolean isEmpty() {
        return buffers.isEmpty();
    }

    /** Removes and returns the first piece, which the caller then owns; null if there is none. */
    public @Nullable ByteBuf poll() {
        ByteBuf first = buffers.poll();
        if (first != null) {
            bytes -= first.readableBytes();
            long room = isEmpty() ? charged : Math.min(charged, BufferCost.whole(first)); // pieces may have been merged
            charged -= room;
            share().release(room);
            if (isEmpty()) {
                waiting.resume();
                holding.remove(pieces * Cost.PIECE);
                pieces = 0;
            }
        }
        return first;
    }

    /** Returns all pieces as one buffer, which this still owns. */
    public ByteBuf merged() {
        ByteBuf first = buffers.peek();
        if (first == null) {
            return Unpooled.EMPTY_BUFFER;
        }
        if (buffers.size() == 1) {
            return first;
        }
        buffers.remove();
        CompositeByteBuf merged = first instanceof CompositeByteBuf before
                ? before // made by an earlier call
                : first.alloc().compositeBuffer().addComponent(true, first);
        for (ByteBuf next = buffers.poll(); next != null; next = buffers.poll()) {
            merged.addComponent(true, next);
        }
        buffers.add(merged);
        return merged;
    }

    /** Releases all pieces. The exchange is over, and its memory no longer counts. */
    public void discard() {
        pieces = 0;
        for (ByteBuf data = poll(); data != null; data = poll()) {
            data.release();
        }
    }
}
