package dev.gateway.exchange.body;

import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.BufferCost;
import dev.gateway.overload.memory.DirectMemory;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part of a request's body that was sent upstream, kept so that a retry can send it again. It keeps nothing beyond the
 * route's limit, or if the process or the connection already holds much; then there is no retry. It keeps a piece without a
 * copy, unless most of the piece's buffer belongs to something else. What it keeps counts by the size of the buffers, also
 * for the stream that has yet to send it: {@link #shared}. Owns what it keeps until {@link #forget}. Makes no object before the
 * first piece.
 */
public final class SentBody {
    /** A piece of less than this part (a half) of its buffer is copied. */
    private static final int PART = 2;

    /** Streams may copy a piece of so many bytes or less, and join it with others. */
    private static final int COPIED_BY_STREAMS = 4096;

    /** Size of a buffer for copies of small pieces. */
    private static final int COPIES = 2048;

    private final Account account;
    private final int most;
    private @Nullable List<Piece> pieces;
    private @Nullable ByteBuf copies; // the last piece, if it is a buffer for copies
    private int length;
    private int charged;
    private boolean incomplete; // more was sent than is kept

    /**
     * Bytes that follow each other.
     *
     * @param shared how much memory the stream counts for the same buffer while it waits there; 0 if one of the two has a copy
     */
    private record Piece(ByteBuf data, int shared) {}

    /**
     * Begins empty.
     *
     * @param account the direct memory that the connection holds for bodies
     * @param most how many bytes to keep at most
     */
    public SentBody(Account account, int most) {
        this.account = account;
        this.most = most;
    }

    /** Keeps bytes that are about to be sent. The caller still owns the buffer. */
    public void keep(ByteBuf data) {
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
        int capacity = BufferCost.whole(data);
        if (more >= capacity / PART) {
            copies = null;
            int shared = more > COPIED_BY_STREAMS ? BufferCost.kept(data) : 0;
            return tryCharge(capacity) && pieces().add(new Piece(data.retainedSlice(), shared));
        }
        ByteBuf room = copies;
        if (room == null || room.maxWritableBytes() < more) {
            int size = Math.max(COPIES, more);
            if (!tryCharge(size)) {
                return false;
            }
            room = data.alloc().buffer(size, size);
            copies = room;
            pieces().add(new Piece(room, 0));
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

    private List<Piece> pieces() {
        List<Piece> all = pieces;
        if (all == null) {
            all = new ArrayList<>(4);
            pieces = all;
        }
        return all;
    }

    /** Whether it has everything that was sent, so that another attempt can send it. */
    public boolean isWhole() {
        return !incomplete;
    }

    /** Returns the number of pieces. */
    public int size() {
        return pieces == null ? 0 : pieces.size();
    }

    /** Returns a piece to send again; the caller owns it. */
    public ByteBuf piece(int index) {
        if (pieces == null) {
            throw new IndexOutOfBoundsException(index);
        }
        return pieces.get(index).data.retainedSlice();
    }

    /**
     * Returns how much of the memory that waits in the stream is charged here. What waits there was sent last.
     *
     * @param waiting bytes of memory that wait in the stream
     */
    public long shared(long waiting) {
        List<Piece> all = pieces;
        if (all == null) {
            return 0;
        }
        long left = waiting;
        long found = 0;
        for (int i = all.size() - 1; i >= 0 && left > 0; i--) {
            Piece piece = all.get(i);
            found += Math.min(left, piece.shared);
            left -= piece.shared == 0 ? piece.data.readableBytes() : piece.shared;
        }
        return found;
    }

    /** There will be no other attempt: releases everything. */
    public void forget() {
        incomplete = true;
        List<Piece> all = pieces;
        pieces = null;
        copies = null;
        account.release(charged);
        charged = 0;
        if (all != null) {
            for (int i = 0; i < all.size(); i++) {
                all.get(i).data.release();
            }
        }
    }
}
