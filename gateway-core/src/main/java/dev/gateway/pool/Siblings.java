package dev.gateway.pool;

import dev.gateway.upstream.Host;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The pools of one event loop for the endpoints of one upstream. A request that must wait for one endpoint waits for all,
 * and gets the connection that is free first. So an endpoint that hangs delays only the requests that it has. Confined to
 * its loop.
 */
final class Siblings implements EndpointPool.Others {
    private final Permits permits;
    private final Function<Host, EndpointPool> poolOf;
    private final List<EndpointPool> pools = new ArrayList<>();
    private int turn; // selects the pool to ask first
    private int pending; // waiting requests for which no connection is being made

    /**
     * Makes it without pools.
     *
     * @param poolOf returns the pool of an endpoint; makes the pool if this loop does not know the endpoint yet
     */
    Siblings(Permits permits, Function<Host, EndpointPool> poolOf) {
        this.permits = permits;
        this.poolOf = poolOf;
    }

    void add(EndpointPool pool) {
        pools.add(pool);
    }

    /** Removes the empty pool of a removed endpoint. */
    void remove(EndpointPool pool) {
        pools.remove(pool);
    }

    /** Returns a pool for a request whose endpoint was removed; null if none takes requests. */
    @Nullable
    EndpointPool instead() {
        turn++;
        for (int i = 0; i < pools.size(); i++) {
            if (pool(i).takesFromOthers()) {
                return pool(i);
            }
        }
        return null;
    }

    @Override
    public void onWithoutDial(int change) {
        pending += change;
    }

    @Override
    public boolean haveNoConnection() {
        return pools.stream().allMatch(EndpointPool::servesNone);
    }

    @Override
    public @Nullable EndpointPool acquireRequest(EndpointPool instead) {
        for (int i = 0; i < pools.size(); i++) {
            EndpointPool pool = pool(i);
            if (pool != instead
                    && pool.takesFromOthers()
                    && pool.endpoint.host.requests().tryAcquire()) {
                turn++;
                return pool;
            }
        }
        return null;
    }

    /** Returns an endpoint that has room for a tunnel: the asked one, or another if that has no room. */
    Host withRoom(Host asked) {
        if (hasRoom(asked)) {
            return asked;
        }
        turn++;
        for (int i = 0; i < pools.size(); i++) {
            EndpointPool pool = pool(i);
            if (pool.takesFromOthers() && !pool.endpoint.host.isUnreached() && hasRoom(pool.endpoint.host)) {
                return pool.endpoint.host;
            }
        }
        return asked;
    }

    private boolean hasRoom(Host host) {
        return permits.isAvailable(host) && host.requests().hasRoom();
    }

    private EndpointPool pool(int offset) {
        return pools.get(Math.floorMod(turn + offset, pools.size()));
    }

    @Override
    public boolean move(Waiter waiter) {
        if (pools.size() < 2) {
            return false;
        }
        turn++;
        for (int i = 0; i < pools.size(); i++) {
            EndpointPool to = pool(i);
            if (isFor(waiter, to)
                    && to.hasFree(waiter.kind)
                    && to.endpoint.host.requests().tryAcquire()) {
                to.pending.receive(waiter);
                return true;
            }
        }
        for (int i = 0; i < pools.size(); i++) {
            EndpointPool to = pool(i);
            if (isFor(waiter, to)
                    && !to.endpoint.host.isUnreached()
                    && to.endpoint.host.requests().tryAcquire()) {
                if (to.opener.reserve()) {
                    to.pending.receive(waiter);
                    return true;
                }
                to.endpoint.host.requests().release();
            }
        }
        return false;
    }

    private static boolean isFor(Waiter waiter, EndpointPool to) {
        return to.pending != waiter.owner && to.takesFromOthers();
    }

    @Override
    public void serveFrom(EndpointPool free) {
        while (pending > 0 && free.takesFromOthers()) {
            PooledConnection connection = free.free();
            Waiter waiter = connection == null ? null : longestWaiting(connection);
            if (waiter == null || !free.endpoint.host.requests().tryAcquire()) {
                return;
            }
            free.pending.receive(waiter);
        }
    }

    private @Nullable Waiter longestWaiting(PooledConnection connection) {
        Waiter longest = null;
        for (EndpointPool pool : pools) {
            Waiter first = pool.pending.firstWithoutDial(connection);
            if (first != null
                    && (longest == null || first.connectionWait.sinceNanos - longest.connectionWait.sinceNanos < 0)) {
                longest = first;
            }
        }
        return longest;
    }

    @Override
    public void onPermit(EndpointPool from, Host granted) {
        Waiter waiter = from.pending.first();
        if (waiter != null && !granted.isGone()) {
            EndpointPool to = poolOf.apply(granted);
            if (to.takesFromOthers()) {
                granted.requests().acquireBeyond(); // a request that has waited is not refused after that
                to.opener.reserved();
                to.pending.receive(waiter);
                from.opener.openNeeded();
                return;
            }
        }
        permits.release(granted);
        if (!granted.isChosen()) { // it left service meanwhile, so the pool will not get a permit for it again
            from.opener.openNeeded();
        }
    }

    /**
     * The set of chosen endpoints has changed. Requests that wait at an endpoint that is no longer chosen move elsewhere,
     * and free connections of chosen endpoints serve waiting requests.
     */
    void onChoice() {
        for (EndpointPool pool : List.copyOf(pools)) {
            if (pool.endpoint.host.isChosen()) {
                serveFrom(pool);
            } else {
                pool.pending.copy().forEach(waiter -> {
                    if (waiter.queued && waiter.owner == pool.pending) {
                        move(waiter);
                    }
                });
            }
        }
    }
}
