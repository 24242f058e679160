package dev.gateway.overload;

import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.overload.memory.StalledPeers;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.DoubleSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cuts what stalled peers hold of one kind of memory: when more than three quarters are held, ends exchanges and streams of
 * the clients that hold most and do not read, a little more with each review, until there is room. One thread reviews it
 * several times a second.
 */
public final class StallCutter {
    /** Above this part of the memory, it begins to end exchanges and streams ("cutting"). */
    static final double CUT = 0.75;

    /** Cutting ends when no more than this part is held. */
    static final double ENOUGH = 0.70;

    /** Above this part, it does not wait for the time that a slow network may need. */
    private static final double URGENT = 0.85;

    private static final long PATIENCE_NANOS = 1_000_000_000L;
    private static final long URGENT_NANOS = 100_000_000L;

    /** It does not cut clients that hold less than this. */
    private static final long LEAST = 2 * 1024;

    private static final Logger log = LoggerFactory.getLogger(StallCutter.class);

    private final String name;
    private final DoubleSupplier level;
    private final long max;
    private final List<? extends Executor> loops;
    private final Cutter cutter;
    private final AtomicInteger asked = new AtomicInteger(); // loops that have not run the last cut yet
    private long least; // what a client must hold to be cut; 0 while there is no cutting

    /**
     * Makes one.
     *
     * @param name of the memory, for people
     * @param level returns which part of it is held
     * @param max how many bytes there are
     * @param loops the event loops
     */
    StallCutter(String name, DoubleSupplier level, long max, List<? extends Executor> loops, Cutter cutter) {
        this.name = name;
        this.level = level;
        this.max = max;
        this.loops = loops;
        this.cutter = cutter;
    }

    /**
     * Makes one for what clients are charged of a budget.
     *
     * @param onCut runs for each exchange or stream that is ended
     */
    public static StallCutter of(
            String name,
            MemoryBudget budget,
            StalledPeers.Memory memory,
            List<? extends Executor> loops,
            Runnable onCut) {
        return new StallCutter(
                name,
                () -> (double) budget.granted() / budget.capacity(),
                budget.capacity(),
                loops,
                (least, wanted, nanos) -> StalledPeers.ofThisLoop().cut(memory, least, wanted, nanos, onCut));
    }

    /** Cuts on the current event loop: see {@link StalledPeers#cut}. */
    @FunctionalInterface
    interface Cutter {
        void cut(long least, long wanted, long nanos);
    }

    /** Checks the memory, and begins a cut on all event loops if too little is left. */
    public void review() {
        double now = level.getAsDouble();
        if (now <= (least == 0 ? CUT : ENOUGH)) {
            if (least > 0) {
                least = 0;
                log.info("{} has room again", name);
            }
            return;
        }
        if (least == 0) {
            least = max / 4;
            log.warn(
                    "{} is {} % full: cutting the streams of clients that hold most of it and do not read",
                    name, Math.round(100 * now));
        }
        if (asked.get() > 0) {
            return; // a loop has not run the last cut yet
        }
        least = Math.max(LEAST, least / 2);
        long from = least;
        long wanted = (long) ((now - ENOUGH) * max) / loops.size() + 1;
        long nanos = now > URGENT ? URGENT_NANOS : PATIENCE_NANOS;
        asked.set(loops.size());
        for (Executor loop : loops) {
            ask(loop, () -> cutter.cut(from, wanted, nanos));
        }
    }

    private void ask(Executor loop, Runnable task) {
        try {
            loop.execute(() -> {
                asked.decrementAndGet();
                task.run();
            });
        } catch (RejectedExecutionException e) { // the loop has ended, and holds nothing any more
            asked.decrementAndGet();
        }
    }
}
