package dev.gateway.process;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Watchdog (sd_notify): tells that the gateway is alive for as long as every event loop does what it is given. Looked at by
 * one thread from time to time; asked between two looks, a loop that is stuck ends what is told.
 */
public final class Watchdog {
    private final List<? extends Executor> loops;
    private final Runnable alive;
    private final AtomicInteger unanswered = new AtomicInteger();
    private boolean asked;

    /** Makes it; {@code alive} is told when all loops have answered. */
    public Watchdog(List<? extends Executor> loops, Runnable alive) {
        this.loops = loops;
        this.alive = alive;
    }

    /** Tells that all is well if each loop has answered since the last look, and asks again. */
    public void look() {
        if (unanswered.get() > 0) {
            return;
        }
        if (asked) {
            alive.run();
        }
        asked = true;
        unanswered.set(loops.size());
        loops.forEach(loop -> loop.execute(unanswered::decrementAndGet));
    }
}
