package dev.gateway.pool;

import dev.gateway.upstream.Host;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The pools of one event loop for the endpoints of one upstream: a request that must wait for one of them waits for all, and
 * takes what is free first. So an endpoint that hangs holds up the requests it has, and no others. Confined to its loop.
 */
final class Siblings implements EndpointPool.Others {
    private final Permits permits;
    private final Function<Host, EndpointPool> poolOf;
    private final List<EndpointPool> pools = new ArrayList<>();
    private int turn; // of who is asked first
    private int pending; // requests that nothing is being made for

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

    /** A pool's endpoint has gone, and nothing of it is left. */
    void remove(EndpointPool pool) {
        pools.remove(pool);
    }

    /** Returns a pool that takes requests instead of that of an endpoint that has gone; null if there is none. */
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

    /** Returns an endpoint that has room for a tunnel: the one that was asked for, or another if that has none. */
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
                granted.requests().acquireBeyond(); // who has waited is not sent away again
                to.opener.reserved();
                to.pending.receive(waiter);
                from.opener.openNeeded();
                return;
            }
        }
        permits.release(granted);
        if (!granted.isChosen()) { // it has left service meanwhile, so nobody is given the same again
            from.opener.openNeeded();
        }
    }

    /**
     * Other endpoints are chosen than before: requests for one that is not had better wait elsewhere, and what is free
     * at one that is again had better be used.
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
