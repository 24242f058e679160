package dev.gateway.pool;

import dev.gateway.time.Timer;

/**
 * The wait of one request or tunnel for a connection, with the timer that limits it. While it waits for a permit, it counts
 * against the upstream's limit of pending requests, and the upstream's settings limit the time. Confined to its event loop.
 */
abstract class ConnectionWait extends Timer {
    final long sinceNanos;
    private boolean forPermit;

    ConnectionWait(long sinceNanos) {
        this.sinceNanos = sinceNanos;
    }

    /** Whether it waits for a permit. */
    final boolean isForPermit() {
        return forPermit;
    }

    /**
     * Begins to wait for a permit.
     *
     * @return false if too many requests wait for one already
     */
    final boolean beginForPermit(UpstreamContext context) {
        if (!context.shared.upstream.pendingRequests().tryAcquire()) {
            context.observer.onPendingOverflow();
            return false;
        }
        forPermit = true;
        if (context.settings.poolAcquireMillis() > 0) {
            context.resources.wheel.arm(this, context.settings.poolAcquireMillis());
        }
        return true;
    }

    /**
     * Ends the wait for a permit, if it waits for one. The timer stays armed.
     *
     * @return whether it waited for one
     */
    final boolean endForPermit(UpstreamContext context) {
        boolean was = forPermit;
        if (was) {
            forPermit = false;
            context.shared.upstream.pendingRequests().release();
        }
        return was;
    }
}
