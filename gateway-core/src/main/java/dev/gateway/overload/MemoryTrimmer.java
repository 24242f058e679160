package dev.gateway.overload;

import java.util.function.BooleanSupplier;

/**
 * Trims memory: gives back to the system what buffers have left behind. Event loops keep some of it ready, in chunks that hold
 * little else, and what Netty frees, the C library keeps for what may come next; after an attack that is most of what the
 * process takes. Reviewed once a second by one thread: when buffers have taken much less than before for some seconds, the
 * event loops are asked to let go, and then the library. While buffers come and go, nobody is.
 */
public final class MemoryTrimmer {
    /** Less is not worth it. */
    static final long LEAST = 8 << 20;

    /** For so many reviews little must have been taken. */
    static final int CALM = 5;

    private final Runnable gather;
    private final BooleanSupplier giveBack;
    private boolean possible = true;
    private long most; // since memory was given back
    private int calm;

    /**
     * Makes it.
     *
     * @param gather asks the event loops to free what they keep ready
     * @param giveBack asks the C library to let go of what it does not use; false if it cannot
     */
    public MemoryTrimmer(Runnable gather, BooleanSupplier giveBack) {
        this.gather = gather;
        this.giveBack = giveBack;
    }

    /**
     * Looks how much memory buffers take.
     *
     * @param used bytes that were taken from the C library
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
