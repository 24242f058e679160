package dev.gateway.overload;

import org.jspecify.annotations.Nullable;

/**
 * Memory account of a connection. What one connection holds of its loop's {@link LoopBudget}: code that makes it hold bytes
 * charges them here, and releases as many when they are held no more. A connection that holds much gets more only while
 * much is left, so one client, or a few, cannot use up what the others need. Confined to the connection's event loop.
 */
public final class Account {
    /** An account that is never full and counts nothing: for tests, and where nothing comes from strangers. */
    public static final Account UNLIMITED = new Account();

    /** What each connection may hold as long as anything is left: a request with a head of an ordinary size. */
    static final long ORDINARY = 24 * 1024;

    /** A connection may hold more than that up to this part of what is left besides a reserve. */
    private static final int SHARE = 2;

    /** The part of the capacity that is kept for connections that hold no more than is ordinary. */
    private static final int RESERVE = 8;

    /** The part of the capacity that is kept from what one can do without. */
    private static final int SPARE = 2;

    private final @Nullable LoopBudget loop;
    private final @Nullable Account waitingBodies;
    private long held;

    private Account() {
        this.loop = null;
        this.waitingBodies = null;
    }

    /** Makes the account of one connection of a loop, which does not count bodies that wait. */
    public Account(LoopBudget loop) {
        this.loop = loop;
        this.waitingBodies = null;
    }

    /**
     * Makes the account of one connection of a loop.
     *
     * @param waitingBodies what bodies that wait are charged to
     */
    public Account(LoopBudget loop, LoopBudget waitingBodies) {
        this.loop = loop;
        this.waitingBodies = new Account(waitingBodies);
    }

    /** Returns what the connection's requests hold of direct memory for bodies that nobody takes yet, by the same rules. */
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
        if ((after > ORDINARY && after > share(budget)) || !budget.tryCharge(bytes)) {
            return false;
        }
        held = after;
        return true;
    }

    /**
     * Charges bytes of something that is useful only when more of it has come, such as a head: what is complete finds
     * room when this does not any more.
     */
    public boolean tryChargeUnfinished(long bytes) {
        return (loop == null || loop.left() - bytes >= loop.capacity() / RESERVE) && tryCharge(bytes);
    }

    /** Charges bytes of something that one can do without; half of the capacity is left to what is needed. */
    public boolean tryChargeSpare(long bytes) {
        return (loop == null || loop.left() - bytes >= loop.capacity() / SPARE) && tryCharge(bytes);
    }

    /** Whether the connection holds more than an ordinary one does. */
    public boolean isGreedy() {
        return held > ORDINARY;
    }

    private static long share(LoopBudget budget) {
        return (budget.left() - budget.capacity() / RESERVE) / SHARE;
    }

    /** Charges bytes that the connection holds already, and that cannot be refused any more. */
    public void charge(long bytes) {
        if (loop != null) {
            loop.charge(bytes);
            held += bytes;
        }
    }

    /** The connection holds that many bytes no more. */
    public void release(long bytes) {
        if (loop != null) {
            loop.release(bytes);
            held -= bytes;
        }
    }

    /** Returns how many bytes the connection holds. */
    public long held() {
        return held;
    }
}
