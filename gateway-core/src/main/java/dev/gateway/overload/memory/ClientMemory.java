package dev.gateway.overload.memory;

import java.util.concurrent.atomic.LongAdder;

/**
 * Client memory: what one client makes all event loops hold together, of each budget. {@link Account} adds to it. Safe from
 * any thread: each event loop adds to its own cell, and reads the sum only when memory is scarce.
 */
public final class ClientMemory {
    private final Object client;
    private final LongAdder heap = new LongAdder();
    private final LongAdder direct = new LongAdder();

    /** How many connections and requests use it. Changed by {@link ClientShares} only, one thread at a time. */
    volatile int users;

    ClientMemory(Object client) {
        this.client = client;
    }

    /** Returns how many connections and requests of the client there are. */
    public int users() {
        return users;
    }

    /** Returns whose it is. */
    Object client() {
        return client;
    }

    /** Returns the bytes of heap. */
    LongAdder heap() {
        return heap;
    }

    /** Returns the bytes of direct memory. */
    LongAdder direct() {
        return direct;
    }

    /** Returns whose memory it is, for people. */
    @Override
    public String toString() {
        return client.toString();
    }
}
