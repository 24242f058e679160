package dev.gateway.upstream.pool;

import dev.gateway.time.Timer;
import dev.gateway.upstream.limit.PendingLimit;
import org.jspecify.annotations.Nullable;

/**
 * The wait of one request or tunnel for a connection, with the timer that limits it. While it waits for a permit, it has a
 * place within the upstream's limit of pending requests, and the upstream's settings limit the time. Confined to its event loop.
 */
abstract class ConnectionWait extends Timer {
    /**
     * A request waits this part of the time for connecting before it looks for another endpoint. With the default time,
     * that is less than a second, which is when the kernel repeats a lost SYN.
     */
    private static final int PATIENCE_DIVISOR = 6;

    final long sinceNanos;
    private PendingLimit.@Nullable Place place; // null if it waits for no permit

    ConnectionWait(long sinceNanos) {
        this.sinceNanos = sinceNanos;
    }

    /** Its place is gone, because another client has fewer requests that wait: it must fail. */
    protected abstract void onPlaceLost();

    /** Whether it waits for a permit. */
    final boolean isForPermit() {
        return place != null;
    }

    /**
     * Begins to wait for a permit.
     *
     * @param client equal for all that one client lets wait
     * @return false if too many requests wait for one already
     */
    final boolean beginForPermit(UpstreamContext context, Object client) {
        // Another loop may take the place away, and this one is told.
        place = context.shared
                .upstream
                .pendingRequests()
                .tryTake(client, sinceNanos, lost -> context.resources.loop.execute(() -> lose(context, lost)));
        if (place == null) {
            context.observer.onPendingOverflow();
            return false;
        }
        if (context.settings.poolAcquireMillis() > 0) {
            context.resources.wheel.arm(this, context.settings.poolAcquireMillis());
        }
        return true;
    }

    /** Begins to wait for a connection that is being made; the timer ends the patience with its endpoint. */
    final void beginForDial(UpstreamContext context) {
        long patienceMillis = context.settings.connectMillis() / PATIENCE_DIVISOR;
        if (patienceMillis > 0) {
            context.resources.wheel.arm(this, patienceMillis);
        }
    }

    private void lose(UpstreamContext context, PendingLimit.Place lost) {
        if (lost == place) { // else it has its connection meanwhile, or its exchange has ended
            context.observer.onPendingOverflow();
            onPlaceLost();
        }
    }

    /**
     * Ends the wait for a permit, if it waits for one. The timer stays armed.
     *
     * @return whether it waited for one
     */
    final boolean endForPermit(UpstreamContext context) {
        PendingLimit.Place had = place;
        if (had == null) {
            return false;
        }
        place = null;
        context.shared.upstream.pendingRequests().release(had);
        return true;
    }
}
