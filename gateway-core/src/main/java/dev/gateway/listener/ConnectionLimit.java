package dev.gateway.listener;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts the connections of a listener on all event loops: touched when one opens or closes, never between. */
final class ConnectionLimit {
    private volatile int max; // changed by a reload
    private final AtomicInteger open = new AtomicInteger();

    /** Makes a limit; 0 for none. */
    ConnectionLimit(int max) {
        this.max = max;
    }

    /** Sets another limit; connections that are open stay. */
    void change(int limit) {
        max = limit;
    }

    boolean tryAcquire() {
        int limit = max;
        if (open.incrementAndGet() > limit && limit > 0) {
            open.decrementAndGet();
            return false;
        }
        return true;
    }

    void release() {
        open.decrementAndGet();
    }

    int open() {
        return open.get();
    }
}
