package dev.gateway.upstream;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Circuit breaker limit: how many of something an upstream may have at a time, over all event loops. Safe from any thread.
 */
public final class Limit {
    private volatile int max;
    private final AtomicInteger taken = new AtomicInteger();

    /** Makes a limit; 0 means none. */
    public Limit(int max) {
        this.max = max > 0 ? max : Integer.MAX_VALUE;
    }

    /** Takes one if there is one left; who takes it gives it back by {@link #release}. */
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

    /** Takes one whether or not there is one left; given back like any other. */
    public void acquireBeyond() {
        taken.incrementAndGet();
    }

    /** Whether more are taken than there may be, by {@link #acquireBeyond}. */
    public boolean isExceeded() {
        return taken.get() > max;
    }

    /** Returns how many more are taken than there may be. */
    int excess() {
        return Math.max(0, taken.get() - max);
    }

    /** Whether there is one left at this moment. */
    boolean hasRoom() {
        return taken.get() < max;
    }

    /** Allows so many from now on, 0 for none at all; a holder of more keeps them. */
    void allow(int most) {
        max = most;
    }

    /** Counts so many more as taken, or fewer, whether or not there are any left. */
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
