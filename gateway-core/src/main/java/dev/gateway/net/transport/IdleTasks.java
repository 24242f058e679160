package dev.gateway.net.transport;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Idle tasks: what an event loop does when it has nothing else to do. For work that costs less the longer it waits, as a
 * flush does that others join: on a loop with time to spare it is done at once, on one that is never idle within 10 ms. One
 * for each loop, used by it only.
 */
public final class IdleTasks {
    /** Of a loop that is busy all the time. */
    static final long MAX_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final Logger log = LoggerFactory.getLogger(IdleTasks.class);
    private static final FastThreadLocal<IdleTasks> OF_THIS_LOOP = new FastThreadLocal<>();

    private final ArrayDeque<Runnable> awaiting = new ArrayDeque<>();
    private final LongSupplier nanoClock;
    private long sinceNanos;
    private int turns;

    /**
     * Makes one.
     *
     * @param nanoClock as {@link System#nanoTime}
     */
    IdleTasks(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Returns that of the event loop that calls; null if it cannot tell when it has nothing to do. */
    public static @Nullable IdleTasks ofThisLoop() {
        return OF_THIS_LOOP.getIfExists();
    }

    /** Makes this the calling event loop's. */
    void become() {
        OF_THIS_LOOP.set(this);
    }

    /** The calling thread is no event loop. */
    static void none() {
        OF_THIS_LOOP.remove();
    }

    /** Returns the number of this turn of the loop, in which it handles what it found when it looked last. May wrap round. */
    public int turn() {
        return turns;
    }

    /** The loop is about to look for what has happened. */
    void onTurn() {
        turns++;
    }

    /** Does something once, then. Who awaits it again before that has it done twice. */
    public void await(Runnable task) {
        if (awaiting.isEmpty()) {
            sinceNanos = nanoClock.getAsLong();
        }
        awaiting.add(task);
    }

    /** Returns whether anything is to be done. */
    boolean isAwaited() {
        return !awaiting.isEmpty();
    }

    /** The loop has looked for something to do; does what waits if there was nothing, or if it has waited for long. */
    void onPolled(boolean idle) {
        if (idle || nanoClock.getAsLong() - sinceNanos >= MAX_WAIT_NANOS) {
            for (int left = awaiting.size(); left > 0; left--) {
                run(awaiting.remove());
            }
            sinceNanos = nanoClock.getAsLong(); // of what the tasks themselves have begun to wait for
        }
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException e) {
            log.warn("A deferred task of an event loop failed", e); // the others are somebody else's
        }
    }
}
