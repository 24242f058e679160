package dev.gateway.pool;

import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.StreamKind;
import dev.gateway.upstream.StreamOpener;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one event loop for one endpoint, joined with connections: those there are, else new ones as far as the
 * upstream's limit allows; meanwhile they wait in their order. Confined to its loop.
 */
final class EndpointPool
        implements PermitWaiter.Owner,
                ConnectionOpener.Owner,
                PendingConnection.Callback,
                PendingRequests.Owner,
                KeptConnections.Owner,
                CheckOpening.Owner {
    final EndpointContext endpoint;
    private final SharedUpstream shared;
    private final Host host;
    private final PermitWaiter permit;
    final KeptConnections kept;
    final PendingRequests pending;
    final ConnectionOpener opener;
    private final Others others;
    private final Owner owner;

    private long dialNanos; // of the connection that has just been made, while it is first offered
    private int opening; // calls of open that have not returned
    private int checking; // connections being made for checks
    private int checkingForOthers; // those of them that others get afterwards
    private boolean closed;
    private @Nullable EndpointPool http1; // for what HTTP/2 does not allow

    /** The pools for all endpoints of the upstream on this loop; asked by a pool whose requests may go to any of them. */
    interface Others {
        /** Returns another pool whose endpoint may have one more request, which it has then; null if there is none. */
        @Nullable
        EndpointPool acquireRequest(EndpointPool instead);

        /** Whether none has a connection that takes requests, nor is one being made. */
        boolean haveNoConnection();

        /**
         * Finds room for a waiting request at another endpoint: a connection that is free, else one that may be made.
         *
         * @return whether there was some; the request has been answered then, or waits there
         */
        boolean move(Waiter waiter);

        /** So many more requests wait at a pool that nothing is being made for. */
        void onWithoutDial(int change);

        /** A pool has nobody who waits for what is free there: others may have. */
        void serveFrom(EndpointPool free);

        /** A pool in line for a permit has got one for another endpoint. */
        void onPermit(EndpointPool from, Host granted);
    }

    /** Who has made it. */
    interface Owner {
        /** Returns a further pool for an endpoint, to which only HTTP/1.1 is spoken. */
        EndpointPool addHttp1(EndpointContext endpoint);

        /** A pool has no connection and no request any more. */
        void onEmpty(EndpointPool pool);
    }

    EndpointPool(EndpointContext endpoint, Others others, Owner owner) {
        this.others = others;
        this.owner = owner;
        this.endpoint = endpoint;
        this.shared = endpoint.shared;
        this.host = endpoint.host;
        this.permit = new PermitWaiter(endpoint.resources, host, endpoint.flexible, this);
        this.kept = new KeptConnections(endpoint, this);
        this.opener = new ConnectionOpener(endpoint, permit, this);
        this.pending = new PendingRequests(endpoint, opener, this);
    }

    StreamOpener.Opening open(StreamKind kind, ResponseEvents events, StreamOpener.Callback callback) {
        if (closed) {
            callback.onOpenFailed(removed());
            return StreamOpener.Opening.DONE;
        }
        if (kind == StreamKind.CHECK) {
            host.requests().acquireBeyond();
        } else if (!host.requests().tryAcquire()) {
            EndpointPool other = endpoint.flexible ? others.acquireRequest(this) : null;
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

    /** Makes a connection for a check, which waits for nobody else's. */
    private StreamOpener.Opening openForCheck(ResponseEvents events, StreamOpener.Callback callback) {
        CheckOpening check = new CheckOpening(endpoint, kept, this, events, callback);
        check.start(opener.nextTurn());
        return check;
    }

    /** Finds a connection for a request that those of this pool do not take: an upgrade that HTTP/2 does not allow here. */
    private StreamOpener.Opening openByHttp1(Waiter waiter) {
        if (endpoint.http1Only || !shared.isNegotiated()) {
            endpoint.releaseRequests(1);
            waiter.callback.onOpenFailed(
                    Failure.of(Cause.UPSTREAM_PROTOCOL_ERROR, endpoint.target + " does not take extended CONNECT"));
            return StreamOpener.Opening.DONE;
        }
        if (http1 == null) {
            http1 = owner.addHttp1(endpoint);
        }
        return http1.adopt(waiter);
    }

    private StreamOpener.Opening adopt(Waiter waiter) {
        waiter.owner = pending;
        PooledConnection connection = kept.takeUsable();
        if (connection == null) {
            return pending.enqueue(waiter);
        }
        openOn(connection, waiter.events, waiter.callback);
        return StreamOpener.Opening.DONE;
    }

    private void openOn(PooledConnection connection, ResponseEvents events, StreamOpener.Callback callback) {
        ClientStream stream = kept.open(connection, events);
        callback.onOpened(stream, connection.peer);
    }

    /** There may be room for those who wait, here or for this endpoint's siblings. */
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

    // What siblings ask

    /** Whether requests of siblings may come here. */
    boolean takesFromOthers() {
        return !closed && host.isChosen();
    }

    /** Returns a connection with room for which nobody waits here, null if there is none. */
    @Nullable
    PooledConnection free() {
        return pending.first() == null ? kept.takeUsable() : null;
    }

    /** Whether there is such a connection for that kind of stream. */
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
    public void onWithoutDial(int change) {
        others.onWithoutDial(change);
    }

    @Override
    public void onLeft() {
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
        new PendingConnection(endpoint, kept, true, this).start(turn);
    }

    @Override
    public boolean hasNoConnection() {
        return checkingForOthers == 0 && (endpoint.flexible ? others.haveNoConnection() : servesNone());
    }

    /** Whether no connection takes requests, nor is one being made for them. */
    boolean servesNone() {
        return opener.servesNone();
    }

    @Override
    public void onCheckDialing(boolean permitted) {
        checking++;
        checkingForOthers += permitted ? 1 : 0;
    }

    @Override
    public void onCheckDialEnded(boolean permitted) {
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

    /** HTTP/2 was spoken where only a handshake could tell: who has no connection may be able to do without a permit. */
    void onHttp2Known() {
        opener.openNeeded();
    }

    @Override
    public void onConnectFailed(Failure failure) {
        if (opener.onDialEnded()) {
            endpoint.observer.onConnectFailed(failure.cause());
        } else {
            recordDialFailure(failure);
        }
        if (servesNone()) {
            // Nothing works here: waiting requests had better try elsewhere now than one timeout after the other.
            pending.failAll(failure);
        } else {
            pending.failFirst(failure);
        }
        shared.permits.release(host); // not before, or the next attempt would begin for those who are told here
        opener.openNeeded();
        pending.onDialEnded();
        checkEmpty();
    }

    @Override
    public void recordDialFailure(Failure failure) {
        if (failure.cause() != Cause.OVERLOAD) { // that is ours, not the endpoint's
            shared.upstream.health().onTried(endpoint.target.endpoint(), false);
        }
        endpoint.observer.onConnectFailed(failure.cause());
    }

    @Override
    public void onKnown(HttpVersion version) {
        opener.onKnown(version);
    }

    @Override
    public void onConnected(PooledConnection connection, long nanos) {
        onKnown(connection.version());
        opener.onDialEnded();
        kept.admit(connection);
        dialNanos = nanos;
        kept.offer(connection); // it serves at least once before it is given up for others
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
        opener.leaveQueue(); // what is given up here is for others, so get in line again
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

    /** Tells the owner if nothing is left here. */
    void checkEmpty() {
        if (opening == 0 && checking == 0 && kept.isEmpty() && opener.dialing() == 0 && pending.first() == null) {
            owner.onEmpty(this);
        }
    }

    /** Returns what was spoken to the endpoint last, or is all that is to be; null if that is not known yet. */
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

    /** Returns how long the endpoint keeps what is idle, null if that is not known. */
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
