package dev.gateway.overload;

import java.util.concurrent.atomic.LongAdder;

/**
 * The memory of pending requests: what those that wait for one upstream make the process hold, on all event loops together.
 * {@link LoopGate#admits} bounds it. Safe from any thread: an event loop adds to a cell of its own, and reads the sum only when memory is scarce.
 */
public final class PendingRequestMemory {
    private final LongAdder held = new LongAdder();

    /** So many bytes more are held, or fewer. */
    void add(long bytes) {
        held.add(bytes);
    }

    /** Returns how many bytes are held. */
    public long held() {
        return held.sum();
    }
}
