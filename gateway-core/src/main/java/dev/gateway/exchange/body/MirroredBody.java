package dev.gateway.exchange.body;

import dev.gateway.filter.MirrorResult;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.BufferCost;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.DirectMemory;
import dev.gateway.overload.memory.Holding;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Pieces of a request's body that the upstream of a copy does not take yet; owns them. They share the buffers of the request,
 * and count by the size of whole buffers, which they keep from being freed. A buffer counts once for pieces that follow each
 * other. There is a limit for each copy, and no piece is kept while memory is short. What the stream was given is charged
 * until its peer has taken it, beyond the limit. If direct memory still runs out, the copy may be ended.
 */
public final class MirroredBody {
    /** Maximum size of the buffers that wait. */
    public static final long MOST_BYTES = 1 << 20;

    private final Account account;
    private final Holding holding;
    private final StalledBody stalled;
    private final ArrayDeque<Piece> pieces = new ArrayDeque<>(4);
    private long bytes; // size of the buffers
    private long given; // of those that the stream has, whose peer has not taken all since
    private int givenPieces;

    private static final class Piece {
        final ByteBuf data;
        final ByteBuf whole; // the buffer that it keeps from being freed
        int size; // of that buffer, 0 if the piece before counts it

        Piece(ByteBuf data, ByteBuf whole, int size) {
            this.data = data;
            this.whole = whole;
            this.size = size;
        }

        @SuppressWarnings("ReferenceEquality") // buffers with equal bytes are two
        boolean isOf(ByteBuf buffer) {
            return whole == buffer;
        }
    }

    /**
     * Begins empty.
     *
     * @param account direct memory of all copies on this event loop
     * @param holding the memory that the copy holds
     */
    public MirroredBody(BodyContext exchange, Account account, Holding holding) {
        this.account = account;
        this.holding = holding;
        this.stalled = new StalledBody(
                exchange, () -> bytes + given, "direct memory ran low, and the copy of a body was not taken");
    }

    /** Adds a piece and owns it. If there is no room for it, releases it and returns why the copy must end. */
    public @Nullable MirrorResult add(ByteBuf data) {
        ByteBuf whole = BufferCost.base(data);
        Piece before = pieces.peekLast();
        int size = before != null && before.isOf(whole) ? 0 : whole.capacity();
        MirrorResult refusal = bytes + size > MOST_BYTES
                ? MirrorResult.SLOW
                : DirectMemory.isScarce() || !tryCharge(size) ? MirrorResult.OVERLOAD : null;
        if (refusal != null) {
            data.release();
            return refusal;
        }
        boolean added = false;
        try {
            pieces.add(new Piece(data, whole, size));
            bytes += size;
            added = true;
        } finally {
            if (!added) { // no memory is left
                release(size, 1);
                data.release();
            }
        }
        return null;
    }

    private boolean tryCharge(int size) {
        if (!account.tryChargeSurplus(size)) {
            return false;
        }
        if (!holding.tryAddSurplus(Cost.PIECE)) {
            account.release(size);
            return false;
        }
        return true;
    }

    /** Whether no piece waits. */
    public boolean isEmpty() {
        return pieces.isEmpty();
    }

    /**
     * Removes and returns the first piece, which the caller then owns and gives to the stream; null if no piece waits.
     * {@link #settle} must follow.
     */
    public @Nullable ByteBuf poll() {
        Piece first = pieces.poll();
        if (first == null) {
            return null;
        }
        Piece next = pieces.peek();
        if (next != null && next.isOf(first.whole)) {
            next.size = first.size;
        } else {
            bytes -= first.size;
            given += first.size;
        }
        givenPieces++;
        return first.data;
    }

    private void release(long size, int count) {
        account.release(size);
        holding.remove((long) count * Cost.PIECE);
    }

    /**
     * What could be sent has been sent: what is left waits for the upstream.
     *
     * @param taken whether the stream has room, and keeps little of what it was given
     */
    public void settle(boolean taken) {
        if (taken) {
            releaseGiven();
        }
        if (pieces.isEmpty() && givenPieces == 0) {
            stalled.resume();
        } else {
            stalled.stall();
        }
    }

    private void releaseGiven() {
        release(given, givenPieces);
        given = 0;
        givenPieces = 0;
    }

    /** Releases all pieces. */
    public void discard() {
        for (ByteBuf data = poll(); data != null; data = poll()) {
            data.release();
        }
        releaseGiven();
        stalled.resume();
    }
}
