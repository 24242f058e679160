package dev.gateway.exchange;

import dev.gateway.overload.Account;
import dev.gateway.overload.Cost;
import dev.gateway.overload.Holding;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Bytes that cannot be passed on yet; owned until they are taken or discarded. The exchange is charged for each piece, and
 * the connection's share of direct memory for its bytes: clients fill memory faster than anybody could review it. When
 * direct memory runs out nevertheless, exchanges that hold most may be cut.
 */
final class HeldBody {
    private final StalledBody.Owner owner;
    private final Holding holding;
    private final ArrayDeque<ByteBuf> buffers = new ArrayDeque<>(4);
    private final StalledBody waiting;
    private long bytes;
    private int pieces; // that the exchange is charged for

    /**
     * Makes one that holds nothing.
     *
     * @param holding what the exchange is charged for
     */
    HeldBody(StalledBody.Owner owner, Holding holding) {
        this.owner = owner;
        this.holding = holding;
        this.waiting = new StalledBody(
                owner, () -> bytes, "direct memory ran low, and the request's body could not be passed on yet");
    }

    /** Takes a piece and owns it; returns false, and leaves the piece to the caller, if there is no memory for another. */
    boolean tryAdd(ByteBuf data) {
        if (!share().tryCharge(data.readableBytes())) {
            return false;
        }
        if (!holding.tryAdd(Cost.PIECE)) {
            share().release(data.readableBytes());
            return false;
        }
        pieces++;
        buffers.add(data);
        bytes += data.readableBytes();
        waiting.stall();
        return true;
    }

    private Account share() {
        return owner.connection().account().waitingBodies();
    }

    boolean isEmpty() {
        return buffers.isEmpty();
    }

    /** Gives the first of it away, null if there is none. */
    @Nullable
    ByteBuf poll() {
        ByteBuf first = buffers.poll();
        if (first != null) {
            bytes -= first.readableBytes();
            share().release(first.readableBytes());
            if (isEmpty()) {
                waiting.resume();
                holding.remove(pieces * Cost.PIECE);
                pieces = 0;
            }
        }
        return first;
    }

    /** Returns all of it as one buffer, which stays held. */
    ByteBuf merged() {
        ByteBuf first = buffers.peek();
        if (first == null) {
            return Unpooled.EMPTY_BUFFER;
        }
        if (buffers.size() == 1) {
            return first;
        }
        buffers.remove();
        CompositeByteBuf merged = first instanceof CompositeByteBuf before
                ? before // made here when there was less of it
                : first.alloc().compositeBuffer().addComponent(true, first);
        for (ByteBuf next = buffers.poll(); next != null; next = buffers.poll()) {
            merged.addComponent(true, next);
        }
        buffers.add(merged);
        return merged;
    }

    /** The exchange is over, and charged for nothing any more. */
    void discard() {
        pieces = 0;
        for (ByteBuf data = poll(); data != null; data = poll()) {
            data.release();
        }
    }
}
