package dev.gateway.exchange;

import dev.gateway.overload.Account;
import dev.gateway.overload.Cost;
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
    private final Exchange exchange;
    private @Nullable ArrayDeque<ByteBuf> buffers;
    private @Nullable StalledBody waiting; // made with the first piece
    private long bytes;
    private long charged;

    HeldBody(Exchange exchange) {
        this.exchange = exchange;
    }

    /** Takes a piece and owns it; returns false, and leaves the piece to the caller, if there is no memory for another. */
    boolean tryAdd(ByteBuf data) {
        if (!share().tryCharge(data.readableBytes())) {
            return false;
        }
        if (!exchange.held.tryAdd(Cost.PIECE)) {
            share().release(data.readableBytes());
            return false;
        }
        charged += Cost.PIECE;
        if (buffers == null) {
            buffers = new ArrayDeque<>(4);
        }
        buffers.add(data);
        bytes += data.readableBytes();
        StalledBody made = waiting;
        if (made == null) {
            made = new StalledBody(
                    exchange, () -> bytes, "direct memory ran low, and the request's body could not be passed on yet");
            waiting = made;
        }
        made.stall();
        return true;
    }

    private Account share() {
        return exchange.record.connection.account().waitingBodies();
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
                exchange.held.remove(charged);
                charged = 0;
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
        charged = 0;
        for (ByteBuf data = poll(); data != null; data = poll()) {
            data.release();
        }
    }
}
