package dev.gateway.exchange;

import dev.gateway.overload.Account;
import dev.gateway.overload.DirectMemory;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What of a request's body went upstream, kept so that another attempt can send it: after a refusal, a reset, a status or
 * silence, as {@link Retries} allows. Nothing is kept beyond the route's limit, nor where the process or the connection
 * holds much already; then there is no other attempt. A piece is kept without a copy, unless most of the buffer that it lies in is something else's.
 * Charged with the buffers that it keeps from reuse. Owns what it keeps until {@link #forget}. Makes no object before there
 * is a piece.
 */
final class SentBody {
    /** A piece that is a smaller part of the buffer it lies in is copied. */
    private static final int PART = 2;

    /** Room for small pieces that follow each other. */
    private static final int COPIES = 2048;

    private final Account account;
    private final int most;
    private @Nullable List<ByteBuf> pieces;
    private @Nullable ByteBuf copies; // the last piece, if it was made here
    private int length;
    private int charged;
    private boolean incomplete; // more was sent than is kept

    /**
     * Makes one that keeps nothing yet.
     *
     * @param account what the connection holds of direct memory for bodies
     * @param most bytes that are kept
     */
    SentBody(Account account, int most) {
        this.account = account;
        this.most = most;
    }

    /** Keeps what is about to be sent; the buffer stays its owner's. */
    void keep(ByteBuf data) {
        int more = data.readableBytes();
        if (incomplete || more == 0) {
            return;
        }
        length += more;
        if (length > most || DirectMemory.isScarce() || !add(data, more)) {
            forget();
        }
    }

    private boolean add(ByteBuf data, int more) {
        int capacity = capacity(data);
        if (more >= capacity / PART) {
            copies = null;
            return tryCharge(capacity) && pieces().add(data.retainedSlice());
        }
        ByteBuf room = copies;
        if (room == null || room.maxWritableBytes() < more) {
            int size = Math.max(COPIES, more);
            if (!tryCharge(size)) {
                return false;
            }
            room = data.alloc().buffer(size, size);
            copies = room;
            pieces().add(room);
        }
        room.writeBytes(data, data.readerIndex(), more);
        return true;
    }

    private boolean tryCharge(int bytes) {
        if (!account.tryChargeSpare(bytes)) {
            return false;
        }
        charged += bytes;
        return true;
    }

    private List<ByteBuf> pieces() {
        List<ByteBuf> all = pieces;
        if (all == null) {
            all = new ArrayList<>(4);
            pieces = all;
        }
        return all;
    }

    private static int capacity(ByteBuf data) {
        ByteBuf whole = data;
        for (ByteBuf next = whole.unwrap(); next != null; next = next.unwrap()) {
            whole = next;
        }
        return whole.capacity();
    }

    /** Whether another attempt can send all that was sent. */
    boolean isWhole() {
        return !incomplete;
    }

    /** Returns how many pieces are kept. */
    int size() {
        return pieces == null ? 0 : pieces.size();
    }

    /** Returns a piece to send once more, which is the caller's from here on. */
    ByteBuf piece(int index) {
        if (pieces == null) {
            throw new IndexOutOfBoundsException(index);
        }
        return pieces.get(index).retainedSlice();
    }

    /** No other attempt will be made: releases what was kept. */
    void forget() {
        incomplete = true;
        List<ByteBuf> all = pieces;
        pieces = null;
        copies = null;
        account.release(charged);
        charged = 0;
        if (all != null) {
            for (int i = 0; i < all.size(); i++) {
                all.get(i).release();
            }
        }
    }
}
