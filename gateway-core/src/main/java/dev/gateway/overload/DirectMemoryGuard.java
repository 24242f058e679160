package dev.gateway.overload;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Load shedding for direct memory: keeps direct memory for those who take what they ask for. When buffers hold more than
 * three quarters of it, it has those cut who hold most for peers that take nothing, a little more with each review, until
 * there is room. What it says of the pressure is for the code that refuses new work. Reviewed by one thread, several times a
 * second.
 */
public final class DirectMemoryGuard implements Pressure {
    /** Beyond this part of the memory somebody is cut. */
    static final double CUT = 0.75;

    /** Cutting ends when buffers hold no more than this part. */
    static final double ENOUGH = 0.70;

    /** Beyond this part nobody is given the time that a slow network may need. */
    private static final double URGENT = 0.85;

    private static final long PATIENCE_NANOS = 1_000_000_000L;
    private static final long URGENT_NANOS = 100_000_000L;

    /** Who holds less is not worth cutting. */
    private static final long LEAST = 2 * 1024;

    private static final Logger log = LoggerFactory.getLogger(DirectMemoryGuard.class);

    private final LongSupplier held;
    private final long max;
    private final Cutter cutter;
    private final List<? extends Executor> loops;
    private final AtomicInteger asked = new AtomicInteger(); // loops that have not cut yet
    private long least; // 0 while nobody is to be cut
    private long cutBefore;

    /**
     * Makes a guard of this process's memory.
     *
     * @param held returns how many bytes buffers hold; asked only when much is used
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

    /** What cuts on the event loop that it runs on: see {@link StalledPeers#cut}. */
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
     * Has what event loops keep ready given back while memory is not ample. It may be little, but as it lies in many chunks,
     * all of them would count as used for ever.
     *
     * @param task gives back what the event loop that runs it keeps
     */
    public void trim(Runnable task) {
        if (!DirectMemory.isAmple()) {
            loops.forEach(loop -> loop.execute(task));
        }
    }

    /**
     * Has event loops free what buffers have left behind, while memory is not ample and buffers hold less than half of it.
     *
     * @param held returns how many bytes buffers hold
     * @param task frees what it can of the event loop that runs it
     */
    public void gather(LongSupplier held, Runnable task) {
        if (!DirectMemory.isAmple() && held.getAsLong() < DirectMemory.used() / 2) {
            loops.forEach(loop -> loop.execute(task));
        }
    }

    /** Looks at the memory, and has somebody cut if there is too little. */
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
            return; // a loop that is late is not to be asked again and again
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
        } catch (RejectedExecutionException e) { // it has ended, and holds nothing any more
            asked.decrementAndGet();
        }
    }
}
