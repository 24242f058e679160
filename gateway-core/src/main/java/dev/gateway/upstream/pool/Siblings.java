package dev.gateway.upstream.pool;

import dev.gateway.upstream.Host;
import dev.gateway.upstream.stream.StreamOpener;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The pools of one event loop for the endpoints of one upstream. A request that must wait for one endpoint waits for all,
 * and gets the connection that is free first. Clients take turns. So an endpoint that hangs delays only the requests that it has. Confined to
 * its loop.
 */
final class Siblings implements EndpointPool.Others {
    /** A request compares so many pools that have room, and no more: a choice costs little, however many there are. */
    private static final int MOST_COMPARED = 8;

    private static final int RANDOM_STEPS = 1 << 20;

    private final Permits permits;
    private final LongUnaryOperator random;
    private final Function<Host, EndpointPool> poolOf;
    private final List<EndpointPool> pools = new ArrayList<>();
    private int pending; // waiting requests for which no connection is being made

    /**
     * Makes it without pools.
     *
     * @param random returns a number from 0 to below another one, each as likely
     * @param poolOf returns the pool of an endpoint; makes the pool if this loop does not know the endpoint yet
     */
    Siblings(Permits permits, LongUnaryOperator random, Function<Host, EndpointPool> poolOf) {
        this.permits = permits;
        this.random = random;
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
    EndpointPool instead(StreamOpener.Callback request) {
        return untriedFirst(request, pool -> true, pool -> true);
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
    public @Nullable EndpointPool acquireRequest(EndpointPool instead, StreamOpener.Callback request) {
        return untriedFirst(
                request,
                pool -> pool != instead && pool.endpoint.host.requests().hasRoom(),
                pool -> pool.endpoint.host.requests().tryAcquire());
    }

    /** Returns an endpoint that has room for a tunnel: the asked one, or another if that has no room. */
    Host withRoom(Host asked, StreamOpener.Callback request) {
        if (hasRoom(asked)) {
            return asked;
        }
        EndpointPool other = untriedFirst(
                request, pool -> !pool.endpoint.host.isUnreached() && hasRoom(pool.endpoint.host), pool -> true);
        return other == null ? asked : other.endpoint.host;
    }

    private boolean hasRoom(Host host) {
        return permits.isAvailable(host) && host.requests().hasRoom();
    }

    @Override
    public boolean move(Waiter waiter) {
        return move(waiter, pool -> !isTried(waiter.callback, pool))
                || move(waiter, pool -> isTried(waiter.callback, pool));
    }

    private boolean move(Waiter waiter, Predicate<EndpointPool> asked) {
        Predicate<EndpointPool> others = pool -> pool.pending != waiter.owner
                && asked.test(pool)
                && pool.endpoint.host.requests().hasRoom();
        EndpointPool to = take(
                pool -> others.test(pool) && pool.hasFree(waiter.kind),
                pool -> pool.endpoint.host.requests().tryAcquire());
        if (to == null) {
            to = take(
                    pool -> others.test(pool) && !pool.endpoint.host.isUnreached() && pool.opener.mayReserve(),
                    Siblings::reserve);
        }
        if (to != null) {
            to.pending.receive(waiter);
        }
        return to != null;
    }

    @Override
    public boolean moveToUntried(Waiter waiter) {
        Predicate<EndpointPool> untried = pool -> pool.pending != waiter.owner
                && !isTried(waiter.callback, pool)
                && pool.endpoint.host.requests().hasRoom()
                && pool.opener.mayReserve();
        EndpointPool to = take(untried, Siblings::reserve);
        if (to == null && waiter.callback.takesEjected()) {
            to = anySpare(pool -> untried.test(pool) && reserve(pool));
        }
        if (to != null) {
            to.pending.receive(waiter);
        }
        return to != null;
    }

    @Override
    public boolean moveUpgradeToUntried(Waiter waiter) {
        EndpointPool to = take(
                pool -> !pool.owns(waiter)
                        && !isTried(waiter.callback, pool)
                        && pool.endpoint.host.requests().hasRoom(),
                pool -> pool.endpoint.host.requests().tryAcquire());
        if (to != null) {
            to.receiveUpgrade(waiter);
        }
        return to != null;
    }

    /**
     * Returns another endpoint that has room for a tunnel, and that the tunnel has not tried; an ejected one only if the
     * tunnel takes that and no other has room. Null if no endpoint has room.
     */
    @Nullable
    Host untriedWithRoom(Host from, StreamOpener.Callback request) {
        Predicate<EndpointPool> untried = pool -> pool.endpoint.host != from && !isTried(request, pool);
        EndpointPool to = take(pool -> untried.test(pool) && hasRoom(pool.endpoint.host), pool -> true);
        if (to == null && request.takesEjected()) {
            to = anySpare(untried);
        }
        return to == null ? null : to.endpoint.host;
    }

    private @Nullable EndpointPool anySpare(Predicate<EndpointPool> wanted) {
        int start = (int) random.applyAsLong(pools.size());
        for (int i = 0; i < pools.size(); i++) {
            EndpointPool pool = pools.get((start + i) % pools.size());
            if (pool.endpoint.host.isSpare() && !pool.isClosed() && wanted.test(pool)) {
                return pool;
            }
        }
        return null;
    }

    private static boolean reserve(EndpointPool pool) {
        if (!pool.endpoint.host.requests().tryAcquire()) {
            return false;
        }
        boolean reserved = pool.opener.reserve();
        if (!reserved) {
            pool.endpoint.host.requests().release();
        }
        return reserved;
    }

    private static boolean isTried(StreamOpener.Callback request, EndpointPool pool) {
        return request.isTried(pool.endpoint.host.endpoint());
    }

    /** Like {@link #take}, but takes an endpoint that the request has tried only if there is no other. */
    private @Nullable EndpointPool untriedFirst(
            StreamOpener.Callback request, Predicate<EndpointPool> hasRoom, Predicate<EndpointPool> tryTake) {
        EndpointPool untried = take(pool -> !isTried(request, pool) && hasRoom.test(pool), tryTake);
        return untried == null ? take(pool -> isTried(request, pool) && hasRoom.test(pool), tryTake) : untried;
    }

    /**
     * Takes the room that the least loaded pool has for a request.
     *
     * @param hasRoom whether a pool has room
     * @param tryTake takes it, and returns whether it was still there: another event loop may have been faster
     * @return null if no pool has room
     */
    private @Nullable EndpointPool take(Predicate<EndpointPool> hasRoom, Predicate<EndpointPool> tryTake) {
        for (int tries = 0; tries < MOST_COMPARED; tries++) {
            EndpointPool pool = leastLoaded(hasRoom);
            if (pool == null || tryTake.test(pool)) {
                return pool;
            }
        }
        return null;
    }

    /**
     * Returns the least loaded of some pools that have room, null if none has; one that cannot be reached only if it is the
     * last one. Zones do not count for what waits.
     */
    private @Nullable EndpointPool leastLoaded(Predicate<EndpointPool> hasRoom) {
        int start = pools.isEmpty() ? 0 : (int) random.applyAsLong(pools.size());
        EndpointPool best = null;
        EndpointPool unreached = null;
        double least = 0;
        int compared = 0;
        for (int i = 0; i < pools.size() && compared < MOST_COMPARED; i++) {
            EndpointPool pool = pools.get((start + i) % pools.size());
            if (!pool.takesFromOthers() || !hasRoom.test(pool)) {
                continue;
            }
            if (pool.endpoint.host.isUnreached()) { // it has few requests because they fail
                unreached = pool;
            } else {
                compared++;
                double load = load(pool.endpoint.host);
                if (best == null || load < least) {
                    best = pool;
                    least = load;
                }
            }
        }
        return best == null ? unreached : best;
    }

    /**
     * Returns the requests in flight of an endpoint for its weight. An exponentially distributed random number is added to
     * them: so equally loaded endpoints are drawn by their weights.
     */
    private double load(Host host) {
        double uniform = (random.applyAsLong(RANDOM_STEPS) + 1.0) / RANDOM_STEPS;
        return (host.requests().taken() - Math.log(uniform)) / host.weight();
    }

    @Override
    public void serveFrom(EndpointPool free) {
        while (pending > 0 && free.takesFromOthers()) {
            PooledConnection connection = free.free();
            Waiter waiter = connection == null ? null : mostDue(connection);
            if (waiter == null || !free.endpoint.host.requests().tryAcquire()) {
                return;
            }
            free.pending.receive(waiter);
        }
    }

    private @Nullable Waiter mostDue(PooledConnection connection) {
        Waiter most = null;
        for (EndpointPool pool : pools) {
            Waiter first = pool.pending.firstWithoutDial(connection);
            if (first != null && (most == null || isDueBefore(first, most))) {
                most = first;
            }
        }
        return most;
    }

    /**
     * Of one client, the request that has waited longer is served first; of several, the one whose client was served earlier,
     * and those of clients with much after all others.
     */
    private static boolean isDueBefore(Waiter one, Waiter other) {
        if (one.comesLast() != other.comesLast()) {
            return other.comesLast();
        }
        long difference = one.client.equals(other.client)
                ? one.connectionWait.sinceNanos - other.connectionWait.sinceNanos
                : one.dueSinceNanos() - other.dueSinceNanos();
        return difference < 0;
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
            } else if (!pool.endpoint.host.takesSessions()) {
                pool.pending.copy().forEach(waiter -> {
                    if (waiter.isQueued() && waiter.owner == pool.pending) {
                        move(waiter);
                    }
                });
            }
        }
    }
}
