package dev.gateway.overload;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Load shedding for direct memory: keeps it for peers that read what they ask for. When buffers hold more than three
 * quarters, it ends the exchanges and streams that hold most for peers that do not read, a little more with each review,
 * until there is room. It also reports the pressure to {@link Overload}, which refuses new work. One thread reviews it
 * several times a second.
 */
public final class DirectMemoryGuard implements Pressure {
    /** Above this part of the memory, it begins to end exchanges and streams ("cutting"). */
    static final double CUT = 0.75;

    /** Cutting ends when buffers hold no more than this part. */
    static final double ENOUGH = 0.70;

    /** Above this part, it does not wait for the time that a slow network may need. */
    private static final double URGENT = 0.85;

    private static final long PATIENCE_NANOS = 1_000_000_000L;
    private static final long URGENT_NANOS = 100_000_000L;

    /** It does not cut connections that hold less than this. */
    private static final long LEAST = 2 * 1024;

    private static final Logger log = LoggerFactory.getLogger(DirectMemoryGuard.class);

    private final LongSupplier held;
    private final long max;
    private final Cutter cutter;
    private final List<? extends Executor> loops;
    private final AtomicInteger asked = new AtomicInteger(); // loops that have not run the last cut yet
    private long least; // what a connection must hold to be cut; 0 while there is no cutting
    private long cutBefore;

    /**
     * Makes a guard of this process's memory.
     *
     * @param held returns how many bytes buffers hold; called only when much is used
     * @param loops the event loops
     */
    public DirectMemoryGuard(LongSupplier held, List<? extends Executor> loops) {
        this(
                () -> DirectMemory.used() <= CUT * DirectMemory.max() ? 0 : held.getAsLong(),
                DirectMemory.max(),
                loops,
                (least, wanted, nanos) -> StalledPeers.ofThisLoop().cut(least, wanted, nanos));
    }

    DirectMemoryGuard(LongSupplier held, long max, List<? extends Executor> loops, Cutter cutter) {
        this.held = held;
        this.max = max;
        this.loops = loops;
        this.cutter = cutter;
    }

    /** Cuts on the current event loop: see {@link StalledPeers#cut}. */
    @FunctionalInterface
    interface Cutter {
        void cut(long least, long wanted, long nanos);
    }

    @Override
    public Resource resource() {
        return Resource.DIRECT_MEMORY;
    }

    @Override
    public double level() {
        return (double) held.getAsLong() / max;
    }

    /**
     * While memory is not ample, has event loops free the buffers that they keep for reuse. These may be few, but they are
     * in many chunks, and all these chunks would count as used for ever.
     *
     * @param task frees the buffers that the current event loop keeps
     */
    public void trim(Runnable task) {
        if (!DirectMemory.isAmple()) {
            loops.forEach(loop -> loop.execute(task));
        }
    }

    /**
     * Has event loops free unused chunks, while memory is not ample and buffers hold less than half of what was taken.
     *
     * @param held returns how many bytes buffers hold
     * @param task frees what it can on the current event loop
     */
    public void gather(LongSupplier held, Runnable task) {
        if (!DirectMemory.isAmple() && held.getAsLong() < DirectMemory.used() / 2) {
            loops.forEach(loop -> loop.execute(task));
        }
    }

    /** Checks the memory, and begins a cut on all event loops if too little is left. */
    public void review() {
        double level = level();
        if (level <= (least == 0 ? CUT : ENOUGH)) {
            if (least > 0) {
                least = 0;
                log.info("Direct memory has room again; the gateway cut {}", DirectMemory.cuts() - cutBefore);
            }
            return;
        }
        if (least == 0) {
            least = max / 4;
            cutBefore = DirectMemory.cuts();
            log.warn(
                    "Direct memory is {} % full: cutting the streams that hold most of it for clients that do not read",
                    Math.round(100 * level));
        }
        if (asked.get() > 0) {
            return; // a loop has not run the last cut yet
        }
        least = Math.max(LEAST, least / 2);
        long from = least;
        long wanted = (long) ((level - ENOUGH) * max) / loops.size() + 1;
        long nanos = level > URGENT ? URGENT_NANOS : PATIENCE_NANOS;
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
