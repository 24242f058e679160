package dev.gateway.observe.metrics;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * How long an event loop makes its tasks wait. One thread probes it each second with a task that only tells the time; any
 * thread reads. A loop that does not answer has the lag of the probe it owes.
 */
final class LoopLag {
    private static final int PROBES = 10;
    private static final double NANOS_PER_SECOND = 1e9;

    private final Executor loop;
    private final IntSupplier pendingTasks;
    private final LongSupplier nanoClock;
    private final long[] lags = new long[PROBES]; // a ring of earlier answers, guarded by this
    private int probes;
    private volatile boolean owed;
    private volatile long askedNanos;
    private volatile long lagNanos;

    LoopLag(Executor loop, IntSupplier pendingTasks, LongSupplier nanoClock) {
        this.loop = loop;
        this.pendingTasks = pendingTasks;
        this.nanoClock = nanoClock;
    }

    /** Asks the loop, unless it still owes an answer. */
    synchronized void probe() {
        if (owed) {
            return;
        }
        lags[probes++ % PROBES] = lagNanos;
        askedNanos = nanoClock.getAsLong();
        owed = true;
        try {
            loop.execute(() -> {
                lagNanos = nanoClock.getAsLong() - askedNanos;
                owed = false;
            });
        } catch (RejectedExecutionException e) {
            owed = false; // the loop has ended
        }
    }

    /** Returns the longest wait of the last ten probes: a scrape every 15 seconds should not miss most of them. */
    synchronized double seconds() {
        long longest = owed ? nanoClock.getAsLong() - askedNanos : lagNanos;
        for (long lag : lags) {
            longest = Math.max(longest, lag);
        }
        return longest / NANOS_PER_SECOND;
    }

    int pendingTasks() {
        return pendingTasks.getAsInt();
    }
}
