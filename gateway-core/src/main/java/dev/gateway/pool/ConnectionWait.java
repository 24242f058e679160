package dev.gateway.pool;

import dev.gateway.time.Timer;

/**
 * The wait of one request or tunnel for a connection, with the timer that limits it. As long as it is a wait for a permit,
 * it counts against the upstream's limit of pending requests and takes as long as the upstream allows. Confined to its
 * event loop.
 */
abstract class ConnectionWait extends Timer {
    final long sinceNanos;
    private boolean forPermit;

    ConnectionWait(long sinceNanos) {
        this.sinceNanos = sinceNanos;
    }

    /** Whether it is for a permit. */
    final boolean isForPermit() {
        return forPermit;
    }

    /**
     * From here on it is for a permit.
     *
     * @return false if too many wait for one already
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
     * It is for a permit no more, if it was; the timer is left as it is.
     *
     * @return whether it was
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
