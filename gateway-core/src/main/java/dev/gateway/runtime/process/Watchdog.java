package dev.gateway.runtime.process;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Watchdog (sd_notify): reports that the gateway is alive as long as every event loop runs its tasks. One thread calls it
 * periodically. At each check it gives each loop a task. If a loop has not run its task by the next check, it is stuck, and
 * the reports stop.
 */
public final class Watchdog {
    private final List<? extends Executor> loops;
    private final Runnable alive;
    private final AtomicInteger unanswered = new AtomicInteger();
    private boolean asked;

    /** Makes it; it runs {@code alive} when all loops have answered. */
    public Watchdog(List<? extends Executor> loops, Runnable alive) {
        this.loops = loops;
        this.alive = alive;
    }

    /** Reports that the gateway is alive if each loop has answered since the last check, and asks all loops again. */
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
