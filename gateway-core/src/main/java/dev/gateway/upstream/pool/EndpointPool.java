package dev.gateway.upstream.pool;

import dev.gateway.overload.memory.Account;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The pool of one event loop for one endpoint. It gives requests a kept connection, or a new one as far as the upstream's
 * limit allows; meanwhile they wait, and their clients take turns. Confined to its loop.
 */
final class EndpointPool
        implements PermitWaiter.Applicant,
                ConnectionOpener.Demand,
                PendingConnection.Callback,
                PendingRequests.ConnectionSource,
                KeptConnections.User {
    final EndpointContext endpoint;
    private final SharedUpstream shared;
    private final Host host;
    private final PermitWaiter permit;
    final KeptConnections kept;
    final PendingRequests pending;
    final ConnectionOpener opener;
    private final Others others;
    private final Function<EndpointContext, EndpointPool> http1Pools;
    private final Consumer<EndpointPool> emptied;

    private long dialNanos; // how long the newest connection took, while the pool first offers it
    /** Connections being made, if they are given up when their requests leave unserved; else null. */
    private final @Nullable ArrayDeque<PendingConnection> givable;

    private int opening; // calls of open that have not returned
    private int checking; // connections being made for checks
    private int checkingForOthers; // of these, connections that the pool may keep afterwards
    private boolean closed;
    private boolean removed; // its owner does not know it any more
    private @Nullable EndpointPool http1; // for upgrades that HTTP/2 connections do not allow

    /**
     * The pools for all endpoints of the upstream on this loop. A pool uses them if its requests may go to any endpoint.
     */
    interface Others {
        /** Acquires a request at another endpoint that has room for one; returns its pool, or null if there is none. */
        @Nullable
        EndpointPool acquireRequest(EndpointPool instead, StreamOpener.Callback request);

        /** Whether no pool has a connection that takes requests, and none is being made. */
        boolean haveNoConnection();

        /**
         * Finds room for a waiting request at another endpoint: a free connection, else one that may be made.
         *
         * @return whether there was room; then the request has been answered, or waits there
         */
        boolean move(Waiter waiter);

        /**
         * Finds an endpoint that a waiting request has not tried, even if it could not be reached lately or is ejected.
         *
         * @return whether there was one; then the request has been answered, or waits there
         */
        boolean moveToUntried(Waiter waiter);

        /** Does so for an upgrade that waits for a connection of HTTP/1.1 beside those of HTTP/2. */
        boolean moveUpgradeToUntried(Waiter waiter);

        /** The number of waiting requests for which no connection is being made changes by this. */
        void onWithoutDial(int change);

        /** A pool has a free connection and no waiting requests: those of other pools may use it. */
        void serveFrom(EndpointPool free);

        /** A pool that waited for a permit has got one for another endpoint. */
        void onPermit(EndpointPool from, Host granted);
    }

    /**
     * Makes one without connections.
     *
     * @param http1Pools makes another pool for the endpoint, which speaks HTTP/1.1 only
     * @param emptied called when the pool has no connections and no requests any more
     */
    EndpointPool(
            EndpointContext endpoint,
            Others others,
            Function<EndpointContext, EndpointPool> http1Pools,
            Consumer<EndpointPool> emptied) {
        this.others = others;
        this.http1Pools = http1Pools;
        this.emptied = emptied;
        this.endpoint = endpoint;
        this.shared = endpoint.shared;
        this.host = endpoint.host;
        this.permit = new PermitWaiter(endpoint.resources, host, endpoint.flexible, this);
        this.kept = new KeptConnections(endpoint, this);
        this.opener = new ConnectionOpener(endpoint, permit, this);
        this.pending = new PendingRequests(endpoint, opener, this);
        this.givable = endpoint.target.isChosenByClient() ? new ArrayDeque<>() : null;
    }

    StreamOpener.Opening open(StreamKind kind, ResponseEvents events, StreamOpener.Callback callback) {
        if (closed) {
            callback.onOpenFailed(removed());
            return StreamOpener.Opening.DONE;
        }
        if (kind == StreamKind.CHECK) {
            host.requests().acquireBeyond();
        } else if (!host.requests().tryAcquire()) {
            EndpointPool other = endpoint.flexible ? others.acquireRequest(this, callback) : null;
            if (other == null) {
                endpoint.observer.onPendingOverflow();
                callback.onOpenFailed(PendingRequests.noRetry(
                        Cause.PENDING_OVERFLOW, "too many requests in flight to " + shared.upstream));
                return StreamOpener.Opening.DONE;
            }
            callback.onMoved(other.endpoint.target.endpoint());
            return other.openCounted(kind, events, callback);
        }
        return openCounted(kind, events, callback);
    }

    private StreamOpener.Opening openCounted(StreamKind kind, ResponseEvents events, StreamOpener.Callback callback) {
        opening++;
        StreamOpener.Opening answer = StreamOpener.Opening.DONE;
        PooledConnection connection = kept.takeUsable();
        if (connection != null && connection.takes(kind)) {
            openOn(connection, events, callback);
        } else if (kind == StreamKind.CHECK) {
            answer = openForCheck(events, callback);
        } else {
            Waiter waiter = new Waiter(pending, kind, events, callback, endpoint.now());
            answer = connection == null ? pending.enqueue(waiter) : openByHttp1(waiter);
        }
        opening--;
        checkEmpty();
        return answer;
    }

    /** Takes over a waiting upgrade from another endpoint. Requests in flight of this endpoint already include it. */
    void receiveUpgrade(Waiter waiter) {
        waiter.owner.onMoved(waiter);
        endpoint.observer.onPendingEnded(endpoint.now() - waiter.connectionWait.sinceNanos); // a wait here begins again
        waiter.owner = pending;
        waiter.callback.onMoved(endpoint.target.endpoint());
        opening++;
        PooledConnection connection = kept.takeUsable();
        if (connection == null) {
            pending.enqueue(waiter);
        } else if (connection.takes(waiter.kind)) {
            openOn(connection, waiter.events, waiter.callback);
        } else {
            openByHttp1(waiter);
        }
        opening--;
        checkEmpty();
    }

    /** Makes a connection for a check: a check does not wait for one that others use. */
    private StreamOpener.Opening openForCheck(ResponseEvents events, StreamOpener.Callback callback) {
        CheckOpening check = new CheckOpening(endpoint, kept, this, events, callback);
        check.start(opener.nextTurn());
        return check;
    }

    /** Finds an HTTP/1.1 connection for an upgrade that the HTTP/2 connections of this pool do not allow. */
    private StreamOpener.Opening openByHttp1(Waiter waiter) {
        if (endpoint.http1Only || !shared.isNegotiated()) {
            endpoint.releaseRequests(1);
            waiter.callback.onOpenFailed(Failure.of(
                    Cause.UPSTREAM_PROTOCOL_ERROR,
                    endpoint.target
                            + (waiter.kind == StreamKind.SWITCH
                                    ? " speaks HTTP/2 only, which takes no such upgrade"
                                    : " does not take extended CONNECT")));
            return StreamOpener.Opening.DONE;
        }
        EndpointPool other = http1;
        if (other == null || other.removed) {
            other = http1Pools.apply(endpoint);
            http1 = other;
        }
        return other.adopt(waiter);
    }

    private StreamOpener.Opening adopt(Waiter waiter) {
        waiter.owner = pending;
        opening++;
        StreamOpener.Opening begun = StreamOpener.Opening.DONE;
        PooledConnection connection = kept.takeUsable();
        if (connection == null) {
            begun = pending.enqueue(waiter);
        } else {
            openOn(connection, waiter.events, waiter.callback);
        }
        opening--;
        checkEmpty();
        return begun;
    }

    private void openOn(PooledConnection connection, ResponseEvents events, StreamOpener.Callback callback) {
        ClientStream stream = kept.open(connection, events);
        connection.onOpenedFor(callback.logins());
        callback.onOpened(stream, connection.peer);
    }

    /** There may be room for waiting requests, of this pool or of its siblings. */
    @Override
    public void serve() {
        pending.serve();
        if (endpoint.flexible && pending.first() == null) {
            others.serveFrom(this);
        }
    }

    @Override
    public void serve(Waiter waiter, PooledConnection connection) {
        if (dialNanos != 0) {
            waiter.callback.onDialed(dialNanos);
        }
        if (connection.takes(waiter.kind)) {
            openOn(connection, waiter.events, waiter.callback);
        } else {
            openByHttp1(waiter);
        }
    }

    // For siblings

    /** Whether a request waits here, or for a connection of HTTP/1.1 beside those of this pool. */
    boolean owns(Waiter waiter) {
        return waiter.owner == pending || (http1 != null && waiter.owner == http1.pending);
    }

    /** Whether this pool takes requests of siblings. */
    boolean takesFromOthers() {
        return !closed && host.isChosen();
    }

    /** Returns a connection with room for which no request of this pool waits; null if there is none. */
    @Nullable
    PooledConnection free() {
        return pending.first() == null ? kept.takeUsable() : null;
    }

    /** Whether there is such a connection for this kind of stream. */
    boolean hasFree(StreamKind kind) {
        PooledConnection connection = free();
        return connection != null && connection.takes(kind);
    }

    @Override
    public @Nullable PooledConnection takeUsable() {
        return kept.takeUsable();
    }

    @Override
    public boolean move(Waiter waiter) {
        return others.move(waiter);
    }

    @Override
    public boolean moveToUntried(Waiter waiter) {
        return endpoint.flexible ? others.moveToUntried(waiter) : others.moveUpgradeToUntried(waiter);
    }

    @Override
    public void onWithoutDial(int change) {
        others.onWithoutDial(change);
    }

    @Override
    public void onLeft() {
        giveUpDials();
        checkEmpty();
    }

    // Making connections

    @Override
    public int pendingRequests() {
        return pending.size();
    }

    @Override
    public boolean hasServing() {
        return kept.serving() > 0;
    }

    @Override
    public void dial(int turn) {
        Waiter waiter = pending.first();
        Account account = waiter == null ? Account.UNLIMITED : waiter.callback.account();
        PendingConnection made = new PendingConnection(endpoint, kept, account, true, this);
        if (givable != null) {
            givable.add(made);
        }
        made.start(turn);
    }

    /**
     * Clients may choose any number of destinations, and connections to them that nobody waits for any more would be of no
     * client: gives up the last ones. Not for a request that another connection serves: its client has not left.
     */
    private void giveUpDials() {
        while (givable != null && opener.dialing() > pending.size() && !givable.isEmpty()) {
            givable.removeLast().cancel();
            opener.onDialEnded();
            shared.permits.release(host);
        }
    }

    private void onDialEnded(PendingConnection dial) {
        if (givable != null) {
            givable.remove(dial);
        }
    }

    @Override
    public boolean hasNoConnection() {
        return checkingForOthers == 0 && (endpoint.flexible ? others.haveNoConnection() : servesNone());
    }

    /** Whether no connection takes requests, and none is being made for them. */
    boolean servesNone() {
        return opener.servesNone();
    }

    /**
     * A connection is being made for a check.
     *
     * @param permitted whether it is within the limit: then a waiting request gets it afterwards
     */
    void onCheckDialing(boolean permitted) {
        checking++;
        checkingForOthers += permitted ? 1 : 0;
    }

    /** The connection of a check was made, and is kept, or was not. */
    void onCheckDialEnded(boolean permitted) {
        checking--;
        checkingForOthers -= permitted ? 1 : 0;
        checkEmpty();
    }

    @Override
    public void onPermit(Host granted) {
        if (granted == host) {
            opener.onPermit();
        } else {
            others.onPermit(this, granted);
        }
    }

    /** A handshake has shown that the upstream speaks HTTP/2: a pool without connections may now exceed the limit. */
    void onHttp2Known() {
        opener.openNeeded();
    }

    @Override
    public void onConnectFailed(PendingConnection of, Failure failure) {
        onDialEnded(of);
        if (opener.onDialEnded()) {
            endpoint.observer.onConnectFailed(failure.cause());
        } else {
            recordDialFailure(failure);
        }
        if (servesNone()) {
            // No connection works, so all waiting requests fail now and may try elsewhere.
            pending.failAll(failure);
        } else {
            pending.failFirst(failure);
        }
        shared.permits.release(host); // last: else the next attempt would begin for the requests that fail here
        opener.openNeeded();
        pending.onDialEnded();
        checkEmpty();
    }

    /** The connection could not be made. */
    void recordDialFailure(Failure failure) {
        if (DialFailure.isOfEndpoint(failure)) {
            shared.upstream.health().onUnreached(endpoint.target.endpoint(), failure.cause());
        }
        endpoint.observer.onConnectFailed(failure.cause());
    }

    /** A connection has shown which protocol the endpoint speaks. */
    void onKnown(HttpVersion version) {
        opener.onKnown(version);
    }

    @Override
    public void onConnected(PendingConnection of, PooledConnection connection, long nanos) {
        onDialEnded(of);
        onKnown(connection.version());
        opener.onDialEnded();
        kept.admit(connection);
        dialNanos = nanos;
        kept.offer(connection); // serves at least one request before another pool may have its permit
        dialNanos = 0;
        opener.openNeeded();
        pending.onDialEnded();
    }

    @Override
    public boolean yieldsToOthers() {
        Waiter waiter = pending.first();
        if (waiter == null || !shared.permits.isOwedToOthers(permit, waiter.connectionWait.sinceNanos)) {
            return false;
        }
        opener.leaveQueue(); // the permit is for other pools, so this one must join the end of the queue again
        return true;
    }

    @Override
    public void onRoomLost() {
        opener.openNeeded();
    }

    @Override
    public void onClosed() {
        opener.openNeeded();
        checkEmpty();
    }

    @Override
    public boolean multiplexes() {
        return opener.multiplexes();
    }

    // The end

    /** Whether no request has, or waits for, a connection. */
    boolean isUnused() {
        return opening == 0 && checking == 0 && opener.dialing() == 0 && pending.first() == null && kept.areIdle();
    }

    /** Its owner has forgotten it, as it is empty. */
    void onRemoved() {
        removed = true;
    }

    /** Tells the owner if this pool has become empty. */
    void checkEmpty() {
        if (opening == 0 && checking == 0 && kept.isEmpty() && opener.dialing() == 0 && pending.first() == null) {
            emptied.accept(this);
        }
    }

    /** Returns the protocol of the last connection, or the only configured one; null if it is not known yet. */
    @Nullable
    HttpVersion known() {
        return opener.known();
    }

    /** Ends everything at once. */
    void close() {
        closed = true;
        pending.failAll(removed());
        kept.end(removed());
    }

    private Failure removed() {
        return Failure.of(Cause.DRAIN, endpoint.target + " of the upstream " + shared.upstream + " has been removed");
    }

    // The rest

    @Override
    public boolean isClosed() {
        return closed;
    }

    /** Returns how long the endpoint keeps idle connections, null if that is not known. */
    LoopView.@Nullable IdleTimeout idleTimeout() {
        LearnedIdleTimeout.Known known = endpoint.idleTimeout.known();
        if (known == null) {
            return null;
        }
        long ours = endpoint.settings.idleMillis() == 0 ? Long.MAX_VALUE : endpoint.settings.idleMillis();
        return new LoopView.IdleTimeout(
                known.millis(), known.isSaid(), Math.min(ours, LearnedIdleTimeout.within(known.millis())));
    }

    PoolCounts counts() {
        return kept.counts(opener.dialing(), pending.size());
    }
}
