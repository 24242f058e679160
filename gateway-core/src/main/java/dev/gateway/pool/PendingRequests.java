package dev.gateway.pool;

import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.upstream.StreamOpener;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a pool that wait for a connection, in their order, and how long they may: for one that is being made, or
 * for a permit. Who waits too long looks for room at another endpoint first. Part of the pool, confined to its event loop.
 */
final class PendingRequests {
    /** What part of the time for connecting a request waits at one endpoint while others have room; a lost SYN fits in. */
    private static final int PATIENCE_DIVISOR = 4;

    private final EndpointPool pool;
    private final SharedUpstream shared;
    private final Siblings siblings;
    private final WaitQueue waiters = new WaitQueue();

    PendingRequests(EndpointPool pool, Siblings siblings) {
        this.pool = pool;
        this.shared = pool.endpoint.shared;
        this.siblings = siblings;
    }

    int size() {
        return waiters.size();
    }

    @Nullable
    Waiter first() {
        return waiters.first();
    }

    /** Returns who has waited for longest if more wait than will be served by connections being made, or null. */
    @Nullable
    Waiter firstWithoutDial() {
        return waiters.size() > pool.supply.expected() ? waiters.first() : null;
    }

    /** Returns those who wait now, for a loop in which others may come and go. */
    List<Waiter> copy() {
        return waiters.copy();
    }

    StreamOpener.Opening enqueue(Waiter waiter) {
        waiters.add(waiter);
        pool.endpoint.observer.onPending();
        if (pool.endpoint.flexible && isWorseThanOthers() && siblings.move(waiter)) {
            return waiter;
        }
        pool.supply.meetDemand();
        if (waiter.queued) {
            limit(waiter);
        }
        return waiter.queued ? waiter : StreamOpener.Opening.DONE;
    }

    /** Whether whoever waits here had better look for room elsewhere. */
    private boolean isWorseThanOthers() {
        return pool.supply.waitsForPermit()
                || (pool.endpoint.host.isUnreached() && pool.supply.dialing() > 0)
                || !pool.endpoint.host.isChosen();
    }

    private boolean moveElsewhere(Waiter waiter) {
        return pool.endpoint.flexible && siblings.move(waiter);
    }

    /**
     * Bounds the wait: for a permit by the upstream's limits, for a connection that is being made by its own. Who gets the
     * permit before its time is over waits for its connection from there on.
     */
    private void limit(Waiter waiter) {
        if (waiters.size() <= pool.supply.expected()) {
            if (patienceMillis() > 0) {
                pool.endpoint.resources.wheel.arm(waiter.timer, patienceMillis());
            }
            return;
        }
        if (!shared.upstream.pendingRequests().tryAcquire()) {
            pool.endpoint.observer.onPendingOverflow();
            fail(
                    waiter,
                    notAgain(
                            Cause.PENDING_OVERFLOW,
                            "too many requests wait for a connection to " + pool.endpoint.target));
            return;
        }
        waiter.counted = true;
        if (pool.endpoint.flexible) {
            siblings.onPending(1);
        }
        if (pool.endpoint.settings.poolAcquireMillis() > 0) {
            pool.endpoint.resources.wheel.arm(waiter.timer, pool.endpoint.settings.poolAcquireMillis());
        }
    }

    /** How long a request waits for a connection that is being made before it looks for another endpoint. */
    private long patienceMillis() {
        return pool.endpoint.settings.connectMillis() / PATIENCE_DIVISOR;
    }

    /** Waiting again, at this endpoint or another, would only make it worse. */
    static Failure notAgain(Cause cause, String detail) {
        return Failure.of(cause, RetrySafety.NEVER, detail);
    }

    void onCancelled(Waiter waiter) {
        leave(waiter);
        pool.endpoint.releaseRequests(1);
    }

    void onExpired(Waiter waiter) {
        onLate();
        onCancelled(waiter);
    }

    /** A connection that is being made takes too long for somebody who waits for it. */
    private void onLate() {
        boolean isOurs = pool.endpoint.resources.room
                .isAwaitedHere(); // for want of a file descriptor, which is not the endpoint's fault
        if (pool.supply.dialing() > 0 && !isOurs && pool.supply.onLate()) {
            shared.upstream.health().onTried(pool.endpoint.target.endpoint(), false);
        }
    }

    void onWaited(Waiter waiter) {
        if (!waiter.counted && pool.supply.dialing() > 0) {
            onLate();
            if (!moveElsewhere(waiter) && waiter.queued) {
                pool.endpoint.resources.wheel.arm(
                        waiter.timer, patienceMillis()); // what is being made tells when it fails
            }
        } else if (!waiter.counted) { // what was being made for it has failed
            if (!moveElsewhere(waiter) && waiter.queued) {
                limit(waiter);
            }
        } else if (waiters.isAmongFirst(waiter, pool.supply.expected())) { // it has had its permit in time
            stopCounting(waiter);
            if (patienceMillis() > 0) {
                pool.endpoint.resources.wheel.arm(waiter.timer, patienceMillis());
            }
        } else {
            pool.endpoint.observer.onPendingTimeout();
            fail(
                    waiter,
                    notAgain(
                            Cause.PENDING_TIMEOUT,
                            "no connection to " + pool.endpoint.target + " became free in time"));
        }
    }

    private void leave(Waiter waiter) {
        pool.endpoint.observer.onPendingEnded(pool.endpoint.now() - waiter.sinceNanos);
        letGo(waiter);
    }

    private void stopCounting(Waiter waiter) {
        if (waiter.counted) {
            waiter.counted = false;
            shared.upstream.pendingRequests().release();
            if (pool.endpoint.flexible) {
                siblings.onPending(-1);
            }
        }
    }

    private void letGo(Waiter waiter) {
        waiters.remove(waiter);
        waiter.timer.cancel();
        stopCounting(waiter);
        if (waiters.first() == null) {
            pool.supply.leaveLine(); // or connections would be closed for us that we do not need
        }
        pool.checkEmpty();
    }

    /** Takes a waiting request over from another endpoint's pool; it counts as one in flight here already. */
    void receive(Waiter waiter) {
        EndpointPool from = waiter.pool;
        from.pending.letGo(waiter);
        from.endpoint.releaseRequests(1);
        waiter.pool = pool;
        waiters.add(waiter);
        waiter.callback.onMoved(pool.endpoint.target.endpoint());
        pool.supply.dialReserved();
        if (waiter.queued) {
            serve();
        }
        if (waiter.queued) {
            limit(waiter);
        }
    }

    private void fail(Waiter waiter, Failure failure) {
        leave(waiter);
        pool.endpoint.releaseRequests(1);
        waiter.callback.onOpenFailed(failure);
    }

    void failFirst(Failure failure) {
        Waiter first = waiters.first();
        if (first != null) {
            fail(first, failure);
        }
    }

    /** Fails those who wait now. */
    void failAll(Failure failure) {
        for (Waiter waiter : waiters.copy()) {
            if (waiter.queued) {
                fail(waiter, failure);
            }
        }
    }

    /** Gives the connections that have room to those who wait. */
    void serve() {
        Waiter waiter;
        PooledConnection connection;
        while ((waiter = waiters.first()) != null && (connection = pool.kept.takeUsable()) != null) {
            leave(waiter);
            pool.serve(waiter, connection);
        }
    }
}
