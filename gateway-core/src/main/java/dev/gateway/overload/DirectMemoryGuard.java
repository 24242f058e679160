package dev.gateway.overload;

import dev.gateway.overload.memory.DirectMemory;
import dev.gateway.overload.memory.StalledPeers;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/**
 * Load shedding for direct memory: keeps it for peers that read what they ask for. When buffers hold more than three
 * quarters, it ends the exchanges and streams that hold most for peers that do not read ({@link StallCutter}). It also reports the pressure to {@link Overload}, which refuses new work. One thread reviews it
 * several times a second.
 */
public final class DirectMemoryGuard implements Pressure {
    private final LongSupplier held;
    private final long max;
    private final List<? extends Executor> loops;
    private final StallCutter cutter;

    /**
     * Makes a guard of this process's memory.
     *
     * @param held returns how many bytes buffers hold; called only when much is used
     * @param loops the event loops
     */
    public DirectMemoryGuard(LongSupplier held, List<? extends Executor> loops) {
        this(
                () -> DirectMemory.used() <= StallCutter.CUT * DirectMemory.max() ? 0 : held.getAsLong(),
                DirectMemory.max(),
                loops,
                (least, wanted, nanos) -> StalledPeers.ofThisLoop().cut(least, wanted, nanos));
    }

    DirectMemoryGuard(LongSupplier held, long max, List<? extends Executor> loops, StallCutter.Cutter cutter) {
        this.held = held;
        this.max = max;
        this.loops = loops;
        this.cutter = new StallCutter("Direct memory", this::level, max, loops, cutter);
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
        cutter.review();
    }
}
