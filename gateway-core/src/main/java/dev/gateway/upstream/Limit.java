package dev.gateway.upstream;

import java.util.concurrent.atomic.AtomicInteger;

/** How many of something an upstream may have at a time, over all event loops. Safe from any thread. */
public final class Limit {
    private final int max;
    private final AtomicInteger taken = new AtomicInteger();

    /** Makes a limit; 0 means none. */
    public Limit(int max) {
        this.max = max > 0 ? max : Integer.MAX_VALUE;
    }

    /** Takes one if there is one left; who takes it gives it back by {@link #release}. */
    public boolean tryAcquire() {
        if (taken.incrementAndGet() > max) {
            taken.decrementAndGet();
            return false;
        }
        return true;
    }

    /** Gives one back. */
    public void release() {
        taken.decrementAndGet();
    }

    /** Returns how many are taken; while another thread is being refused it may be one more than the limit. */
    public int taken() {
        return taken.get();
    }
}
