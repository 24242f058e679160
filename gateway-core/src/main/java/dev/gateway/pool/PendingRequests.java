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
final class PendingRequests implements Waiter.Owner {
    /**
     * What part of the time for connecting a request waits at one endpoint while others have room. With the default time that
     * is less than a second: the system would send a lost SYN again only then.
     */
    private static final int PATIENCE_DIVISOR = 6;

    private final EndpointContext endpoint;
    private final ConnectionOpener opener;
    private final Owner owner;
    private final WaitQueue waiters = new WaitQueue();
    private int forPermit; // of them, wait for a permit

    /** The pool, and those of other endpoints behind it. */
    interface Owner {
        /** Returns the connection that a request had better use, null if none has room. */
        @Nullable
        PooledConnection takeUsable();

        /** Answers somebody who has waited. */
        void serve(Waiter waiter, PooledConnection connection);

        /** Finds room for somebody who waits at another endpoint; returns whether there was some. */
        boolean move(Waiter waiter);

        /** So many more requests wait here that nothing is being made for. */
        void onWithoutDial(int change);

        /** Somebody waits no more. */
        void onLeft();
    }

    PendingRequests(EndpointContext endpoint, ConnectionOpener opener, Owner owner) {
        this.endpoint = endpoint;
        this.opener = opener;
        this.owner = owner;
    }

    int size() {
        return waiters.size();
    }

    @Nullable
    Waiter first() {
        return waiters.first();
    }

    /**
     * Returns who has waited for longest if more wait than will be served by connections being made.
     *
     * @param connection what is free elsewhere, which somebody in front may have no use for
     */
    @Nullable
    Waiter firstWithoutDial(PooledConnection connection) {
        Waiter waiter = waiters.size() > opener.expected() ? waiters.first() : null;
        while (waiter != null && !connection.takes(waiter.kind)) {
            waiter = waiter.after;
        }
        return waiter;
    }

    /** Returns those who wait now, for a loop in which others may come and go. */
    List<Waiter> copy() {
        return waiters.copy();
    }

    StreamOpener.Opening enqueue(Waiter waiter) {
        waiters.add(waiter);
        endpoint.observer.onPending();
        if (endpoint.flexible && isWorseThanOthers() && owner.move(waiter)) {
            return waiter;
        }
        opener.openNeeded();
        if (waiter.queued) {
            limit(waiter);
        }
        return waiter.queued ? waiter : StreamOpener.Opening.DONE;
    }

    /** Whether waiting requests had better look for room elsewhere. */
    private boolean isWorseThanOthers() {
        return opener.waitsForPermit()
                || (endpoint.host.isUnreached() && opener.dialing() > 0)
                || !endpoint.host.isChosen();
    }

    private boolean moveElsewhere(Waiter waiter) {
        return endpoint.flexible && owner.move(waiter);
    }

    /**
     * Bounds the wait: for a permit by the upstream's limits, for a connection that is being made by its own. Who gets the
     * permit before its time is over waits for its connection from there on.
     */
    private void limit(Waiter waiter) {
        if (waiters.size() <= opener.expected()) {
            if (patienceMillis() > 0) {
                endpoint.resources.wheel.arm(waiter.connectionWait, patienceMillis());
            }
            return;
        }
        if (!waiter.connectionWait.beginForPermit(endpoint)) {
            fail(
                    waiter,
                    noRetry(Cause.PENDING_OVERFLOW, "too many requests wait for a connection to " + endpoint.target));
            return;
        }
        forPermit++;
        if (endpoint.flexible) {
            owner.onWithoutDial(1);
        }
    }

    /** How long a request waits for a connection that is being made before it looks for another endpoint. */
    private long patienceMillis() {
        return endpoint.settings.connectMillis() / PATIENCE_DIVISOR;
    }

    /** Waiting again, at this endpoint or another, would only make it worse. */
    static Failure noRetry(Cause cause, String detail) {
        return Failure.of(cause, RetrySafety.NEVER, detail);
    }

    @Override
    public void onCancelled(Waiter waiter) {
        leave(waiter);
        endpoint.releaseRequests(1);
    }

    @Override
    public void onExpired(Waiter waiter) {
        onLate();
        onCancelled(waiter);
    }

    /** A connection that is being made takes too long for somebody who waits for it. */
    private void onLate() {
        // For want of a file descriptor is not the endpoint's fault.
        boolean isOurs = endpoint.resources.room.isAwaitedHere();
        if (opener.dialing() > 0 && !isOurs && opener.onLate()) {
            endpoint.shared.upstream.health().onTried(endpoint.target.endpoint(), false);
        }
    }

    @Override
    public void onWaited(Waiter waiter) {
        if (!waiter.connectionWait.isForPermit() && opener.dialing() > 0) {
            onLate();
            if (!moveElsewhere(waiter) && waiter.queued) {
                // What is being made tells when it fails.
                endpoint.resources.wheel.arm(waiter.connectionWait, patienceMillis());
            }
        } else if (!waiter.connectionWait.isForPermit()) { // what was being made for it has failed
            moveOrLimit(waiter);
        } else if (waiters.isAmongFirst(waiter, opener.expected())) { // it has had its permit in time
            endForPermit(waiter);
            if (patienceMillis() > 0) {
                endpoint.resources.wheel.arm(waiter.connectionWait, patienceMillis());
            }
        } else {
            endpoint.observer.onPendingTimeout();
            fail(
                    waiter,
                    noRetry(Cause.PENDING_TIMEOUT, "no connection to " + endpoint.target + " became free in time"));
        }
    }

    /**
     * A connection that was being made has come, or will not. Those who counted on it, and whom no other will serve, look for
     * room elsewhere at once, or wait for a permit from here on.
     */
    void onDialEnded() {
        if (waiters.size() - forPermit <= opener.expected()) {
            return;
        }
        for (Waiter waiter : waiters.copy()) {
            if (waiter.queued
                    && waiter.owner == this
                    && !waiter.connectionWait.isForPermit()
                    && !waiters.isAmongFirst(waiter, opener.expected())) {
                moveOrLimit(waiter);
            }
        }
    }

    private void moveOrLimit(Waiter waiter) {
        waiter.connectionWait.cancel();
        if (!moveElsewhere(waiter) && waiter.queued) {
            limit(waiter);
        }
    }

    private void leave(Waiter waiter) {
        endpoint.observer.onPendingEnded(endpoint.now() - waiter.connectionWait.sinceNanos);
        remove(waiter);
    }

    private void endForPermit(Waiter waiter) {
        if (waiter.connectionWait.endForPermit(endpoint)) {
            forPermit--;
            if (endpoint.flexible) {
                owner.onWithoutDial(-1);
            }
        }
    }

    private void remove(Waiter waiter) {
        waiters.remove(waiter);
        waiter.connectionWait.cancel();
        endForPermit(waiter);
        if (waiters.first() == null) {
            opener.leaveQueue(); // or connections would be closed for us that we do not need
        }
        owner.onLeft();
    }

    @Override
    public void onMoved(Waiter waiter) {
        remove(waiter);
        endpoint.releaseRequests(1);
    }

    /** Takes a waiting request over from another endpoint's pool; it counts as one in flight here already. */
    void receive(Waiter waiter) {
        waiter.owner.onMoved(waiter);
        waiter.owner = this;
        waiters.add(waiter);
        waiter.callback.onMoved(endpoint.target.endpoint());
        opener.dialReserved();
        if (waiter.queued) {
            serve();
        }
        if (waiter.queued) {
            limit(waiter);
        }
    }

    private void fail(Waiter waiter, Failure failure) {
        leave(waiter);
        endpoint.releaseRequests(1);
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
        while ((waiter = waiters.first()) != null && (connection = owner.takeUsable()) != null) {
            leave(waiter);
            owner.serve(waiter, connection);
        }
    }
}
