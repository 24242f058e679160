package dev.gateway.filter.auth;

import java.util.concurrent.Semaphore;

/**
 * The part of the heap that Argon2 may fill: each check takes as much as its hash says. Checks that find no room wait for
 * others to end, in order. Safe from any thread; not for event loops.
 */
final class ArgonMemory {
    private static final double SHARE_OF_HEAP = 0.6;

    static final ArgonMemory OF_HEAP =
            new ArgonMemory((long) (SHARE_OF_HEAP * Runtime.getRuntime().maxMemory()) >> 10);

    private final int kibibytes;
    private final Semaphore free;

    ArgonMemory(long kibibytes) {
        this.kibibytes = (int) Math.min(Integer.MAX_VALUE, kibibytes);
        this.free = new Semaphore(this.kibibytes, true);
    }

    /** Returns how many KiB there are. */
    int kibibytes() {
        return kibibytes;
    }

    /** Runs a check when there is room for it, at most all there is. */
    void run(int wanted, Runnable check) {
        free.acquireUninterruptibly(wanted);
        try {
            check.run();
        } finally {
            free.release(wanted);
        }
    }
}
