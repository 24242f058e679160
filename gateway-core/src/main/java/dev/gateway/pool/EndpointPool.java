package dev.gateway.pool;

import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.RetrySafety;
import dev.gateway.upstream.Demand;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.NamedByRequest;
import dev.gateway.upstream.StreamOpener;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one event loop for one endpoint, joined with connections: those there are, else new ones as far as the
 * upstream's limit allows; meanwhile they wait in their order. Confined to its loop.
 */
final class EndpointPool extends Claimant implements Arrival.Callback {
    /** What part of the time for connecting a request waits at one endpoint while others have room; a lost SYN fits in. */
    private static final int PATIENCE_DIVISOR = 4;

    final Way way;
    final KeepAlive keepAlive;
    private final LoopUpstream owner;
    private final boolean http1Only;
    private final WaitQueue waiters = new WaitQueue();
    private final PooledConnections connections = new PooledConnections();
    private final Sweep sweep = new Sweep(this, connections);
    final Supply supply;

    private long dialNanos; // of the connection that has just been made, while it is first offered
    private int opening; // calls of open that have not returned
    private int checking; // connections being made for checks, and for others afterwards
    private boolean retired;
    private boolean closed;
    private @Nullable EndpointPool http1; // for what HTTP/2 does not allow

    /**
     * Makes an empty pool.
     *
     * @param http1Only whether nothing else is to be spoken where the handshake decides
     */
    EndpointPool(LoopUpstream owner, Way way, boolean http1Only) {
        super(
                owner.loopPools,
                owner.shared,
                owner.observer,
                owner.shared.upstream.host(way.endpoint()),
                !http1Only
                        && way.endpoint().index() != NamedByRequest.INDEX
                        && owner.shared.upstream.hosts().size() > 1);
        this.owner = owner;
        this.way = way;
        this.http1Only = http1Only;
        this.keepAlive = shared.keepAlive(way.endpoint());
        HttpVersion known = shared.isHttp2() ? HttpVersion.HTTP_2 : HttpVersion.HTTP_1_1;
        this.supply = new Supply(this, shared, http1Only || !shared.isNegotiated() ? known : null);
    }

    StreamOpener.Opening open(Demand demand, ResponseEvents events, StreamOpener.Callback callback) {
        if (closed) {
            callback.onOpenFailed(removed());
            return StreamOpener.Opening.DONE;
        }
        if (demand == Demand.CHECK) {
            host.requests().acquireBeyond();
        } else if (!host.requests().tryAcquire()) {
            EndpointPool other = flexible ? owner.siblings.acquireRequest(this) : null;
            if (other == null) {
                observer.onPendingOverflow();
                callback.onOpenFailed(
                        notAgain(Cause.PENDING_OVERFLOW, "too many requests in flight to " + shared.upstream));
                return StreamOpener.Opening.DONE;
            }
            callback.onMoved(other.way.endpoint());
            return other.openCounted(demand, events, callback);
        }
        return openCounted(demand, events, callback);
    }

    private StreamOpener.Opening openCounted(Demand demand, ResponseEvents events, StreamOpener.Callback callback) {
        opening++;
        StreamOpener.Opening answer = StreamOpener.Opening.DONE;
        PooledConnection connection = takeUsable();
        if (connection != null && connection.takes(demand)) {
            openOn(connection, events, callback);
        } else if (demand == Demand.CHECK) {
            answer = openForCheck(events, callback);
        } else {
            Waiter waiter = new Waiter(this, demand, events, callback);
            answer = connection == null ? enqueue(waiter) : openByHttp1(waiter);
        }
        opening--;
        checkEmpty();
        return answer;
    }

    /** Makes a connection for a check, which waits for nobody else's. */
    private StreamOpener.Opening openForCheck(ResponseEvents events, StreamOpener.Callback callback) {
        CheckOpening check = new CheckOpening(this, events, callback);
        check.start(supply.nextTurn());
        return check;
    }

    /** Finds a connection for a request that those of this pool do not take: an upgrade that HTTP/2 does not allow here. */
    private StreamOpener.Opening openByHttp1(Waiter waiter) {
        if (http1Only || !shared.isNegotiated()) {
            onStreamsEnded(1);
            waiter.callback.onOpenFailed(
                    Failure.of(Cause.UPSTREAM_PROTOCOL_ERROR, way + " does not take extended CONNECT"));
            return StreamOpener.Opening.DONE;
        }
        if (http1 == null) {
            http1 = owner.addHttp1(way);
        }
        return http1.adopt(waiter);
    }

    private StreamOpener.Opening adopt(Waiter waiter) {
        waiter.pool = this;
        PooledConnection connection = takeUsable();
        if (connection == null) {
            return enqueue(waiter);
        }
        openOn(connection, waiter.events, waiter.callback);
        return StreamOpener.Opening.DONE;
    }

    void openOn(PooledConnection connection, ResponseEvents events, StreamOpener.Callback callback) {
        countIdle(connection, false);
        ClientStream stream = connection.open(events);
        if (connection.room() <= 0) {
            connections.withdraw(connection);
        }
        callback.onOpened(stream, connection.hop);
    }

    private @Nullable PooledConnection takeUsable() {
        PooledConnection connection;
        while ((connection = connections.top()) != null) {
            if (connection.room() <= 0) {
                connections.withdraw(connection); // the peer allows fewer streams than before
            } else if (connection.isUsable(now())) {
                return connection;
            } else {
                retire(connection);
            }
        }
        return null;
    }

    // Waiting

    private StreamOpener.Opening enqueue(Waiter waiter) {
        waiters.add(waiter);
        observer.onPending();
        if (flexible && isWorseThanOthers() && owner.siblings.move(waiter)) {
            return waiter;
        }
        supply.meetDemand();
        if (waiter.queued) {
            limit(waiter);
        }
        return waiter.queued ? waiter : StreamOpener.Opening.DONE;
    }

    /** Whether whoever waits here had better look for room elsewhere. */
    private boolean isWorseThanOthers() {
        return supply.waitsForPermit() || (host.isUnreached() && supply.dialing() > 0) || !host.isChosen();
    }

    /** Bounds the wait: for a permit by the upstream's limits, for a connection that is being made by its own. */
    private void limit(Waiter waiter) {
        if (waiters.size() <= supply.expected()) {
            if (patienceMillis() > 0) {
                loopPools.wheel.arm(waiter.timer, patienceMillis());
            }
            return;
        }
        if (!shared.upstream.pendingRequests().tryAcquire()) {
            observer.onPendingOverflow();
            fail(waiter, notAgain(Cause.PENDING_OVERFLOW, "too many requests wait for a connection to " + way));
            return;
        }
        waiter.counted = true;
        if (flexible) {
            owner.siblings.onPending(1);
        }
        if (settings.poolAcquireMillis() > 0) {
            loopPools.wheel.arm(waiter.timer, settings.poolAcquireMillis());
        }
    }

    /** How long a request waits for a connection that is being made before it looks for another endpoint. */
    private long patienceMillis() {
        return settings.connectMillis() / PATIENCE_DIVISOR;
    }

    /** Waiting again, at this endpoint or another, would only make it worse. */
    private static Failure notAgain(Cause cause, String detail) {
        return Failure.of(cause, RetrySafety.NEVER, detail);
    }

    void onCancelled(Waiter waiter) {
        leave(waiter);
        onStreamsEnded(1);
    }

    void onExpired(Waiter waiter) {
        onLate();
        onCancelled(waiter);
    }

    /** A connection that is being made takes too long for somebody who waits for it. */
    private void onLate() {
        boolean isOurs =
                loopPools.room.isAwaitedHere(); // for want of a file descriptor, which is not the endpoint's fault
        if (supply.dialing() > 0 && !isOurs && supply.onLate()) {
            shared.upstream.health().onTried(way.endpoint(), false);
        }
    }

    void onWaited(Waiter waiter) {
        if (!waiter.counted && supply.dialing() > 0) {
            onLate();
            if (!(flexible && owner.siblings.move(waiter)) && waiter.queued) {
                loopPools.wheel.arm(waiter.timer, patienceMillis()); // what is being made tells when it fails
            }
        } else if (!waiter.counted) { // what was being made for it has failed
            if (!(flexible && owner.siblings.move(waiter)) && waiter.queued) {
                limit(waiter);
            }
        } else {
            observer.onPendingTimeout();
            fail(waiter, notAgain(Cause.PENDING_TIMEOUT, "no connection to " + way + " became free in time"));
        }
    }

    private void leave(Waiter waiter) {
        observer.onPendingEnded(now() - waiter.sinceNanos);
        letGo(waiter);
    }

    private void letGo(Waiter waiter) {
        waiters.remove(waiter);
        waiter.timer.cancel();
        if (waiter.counted) {
            waiter.counted = false;
            shared.upstream.pendingRequests().release();
            if (flexible) {
                owner.siblings.onPending(-1);
            }
        }
        if (waiters.first() == null) {
            supply.leaveLine(); // or connections would be closed for us that we do not need
        }
        checkEmpty();
    }

    /** Takes a waiting request over from another endpoint's pool; it counts as one in flight here already. */
    void receive(Waiter waiter) {
        EndpointPool from = waiter.pool;
        from.letGo(waiter);
        from.onStreamsEnded(1);
        waiter.pool = this;
        waiters.add(waiter);
        waiter.callback.onMoved(way.endpoint());
        supply.dialReserved();
        if (waiter.queued) {
            serveOwn();
        }
        if (waiter.queued) {
            limit(waiter);
        }
    }

    private void fail(Waiter waiter, Failure failure) {
        leave(waiter);
        onStreamsEnded(1);
        waiter.callback.onOpenFailed(failure);
    }

    /** So many requests that were opened here have ended, or were given up. */
    void onStreamsEnded(int count) {
        for (int i = 0; i < count; i++) {
            host.requests().release();
        }
    }

    private void serve() {
        serveOwn();
        if (flexible && waiters.first() == null) {
            owner.siblings.serveFrom(this);
        }
    }

    private void serveOwn() {
        Waiter waiter;
        PooledConnection connection;
        while ((waiter = waiters.first()) != null && (connection = takeUsable()) != null) {
            leave(waiter);
            if (dialNanos != 0) {
                waiter.callback.onDialed(dialNanos);
            }
            if (connection.takes(waiter.demand)) {
                openOn(connection, waiter.events, waiter.callback);
            } else {
                openByHttp1(waiter);
            }
        }
    }

    // What siblings ask

    /** Whether requests of siblings may come here. */
    boolean takesFromOthers() {
        return !closed && host.isChosen();
    }

    /** Whether there is a connection with room, and nobody waits for it. */
    boolean hasFree(Demand demand) {
        if (waiters.first() != null) {
            return false;
        }
        PooledConnection connection = takeUsable();
        return connection != null && connection.takes(demand);
    }

    @Nullable
    Waiter firstWaiting() {
        return waiters.first();
    }

    /** Returns who has waited for longest if more wait than will be served by connections being made, or null. */
    @Nullable
    Waiter firstPending() {
        return waiters.size() > supply.expected() ? waiters.first() : null;
    }

    List<Waiter> copyOfWaiters() {
        return waiters.copy();
    }

    // Making connections

    /** Returns how many requests wait. */
    int waiting() {
        return waiters.size();
    }

    @Override
    boolean hasNone() {
        return checking == 0 && (flexible ? owner.siblings.haveNone() : servesNone());
    }

    /** Whether no connection takes requests, nor is one being made for them. */
    boolean servesNone() {
        return supply.dialing() == 0 && connections.serving() == 0;
    }

    /** A connection is being made for a check within the limit: whoever waits here gets it afterwards. */
    void onCheckDialing() {
        checking++;
    }

    void onCheckDialEnded() {
        checking--;
    }

    @Override
    void onPermit(Host granted) {
        if (granted == host) {
            supply.onPermit();
        } else {
            owner.siblings.onPermit(this, granted);
        }
    }

    /** HTTP/2 was spoken where only a handshake could tell: who has no connection may be able to do without a permit. */
    void onHttp2Known() {
        supply.meetDemand();
    }

    @Override
    public void onNotArrived(Failure failure) {
        if (supply.onDialEnded()) {
            observer.onConnectFailed(failure.cause());
        } else {
            onDialFailed(failure);
        }
        if (servesNone()) {
            // Nothing works here: whoever waits had better try elsewhere now than one timeout after the other.
            for (Waiter waiter : waiters.copy()) {
                if (waiter.queued) {
                    fail(waiter, failure);
                }
            }
        } else if (waiters.first() != null) {
            fail(waiters.first(), failure);
        }
        shared.permits.release(host); // not before, or the next attempt would begin for those who are told here
        supply.meetDemand();
        checkEmpty();
    }

    /** A connection could not be made, for whomever. */
    void onDialFailed(Failure failure) {
        if (failure.cause() != Cause.OVERLOAD) { // that is ours, not the endpoint's
            shared.upstream.health().onTried(way.endpoint(), false);
        }
        observer.onConnectFailed(failure.cause());
    }

    /** The endpoint has told, by a connection, what it speaks. */
    void onKnown(HttpVersion version) {
        supply.onKnown(version);
    }

    @Override
    public void onArrived(PooledConnection connection, long nanos) {
        supply.onDialEnded();
        admit(connection);
        dialNanos = nanos;
        offer(connection); // it serves at least once before it is given up for others
        dialNanos = 0;
        supply.meetDemand();
    }

    // What becomes of connections

    /** A connection was made, for whomever, and is this pool's from now on. */
    void admit(PooledConnection connection) {
        shared.upstream.health().onTried(way.endpoint(), true);
        sweep.begin(connection);
        connections.add(connection);
        observer.onOpened(connection.version(), isSecured());
        connection.channel.closeFuture().addListener(closed -> onClosed(connection));
    }

    /** The connection has room for a stream, maybe because one ended. */
    void onRoom(PooledConnection connection) {
        Waiter waiter = waiters.first();
        if (waiter != null
                && connection.permitted
                && connection.isIdle()
                && shared.permits.isOwedToOthers(this, waiter.sinceNanos)) {
            supply.leaveLine(); // what is given up here is for others, so get in line again
            retire(connection);
        } else {
            offer(connection);
        }
    }

    void offer(PooledConnection connection) {
        if (!connection.retiring && connection.slot < 0 && connection.room() > 0) {
            connections.push(connection);
            if (connection.isIdle()) {
                sweep.onIdle(connection); // may be leased at once all the same
            }
            serve();
        }
        if (connection.isIdle()) {
            onIdle(connection);
        }
    }

    private void onIdle(PooledConnection connection) {
        long now = now();
        sweep.onIdle(connection);
        if (retired || mustGiveUp() || !connection.isUsable(now)) {
            retire(connection);
        } else {
            connection.onKept();
            countIdle(connection, true);
            sweep.watch(connection, now);
        }
    }

    private void countIdle(PooledConnection connection, boolean idle) {
        if (connection.countedIdle != idle) {
            connection.countedIdle = idle;
            if (idle) {
                observer.onIdle(connection.version());
            } else {
                observer.onIdleEnded(connection.version());
            }
        }
    }

    /** The peer lets the connection take no new stream. */
    void onGoingAway(PooledConnection connection) {
        retire(connection);
        supply.meetDemand(); // who waited for room on it
    }

    /**
     * The endpoint has closed a connection that was kept for it, and a request was lost by that. Those that have been idle for
     * longer are likely to be closed, too: another attempt would only be lost again.
     */
    void onStale(PooledConnection lost) {
        connections.forEachAvailable(each -> {
            if (each.isIdle() && each.idleSinceNanos - lost.idleSinceNanos <= 0) {
                retire(each);
            }
        });
    }

    /** Lets the connection take no new stream, and closes it now or when its last stream has ended. */
    void retire(PooledConnection connection) {
        if (!connection.retiring) {
            connection.retiring = true;
            connections.withdraw(connection);
            countIdle(connection, false);
        }
        connection.finish();
    }

    private void onClosed(PooledConnection connection) {
        connection.retiring = true;
        connections.remove(connection);
        if (connection.permitted) {
            shared.permits.release(host);
        }
        countIdle(connection, false);
        observer.onClosed(connection.version(), isSecured());
        supply.meetDemand();
        checkEmpty();
    }

    private void checkEmpty() {
        if (opening == 0 && connections.isEmpty() && supply.dialing() == 0 && waiters.first() == null) {
            owner.onEmpty(this);
        }
    }

    /** Closes the connection that has been idle for longest, if others need it; returns whether it did. */
    boolean giveUpOne() {
        PooledConnection idle = mustGiveUp() ? connections.longestIdle() : null;
        if (idle != null) {
            retire(idle);
        }
        return idle != null;
    }

    /** Closes the connection that has been idle for longest, for whomever; returns whether there was one. */
    boolean giveUpIdle() {
        PooledConnection idle = connections.longestIdle();
        if (idle != null) {
            retire(idle);
        }
        return idle != null;
    }

    /** Whether an idle connection is more than this pool may keep. */
    private boolean mustGiveUp() {
        return shared.permits.isWanted(host)
                || loopPools.room.isAwaited()
                || (shared.permits.isExceeded(host) && !(connections.serving() == 1 && supply.multiplexes()));
    }

    /** Keeps no connection any longer than it is used. */
    void retire() {
        retired = true;
        connections.forEachAvailable(this::retire);
    }

    /** Keeps connections again, after {@link #retire()}. */
    void restore() {
        retired = false;
    }

    /** Returns what was spoken to the endpoint last, or is all that is to be; null if that is not known yet. */
    @Nullable
    HttpVersion known() {
        return supply.known();
    }

    /** Ends everything at once. */
    void close() {
        retired = true;
        closed = true;
        for (Waiter waiter : waiters.copy()) {
            if (waiter.queued) {
                fail(waiter, removed());
            }
        }
        connections.forEach(connection -> connection.end(removed()));
        sweep.cancel();
    }

    private Failure removed() {
        return Failure.of(Cause.DRAIN, way + " of the upstream " + shared.upstream + " has been removed");
    }

    // The rest

    @Override
    boolean isClosed() {
        return closed;
    }

    private boolean isSecured() {
        return shared.isSecured() || way.isSecured();
    }

    /** Whether nothing else is to be spoken, whatever the endpoint could. */
    boolean speaksHttp1Only() {
        return http1Only;
    }

    /** Returns how long the endpoint keeps what is idle, null if that is not known. */
    LoopView.@Nullable IdleTimeout idleTimeout() {
        KeepAlive.Known known = keepAlive.known();
        if (known == null) {
            return null;
        }
        long ours = settings.idleMillis() == 0 ? Long.MAX_VALUE : settings.idleMillis();
        return new LoopView.IdleTimeout(
                known.millis(), known.isSaid(), Math.min(ours, KeepAlive.within(known.millis())));
    }

    PoolCounts counts() {
        return connections.counts(supply.dialing(), waiters.size());
    }
}
