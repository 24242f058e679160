package dev.gateway.upstream.pool;

import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.upstream.stream.StreamOpener;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a pool that wait for a connection; their clients take turns. Each waits for a connection that is being made, or for
 * a permit, for a limited time. A request that waits too long first looks for room at another endpoint. Part of the pool,
 * confined to its event loop.
 */
final class PendingRequests {
    private final EndpointContext endpoint;
    private final ConnectionOpener opener;
    private final ConnectionSource source;
    private final WaitQueue<Waiter> waiters;
    private int forPermit; // of them, wait for a permit

    /** The pool, which also reaches the pools of other endpoints. */
    interface ConnectionSource {
        /** Returns the best connection for a request, null if none has room. */
        @Nullable
        PooledConnection takeUsable();

        /** Gives a connection to a waiting request. */
        void serve(Waiter waiter, PooledConnection connection);

        /** Moves a waiting request to another endpoint that has room; returns whether there is one. */
        boolean move(Waiter waiter);

        /**
         * Moves a waiting request to an endpoint that it has not tried, even to one that could not be reached lately or is
         * ejected; returns whether there is one.
         */
        boolean moveToUntried(Waiter waiter);

        /** The number of waiting requests for which no connection is being made changes by this. */
        void onWithoutDial(int change);

        /** A request has left the queue, and got no connection of this pool. */
        void onLeft();
    }

    PendingRequests(EndpointContext endpoint, ConnectionOpener opener, ConnectionSource source) {
        this.endpoint = endpoint;
        this.opener = opener;
        this.source = source;
        this.waiters = new WaitQueue<>(endpoint.shared.upstream.pendingRequests()::last);
    }

    int size() {
        return waiters.size();
    }

    /** Returns how many of those who wait for a permit will be served by connections that are being made. */
    int promised() {
        return Math.max(0, Math.min(forPermit, opener.expected() - (waiters.size() - forPermit)));
    }

    @Nullable
    Waiter first() {
        return waiters.first();
    }

    /**
     * Returns the first waiting request that can use a connection, if the connections being made will not serve all; else
     * null.
     *
     * @param connection a free connection elsewhere, which does not take every kind of stream
     */
    @Nullable
    Waiter firstWithoutDial(PooledConnection connection) {
        return waiters.size() > opener.expected() ? waiters.first(each -> connection.takes(each.kind)) : null;
    }

    /** Returns a copy of the queue, for a loop that may change it. */
    List<Waiter> copy() {
        return waiters.copy();
    }

    StreamOpener.Opening enqueue(Waiter waiter) {
        waiters.add(waiter);
        endpoint.observer.onPending();
        if (endpoint.host.isSpare() && waiter.callback.takesEjected()) {
            opener.openBeyond();
        } else if (endpoint.flexible && isWorseThanOthers() && source.move(waiter)) {
            return waiter;
        } else {
            opener.openNeeded();
        }
        limit(waiter);
        return waiter.isQueued() ? waiter : StreamOpener.Opening.DONE;
    }

    /** Whether a request should first look for room at other endpoints. */
    private boolean isWorseThanOthers() {
        return opener.waitsForPermit()
                || (endpoint.host.isUnreached() && opener.dialing() > 0)
                || !endpoint.host.takesSessions();
    }

    private boolean moveElsewhere(Waiter waiter) {
        return endpoint.flexible && source.move(waiter);
    }

    private boolean moveToUntried(Waiter waiter) {
        return endpoint.movable && waiter.isQueued() && source.moveToUntried(waiter);
    }

    /**
     * Limits the wait. For a permit, the limits of the upstream apply; for a connection that is being made, its connect
     * timeout. A request that gets its permit in time waits for its connection from then on.
     */
    private void limit(Waiter waiter) {
        if (!waiter.isQueued() || waiter.owner != this || waiter.connectionWait.isForPermit()) {
            return; // a connection that failed at once has moved it, or has begun this wait
        }
        if (waiters.size() <= opener.expected()) {
            waiter.connectionWait.beginForDial(endpoint);
            return;
        }
        if (!waiter.connectionWait.beginForPermit(endpoint, waiter.client)) {
            failForOthers(waiter);
            return;
        }
        forPermit++;
        if (endpoint.flexible) {
            source.onWithoutDial(1);
        }
    }

    private void failForOthers(Waiter waiter) {
        fail(waiter, noRetry(Cause.PENDING_OVERFLOW, "too many requests wait for a connection to " + endpoint.target));
    }

    /** Returns a failure without a retry: waiting again, at this endpoint or another, would only add load. */
    static Failure noRetry(Cause cause, String detail) {
        return Failure.of(cause, RetrySafety.NEVER, detail);
    }

    /** Its request was cancelled. */
    void onCancelled(Waiter waiter) {
        leave(waiter);
        source.onLeft();
        endpoint.releaseRequests(1);
    }

    /** The time of its request is over. */
    void onExpired(Waiter waiter) {
        onLate();
        onCancelled(waiter);
    }

    /** Another client has got its place. */
    void onPlaceLost(Waiter waiter) {
        failForOthers(waiter);
    }

    /** A connection that is being made takes too long for a request that waits for it. */
    private void onLate() {
        // If it waits for a file descriptor, or for a handshake that a client has chosen, the endpoint is not to blame.
        boolean isOurs = endpoint.resources.room.isAwaitedHere() || endpoint.target.isNamed();
        if (opener.dialing() > 0 && !isOurs && opener.onLate()) {
            endpoint.shared.upstream.health().onUnreached(endpoint.target.endpoint(), Cause.CONNECT_TIMEOUT);
        }
    }

    /** Its timer has expired. */
    void onWaited(Waiter waiter) {
        if (!waiter.connectionWait.isForPermit() && opener.dialing() > 0) {
            onLate();
            if (!moveElsewhere(waiter) && !moveToUntried(waiter) && waiter.isQueued()) {
                // The pool answers the request when the connection fails.
                waiter.connectionWait.beginForDial(endpoint);
            }
        } else if (!waiter.connectionWait.isForPermit()) { // the connection that was being made for it has failed
            moveOrLimit(waiter);
        } else if (waiters.isAmongFirst(waiter, opener.expected())) { // it has got its permit in time
            endForPermit(waiter);
            waiter.connectionWait.beginForDial(endpoint);
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
            if (waiter.isQueued()
                    && waiter.owner == this
                    && !waiter.connectionWait.isForPermit()
                    && !waiters.isAmongFirst(waiter, opener.expected())) {
                moveOrLimit(waiter);
            }
        }
    }

    private void moveOrLimit(Waiter waiter) {
        waiter.connectionWait.cancel();
        if (!moveElsewhere(waiter)) {
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
                source.onWithoutDial(-1);
            }
        }
    }

    private void remove(Waiter waiter) {
        waiters.remove(waiter);
        waiter.connectionWait.cancel();
        endForPermit(waiter);
        if (waiters.first() == null) {
            opener.leaveQueue(); // else others would close connections for a pool that needs none
        }
    }

    /** It has moved to another pool. */
    void onMoved(Waiter waiter) {
        waiters.endTurn(waiter, endpoint.now());
        remove(waiter);
        source.onLeft();
        endpoint.releaseRequests(1);
    }

    /**
     * Takes over a waiting request from another endpoint's pool. Requests in flight of this endpoint already include it.
     */
    void receive(Waiter waiter) {
        waiter.owner.onMoved(waiter);
        waiter.owner = this;
        waiters.add(waiter);
        waiter.callback.onMoved(endpoint.target.endpoint());
        opener.dialReserved();
        if (waiter.isQueued()) {
            serve();
        }
        limit(waiter);
    }

    private void fail(Waiter waiter, Failure failure) {
        leave(waiter);
        source.onLeft();
        endpoint.releaseRequests(1);
        waiter.callback.onOpenFailed(failure);
    }

    void failFirst(Failure failure) {
        Waiter first = waiters.first();
        if (first != null) {
            waiters.endTurn(first, endpoint.now());
            fail(first, failure);
        }
    }

    /** Fails all waiting requests. */
    void failAll(Failure failure) {
        for (Waiter waiter : waiters.copy()) {
            if (waiter.isQueued()) {
                fail(waiter, failure);
            }
        }
    }

    /** Gives connections that have room to waiting requests. */
    void serve() {
        Waiter waiter;
        PooledConnection connection;
        while ((waiter = waiters.first()) != null && (connection = source.takeUsable()) != null) {
            waiters.endTurn(waiter, endpoint.now());
            leave(waiter);
            source.serve(waiter, connection);
        }
    }
}
