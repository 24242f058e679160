package dev.gateway.exchange;

import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What of a request's body went upstream, kept so that another attempt can send it if the upstream says that it did not
 * look at it. Nothing is kept beyond {@link #MOST} bytes, nor of what all exchanges of the loop may keep; then there is no
 * other attempt. A piece is kept without a copy, unless it would keep a buffer that is mostly something else's. Owns what
 * it keeps until {@link #forget}. Makes no object before there is a piece.
 */
final class SentBody {
    /** What is kept of one request. */
    static final int MOST = 64 * 1024;

    /** A piece that is a smaller part of the buffer it lies in is copied. */
    private static final int PART = 4;

    /** Room for small pieces that follow each other. */
    private static final int COPIES = 2048;

    private final Budget budget;
    private @Nullable List<ByteBuf> pieces;
    private @Nullable ByteBuf copies; // the last piece, if it was made here
    private int charged;
    private boolean incomplete; // more was sent than is kept

    /** What all exchanges of an event loop may keep together. Confined to that loop. */
    static final class Budget {
        private final int capacity;
        private int used;

        Budget(int capacity) {
            this.capacity = capacity;
        }

        private boolean tryCharge(int bytes) {
            if (bytes > capacity - used) {
                return false;
            }
            used += bytes;
            return true;
        }

        /** Returns how many bytes are kept now. */
        int used() {
            return used;
        }
    }

    SentBody(Budget budget) {
        this.budget = budget;
    }

    /** Keeps what is about to be sent; the buffer stays its owner's. */
    void keep(ByteBuf data) {
        int length = data.readableBytes();
        if (incomplete || length == 0) {
            return;
        }
        if (length > MOST - charged || !budget.tryCharge(length)) {
            forget();
            return;
        }
        charged += length;
        add(data, length);
    }

    private void add(ByteBuf data, int length) {
        List<ByteBuf> all = pieces;
        if (all == null) {
            all = new ArrayList<>(4);
            pieces = all;
        }
        if (length >= capacity(data) / PART) {
            copies = null;
            all.add(data.retainedSlice());
            return;
        }
        ByteBuf room = copies;
        if (room == null || room.maxWritableBytes() < length) {
            room = data.alloc().buffer(Math.max(COPIES, length), Math.max(COPIES, length));
            copies = room;
            all.add(room);
        }
        room.writeBytes(data, data.readerIndex(), length);
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

    /** No other attempt will be made: lets go of what was kept. */
    void forget() {
        incomplete = true;
        List<ByteBuf> all = pieces;
        pieces = null;
        copies = null;
        if (all != null) {
            budget.used -= charged;
            charged = 0;
            for (int i = 0; i < all.size(); i++) {
                all.get(i).release();
            }
        }
    }
}
