package dev.gateway.listener;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts the connections of a listener on all event loops: touched when one opens or closes, never between. */
final class ConnectionLimit {
    private final int max;
    private final AtomicInteger open = new AtomicInteger();

    /** Makes a limit; 0 for none. */
    ConnectionLimit(int max) {
        this.max = max;
    }

    boolean tryAcquire() {
        if (open.incrementAndGet() > max && max > 0) {
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
