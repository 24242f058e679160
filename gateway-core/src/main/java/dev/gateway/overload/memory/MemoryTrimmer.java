package dev.gateway.overload.memory;

import java.util.function.BooleanSupplier;

/**
 * Trims memory: returns memory of former buffers to the system. Event loops keep free buffers for reuse, in chunks that are
 * otherwise empty, and the C library keeps what Netty frees. After an attack, that is most of the process's memory. One
 * thread calls it once a second. If buffers have taken much less than before for some seconds, it asks the event loops to
 * free what they keep, and then the library. It does nothing while the need for buffers changes.
 */
public final class MemoryTrimmer {
    /** It does not free less than this. */
    static final long LEAST = 8 << 20;

    /** The number of reviews in a row at which buffers must take little. */
    static final int CALM = 5;

    private final Runnable gather;
    private final BooleanSupplier giveBack;
    private boolean possible = true;
    private long most; // the maximum since the last trim
    private int calm;

    /**
     * Makes it.
     *
     * @param gather asks the event loops to free what they keep for reuse
     * @param giveBack asks the C library to return unused memory; returns false if it cannot
     */
    public MemoryTrimmer(Runnable gather, BooleanSupplier giveBack) {
        this.gather = gather;
        this.giveBack = giveBack;
    }

    /**
     * Checks how much memory buffers take.
     *
     * @param used bytes that Netty has taken from the C library
     */
    public void review(long used) {
        most = Math.max(most, used);
        boolean much = most - used >= LEAST && used <= most / 2;
        calm = much ? calm + 1 : 0;
        if (calm == CALM) {
            gather.run();
        } else if (calm > CALM) {
            calm = 0;
            most = used;
            possible = possible && giveBack.getAsBoolean();
        }
    }
}
