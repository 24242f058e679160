package dev.gateway.overload.memory;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Cache memory: what the process remembers only to be faster, such as verified tokens. It is charged to the budget of the heap
 * for clients, and to none of them, since it outlives their connections. Nothing is remembered without room. Safe from any
 * thread.
 */
public final class CacheMemory {
    /** Has room for everything and counts nothing: for tests. */
    public static final CacheMemory UNLIMITED = new CacheMemory();

    /** All caches together get this part (an eighth) of the capacity. Copies of requests still find room beside them. */
    private static final int SHARE = 8;

    /**
     * Up to this part (a sixteenth) they take whatever is free: else one client could make each login of others cost a check.
     */
    private static final int FLOOR = 16;

    /** Beyond that, they leave this part (a half) of the capacity to clients. */
    private static final int SPARE = 2;

    private final @Nullable MemoryBudget budget;
    private final AtomicLong held = new AtomicLong();

    private CacheMemory() {
        this.budget = null;
    }

    /** Makes it, with nothing held. */
    public CacheMemory(MemoryBudget budget) {
        this.budget = budget;
    }

    /** Charges bytes of something that would be remembered; returns false, and charges nothing, if there is no room. */
    public boolean tryCharge(long bytes) {
        MemoryBudget of = budget;
        boolean leavesSpare = of == null
                || held.get() + bytes <= of.capacity() / FLOOR
                || of.granted() + bytes <= of.capacity() / SPARE;
        return leavesSpare && tryChargeAgain(bytes);
    }

    /** The same for bytes in place of as many that the caller has just released. */
    public boolean tryChargeAgain(long bytes) {
        MemoryBudget of = budget;
        if (of == null) {
            return true;
        }
        if (held.get() + bytes > of.capacity() / SHARE || !of.tryGrant(bytes)) {
            return false;
        }
        held.addAndGet(bytes);
        return true;
    }

    /** Bytes are forgotten. */
    public void release(long bytes) {
        if (budget != null) {
            held.addAndGet(-bytes);
            budget.giveBack(bytes);
        }
    }

    /** Whether so little is left for clients that caches give way. */
    public boolean isShort() {
        return budget != null && held.get() > budget.capacity() / FLOOR && budget.granted() > budget.capacity() / 4 * 3;
    }

    /** Returns how many bytes all caches hold. */
    public long held() {
        return held.get();
    }
}
