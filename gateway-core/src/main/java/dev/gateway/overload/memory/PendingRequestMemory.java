package dev.gateway.overload.memory;

import java.util.concurrent.atomic.LongAdder;

/**
 * The memory of pending requests: how much the requests that wait for one upstream hold, on all event loops together.
 * {@code LoopGate.admits} bounds it. Safe from any thread: each event loop adds to its own cell, and reads the sum only
 * when memory is scarce.
 */
public final class PendingRequestMemory {
    private final LongAdder held = new LongAdder();

    /** Adds bytes; a negative number subtracts. */
    void add(long bytes) {
        held.add(bytes);
    }

    /** Returns how many bytes are held. */
    public long held() {
        return held.sum();
    }
}
