package dev.gateway.net.transport;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * File descriptor quota. A part of the process's file descriptors: how many may be taken, and who waits for one. Safe from
 * any thread.
 */
public final class DescriptorShare {
    /** How many more may be taken where one that is about to be given back was counted on. */
    private static final int MARGIN = 4;

    private volatile int max;
    private final AtomicInteger taken = new AtomicInteger();
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

    DescriptorShare(int max) {
        this.max = max;
    }

    void resize(int size) {
        max = size;
        wake();
    }

    /** Takes one, unless there is clearly none left; {@link #release} gives it back. */
    boolean tryTake() {
        if (taken.incrementAndGet() - MARGIN > max) {
            taken.decrementAndGet();
            return false;
        }
        return true;
    }

    /** Takes one that is there already. */
    public void take() {
        taken.incrementAndGet();
    }

    /** Gives one back. */
    public void release() {
        taken.decrementAndGet();
        wake();
    }

    /** Whether none is left. */
    public boolean isFull() {
        return taken.get() >= max;
    }

    /** Whether at most a sixteenth is left. */
    public boolean isNearlyFull() {
        int most = max;
        return most - taken.get() <= most / 16;
    }

    /**
     * Has something done once when one may be left, maybe before this returns.
     *
     * @param task quick; run by the thread that gives one back
     */
    public void whenFree(Runnable task) {
        waiting.add(task);
        wake(); // one may have been given back meanwhile
    }

    /** Whether somebody waits for one. */
    public boolean isAwaited() {
        return !waiting.isEmpty();
    }

    private void wake() {
        Runnable task;
        while (!isFull() && (task = waiting.poll()) != null) {
            task.run();
        }
    }

    /** Returns how many are taken. */
    public int taken() {
        return taken.get();
    }

    /** Returns how many there are. */
    public int max() {
        return max;
    }
}
