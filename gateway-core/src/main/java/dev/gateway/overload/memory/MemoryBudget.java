package dev.gateway.overload.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory budget: how many bytes of one kind of memory the process may hold for all clients together. Each event loop takes
 * from it in steps, through its {@link LoopBudget}, so that loops seldom contend for it. Safe from any thread.
 */
public final class MemoryBudget {
    private static final long MAX_STEP = 256 * 1024;

    /** What all loops together keep ready is at most an eighth of the capacity. */
    private static final int STEPS_PER_LOOP = 16;

    private final long capacity;
    private final long step;
    private final AtomicLong granted = new AtomicLong();

    /**
     * Makes an unused budget.
     *
     * @param loops how many event loops share it
     */
    public MemoryBudget(long capacity, int loops) {
        this.capacity = capacity;
        this.step = Math.min(MAX_STEP, capacity / ((long) STEPS_PER_LOOP * Math.max(1, loops)));
    }

    /** Returns how many bytes may be held. */
    public long capacity() {
        return capacity;
    }

    /** Returns how many bytes loops have taken: those in use, and a few that they keep ready. */
    public long granted() {
        return granted.get();
    }

    /** Returns how many bytes a loop keeps ready. */
    long step() {
        return step;
    }

    /** Takes bytes if enough are left. */
    boolean tryGrant(long bytes) {
        if (granted.addAndGet(bytes) > capacity) {
            granted.addAndGet(-bytes);
            return false;
        }
        return true;
    }

    /** Takes bytes that are already held, even beyond the capacity. */
    void grant(long bytes) {
        granted.addAndGet(bytes);
    }

    /** Gets bytes back that a loop does not need. */
    void giveBack(long bytes) {
        granted.addAndGet(-bytes);
    }
}
