package dev.gateway.overload.memory;

import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Memory account of a connection: how much it holds of its loop's {@link LoopBudget}. Code that keeps bytes for the
 * connection charges them here, and releases the same number when it frees them. A connection that holds much gets more
 * only while much is left. All accounts of a client together hold at most as much as is left for all others. So no client
 * can use up what the others need, however many connections it has. Confined to the connection's event loop.
 */
public final class Account {
    /** An account that is never full and counts nothing: for tests, and for connections that are not from clients. */
    public static final Account UNLIMITED = new Account();

    /** How much each connection may hold while anything is left: enough for a request with a head of ordinary size. */
    static final long ORDINARY = 24 * 1024;

    /** A connection may hold more than that, up to this part (a half) of what is left above the reserve. */
    private static final int SHARE = 2;

    /**
     * This part (an eighth) of the capacity is reserved for connections that hold no more than the ordinary. The rule of shares
     * reserves it for those of the client, too, as many people may have one address.
     */
    private static final int RESERVE = 8;

    /** This part (a half) of the capacity is kept free from optional charges. */
    private static final int SPARE = 2;

    /** This part (a quarter) of the capacity is for charges that give way first. */
    private static final int SURPLUS = 4;

    private final @Nullable LoopBudget loop;
    private final @Nullable Account waitingBodies;
    private @Nullable ClientMemory client; // null if it counts for no client
    private @Nullable LongAdder share; // what the client holds of this budget
    private @Nullable ClientShares shares; // where the client is known, null if it counts for none
    private int users = 1; // those that may still charge it
    private long held;

    private Account() {
        this.loop = null;
        this.waitingBodies = null;
    }

    /** Makes the account of one connection of a loop, which does not count waiting bodies. */
    public Account(LoopBudget loop) {
        this.loop = loop;
        this.waitingBodies = null;
    }

    /**
     * Makes the account of one connection of a loop.
     *
     * @param waitingBodies the budget for waiting bodies
     */
    public Account(LoopBudget loop, LoopBudget waitingBodies) {
        this.loop = loop;
        this.waitingBodies = new Account(waitingBodies);
    }

    /** Counts for a client from now on, with all that it holds already, until the last user has called {@link #leave}. */
    public void countFor(ClientShares all, Object owner) {
        shares = all;
        countFor(all.enter(owner));
    }

    /** Something else charges it, too, such as a stream that outlives its exchange. {@link #leave} must follow. */
    public void join() {
        if (loop != null) { // event loops share the unlimited one
            users++;
        }
    }

    /**
     * A user charges it no more, such as the connection or the exchange that it was made for. After the last one, its client is
     * forgotten if it has no other account.
     */
    public void leave() {
        if (loop == null) {
            return;
        }
        users--;
        if (users == 0 && shares != null && client != null) {
            shares.leave(client);
            shares = null; // one that joins later must not leave once more
        }
    }

    /** Counts for this client from now on. */
    void countFor(ClientMemory owner) {
        client = owner;
        count(owner.heap());
        if (waitingBodies != null) {
            waitingBodies.client = owner;
            waitingBodies.count(owner.direct());
        }
    }

    private void count(LongAdder sum) {
        share = sum;
        sum.add(held);
    }

    /** Returns the client that it counts for, null for none. */
    public @Nullable ClientMemory client() {
        return client;
    }

    /**
     * Whether something is left of its client's share.
     *
     * @param parts how many parts (eighths) of the capacity must be left
     */
    public boolean hasShare(int parts) {
        return loop == null || hasShare(loop, 0, parts);
    }

    /**
     * Whether its client may hold this number of bytes more. It may hold as much as is left for others. While more than half
     * of the budget is left, this needs no sum.
     *
     * @param parts how many parts (eighths) of the capacity must be left of its share then
     */
    private boolean hasShare(LoopBudget budget, long bytes, int parts) {
        LongAdder sum = share;
        if (sum == null) {
            return true;
        }
        long left = budget.left() - bytes - parts * (budget.capacity() / RESERVE);
        return left >= budget.capacity() / 2 || sum.sum() + bytes <= left;
    }

    /** Returns the account of direct memory for bodies that wait for an upstream, with the same rules. */
    public Account waitingBodies() {
        return waitingBodies == null ? UNLIMITED : waitingBodies;
    }

    /** Charges bytes that the connection is about to hold; returns false, and charges nothing, if they are too many. */
    public boolean tryCharge(long bytes) {
        LoopBudget budget = loop;
        if (budget == null) {
            return true;
        }
        long after = held + bytes;
        boolean greedy = after > ORDINARY;
        if ((greedy && after > share(budget)) || !hasShare(budget, bytes, greedy ? 1 : 0) || !budget.tryCharge(bytes)) {
            return false;
        }
        add(bytes);
        return true;
    }

    /** Whether {@link #tryCharge} would charge bytes now. */
    public boolean hasRoom(long bytes) {
        if (!tryCharge(bytes)) {
            return false;
        }
        release(bytes);
        return true;
    }

    /**
     * Whether its client is the reason that {@link #tryCharge} has refused bytes: it holds much, and others would get them.
     */
    public boolean isShareUsedUp(long bytes) {
        return loop != null && share != null && share.sum() > loop.capacity() / RESERVE && loop.left() >= bytes;
    }

    /**
     * Charges bytes of something that is useful only when the rest has arrived, such as a head. Leaves the reserve, so that
     * complete requests still find room.
     */
    public boolean tryChargeUnfinished(long bytes) {
        return (loop == null || (loop.left() - bytes >= loop.capacity() / RESERVE && hasShare(loop, bytes, 1)))
                && tryCharge(bytes);
    }

    /** Charges bytes of something optional. Leaves half of the capacity for necessary charges. */
    public boolean tryChargeSpare(long bytes) {
        return (loop == null || loop.left() - bytes >= loop.capacity() / SPARE) && tryCharge(bytes);
    }

    /**
     * Charges bytes of something that gives way first, because no client needs it. Leaves three quarters of the capacity, so
     * that optional charges still find room.
     */
    public boolean tryChargeSurplus(long bytes) {
        return hasSurplus(bytes) && tryCharge(bytes);
    }

    /** Whether three quarters of the capacity would be left after a charge. */
    public boolean hasSurplus(long bytes) {
        return loop == null || loop.left() - bytes >= loop.capacity() - loop.capacity() / SURPLUS;
    }

    /** Whether the connection holds more than an ordinary one. */
    public boolean isGreedy() {
        return held > ORDINARY;
    }

    private static long share(LoopBudget budget) {
        return (budget.left() - budget.capacity() / RESERVE) / SHARE;
    }

    /** Charges bytes that the connection already holds, so that they cannot be refused. */
    public void charge(long bytes) {
        if (loop != null) {
            loop.charge(bytes);
            add(bytes);
        }
    }

    /** The connection has freed this number of bytes. */
    public void release(long bytes) {
        if (loop != null) {
            loop.release(bytes);
            add(-bytes);
        }
    }

    /** What the connection holds of something has changed; it cannot be refused. */
    public void change(long before, long after) {
        if (after > before) {
            charge(after - before);
        } else if (after < before) {
            release(before - after);
        }
    }

    private void add(long bytes) {
        held += bytes;
        if (share != null) {
            share.add(bytes);
        }
    }

    /** Returns how many bytes the connection holds. */
    public long held() {
        return held;
    }
}
