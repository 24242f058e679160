package dev.gateway.upstream.limit;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Circuit breaker limit: how many of something an upstream may have at a time, over all event loops. Safe from any thread.
 */
public final class CircuitBreakerLimit {
    private volatile int max;
    private final AtomicInteger taken = new AtomicInteger();

    /** Makes a limit; 0 means no limit. */
    public CircuitBreakerLimit(int max) {
        this.max = max > 0 ? max : Integer.MAX_VALUE;
    }

    /** Takes one if one is left; the caller gives it back by {@link #release}. */
    public boolean tryAcquire() {
        int now;
        do {
            now = taken.get();
            if (now >= max) {
                return false;
            }
        } while (!taken.compareAndSet(now, now + 1));
        return true;
    }

    /** Takes one even if none is left; the caller gives it back like any other. */
    public void acquireBeyond() {
        taken.incrementAndGet();
    }

    /** Whether more than the limit are taken, by {@link #acquireBeyond}. */
    public boolean isExceeded() {
        return taken.get() > max;
    }

    /** Returns how many are taken beyond the limit. */
    int excess() {
        return Math.max(0, taken.get() - max);
    }

    /** Whether one is left at this moment. */
    boolean hasRoom() {
        return taken.get() < max;
    }

    /** Changes the limit; here 0 allows none. What is taken beyond it stays taken. */
    void allow(int most) {
        max = most;
    }

    /** Adds to the number of taken ones, which may exceed the limit; a negative count subtracts. */
    void add(int count) {
        if (count != 0) {
            taken.addAndGet(count);
        }
    }

    /** Gives one back. */
    public void release() {
        taken.decrementAndGet();
    }

    /** Returns how many are taken. */
    public int taken() {
        return taken.get();
    }
}
