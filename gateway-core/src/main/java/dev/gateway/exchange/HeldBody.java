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
 * direct memory runs out nevertheless, exchanges that hold most may be cut. Makes no object before it holds a piece.
 */
final class HeldBody {
    private final StalledBody.Owner owner;
    private final Holding holding;
    private @Nullable ArrayDeque<ByteBuf> buffers;
    private @Nullable StalledBody waiting; // made with the first piece
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
        if (buffers == null) {
            buffers = new ArrayDeque<>(4);
        }
        buffers.add(data);
        bytes += data.readableBytes();
        StalledBody made = waiting;
        if (made == null) {
            made = new StalledBody(
                    owner, () -> bytes, "direct memory ran low, and the request's body could not be passed on yet");
            waiting = made;
        }
        made.stall();
        return true;
    }

    private Account share() {
        return owner.connection().account().waitingBodies();
    }

    boolean isEmpty() {
        return buffers == null || buffers.isEmpty();
    }

    /** Gives the first of it away, null if there is none. */
    @Nullable
    ByteBuf poll() {
        ByteBuf first = buffers == null ? null : buffers.poll();
        if (first != null) {
            bytes -= first.readableBytes();
            share().release(first.readableBytes());
            if (isEmpty()) {
                if (waiting != null) {
                    waiting.resume();
                }
                holding.remove(pieces * Cost.PIECE);
                pieces = 0;
            }
        }
        return first;
    }

    /** Returns all of it as one buffer, which stays held. */
    ByteBuf merged() {
        ArrayDeque<ByteBuf> all = buffers;
        ByteBuf first = all == null ? null : all.peek();
        if (all == null || first == null) {
            return Unpooled.EMPTY_BUFFER;
        }
        if (all.size() == 1) {
            return first;
        }
        all.remove();
        CompositeByteBuf merged = first instanceof CompositeByteBuf before
                ? before // made here when there was less of it
                : first.alloc().compositeBuffer().addComponent(true, first);
        for (ByteBuf next = all.poll(); next != null; next = all.poll()) {
            merged.addComponent(true, next);
        }
        all.add(merged);
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
