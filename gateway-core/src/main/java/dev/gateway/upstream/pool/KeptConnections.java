package dev.gateway.upstream.pool;

import dev.gateway.stream.ClientStream;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.pool.PooledConnection.State;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The established connections of a pool, until they are closed. It offers them to requests, keeps idle ones, and closes
 * them when they are too old or when others need their permits. Part of the pool, confined to its event loop.
 */
final class KeptConnections {
    /** After this idle time, the pool checks for a FIN before it uses a connection. Rare under load, and long for a FIN. */
    private static final long LOOK_AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final EndpointContext endpoint;
    private final User user;
    private final SharedUpstream shared;
    private final PooledConnections connections = new PooledConnections();
    private final Set<PooledConnection> pinned = new LinkedHashSet<>(); // to clients that log in on them
    private final IdleReaper reaper;
    private final AddressWatch addresses;
    private @Nullable CloseCause retired; // why idle connections are not kept; null if they are

    /** The pool, whose requests use them. */
    interface User {
        /** There may be room for waiting requests. */
        void serve();

        /**
         * Whether the permit of an idle connection must go to another pool although requests wait here. If so, this pool
         * leaves the queue for permits.
         */
        boolean yieldsToOthers();

        /** A connection takes no new streams: requests that waited for room on it need another one. */
        void onRoomLost();

        void onClosed();

        /** Whether the first connection of this loop will serve all its requests. */
        boolean multiplexes();

        /** Whether the pool is closed. */
        boolean isClosed();
    }

    KeptConnections(EndpointContext endpoint, User user) {
        this.endpoint = endpoint;
        this.user = user;
        this.shared = endpoint.shared;
        this.reaper = new IdleReaper(endpoint, this, connections);
        this.addresses = new AddressWatch(endpoint.resources, endpoint.target, this);
    }

    boolean isEmpty() {
        return connections.isEmpty();
    }

    /** Whether no connection has a stream. */
    boolean areIdle() {
        return connections.areIdle();
    }

    /** Counts connections that take requests, now or as soon as they are free. */
    int serving() {
        return connections.serving();
    }

    PoolCounts counts(int dialing, int waiting) {
        return connections.counts(dialing, waiting);
    }

    /** Returns the best connection for a request, null if none has room. */
    @Nullable
    PooledConnection takeUsable() {
        long now = endpoint.now();
        PooledConnection connection;
        while ((connection = connections.top()) != null) {
            if (connection.room() <= 0) {
                connections.withdraw(connection); // the peer allows fewer streams than before
                continue;
            }
            boolean idle = connection.isIdle();
            if (!connection.isUsable(idle, now)) {
                retire(connection, connection.whyUnusable(now));
            } else if (idle && isClosedByPeer(connection, now)) {
                connections.withdraw(connection); // the event loop is about to read the FIN, and closes it then
            } else {
                return connection;
            }
        }
        return null;
    }

    private boolean isClosedByPeer(PooledConnection idle, long now) {
        return now - idle.idleSinceNanos >= LOOK_AFTER_NANOS && endpoint.resources.peerClose.hasCome(idle.channel);
    }

    /** Opens a stream on a connection that has room. */
    ClientStream open(PooledConnection connection, ResponseEvents events) {
        if (connection.state() == State.KEPT_IDLE) {
            move(connection, State.ACTIVE);
        }
        ClientStream stream = connection.open(events);
        if (connection.room() <= 0) {
            connections.withdraw(connection);
        }
        return stream;
    }

    /** Adds a new connection. */
    void admit(PooledConnection connection) {
        shared.upstream.health().onReached(endpoint.target.endpoint());
        reaper.begin(connection);
        connections.add(connection);
        addresses.begin();
        endpoint.observer.onOpened(connection.version(), endpoint.isSecured());
        connection.channel.closeFuture().addListener(closed -> onClosed(connection));
    }

    /** The connection has room for a stream, maybe because one ended. */
    void onRoom(PooledConnection connection) {
        boolean idle = connection.isIdle();
        if (idle && connection.isPermitted() && user.yieldsToOthers()) {
            retire(connection, CloseCause.LIMIT);
        } else {
            offer(connection, idle);
        }
    }

    void offer(PooledConnection connection) {
        offer(connection, connection.isIdle());
    }

    private void offer(PooledConnection connection, boolean idle) {
        if (idle) {
            reaper.onIdle(connection); // first: a request may take it at once
        }
        if (connection.isServing() && connection.room() > 0) {
            if (!connection.isAvailable()) {
                connections.push(connection);
            }
            user.serve(); // a connection that had room before may lie at an endpoint that took no more requests
        }
        if (connection.isIdle()) {
            if (!idle) {
                reaper.onIdle(connection);
            }
            onIdle(connection);
        }
    }

    private void onIdle(PooledConnection connection) {
        long now = connection.idleSinceNanos;
        if (retired != null) {
            retire(connection, retired);
        } else if (mustGiveUp()) {
            retire(connection, CloseCause.LIMIT);
        } else if (!connection.isUsable(true, now)) {
            retire(connection, connection.whyUnusable(now));
        } else {
            connection.onKept();
            move(connection, State.KEPT_IDLE);
            reaper.watch(connection, now);
        }
    }

    private void move(PooledConnection connection, State next) {
        State before = connection.moveTo(next);
        if (before != next && next == State.KEPT_IDLE) {
            endpoint.observer.onIdle(connection.version());
        } else if (before != next && before == State.KEPT_IDLE) {
            endpoint.observer.onIdleEnded(connection.version());
        }
    }

    /**
     * Whether another connection may take the place of one that serves well. Each that is left stays until its last stream has
     * ended, and counts beyond the limit. So there is one at a time.
     */
    boolean isReplaceable() {
        return connections.allServe();
    }

    /** The connection takes no new streams, as the peer has said (GOAWAY), or because of its requests. */
    void onGoingAway(PooledConnection connection, CloseCause cause) {
        retire(connection, cause);
        user.onRoomLost();
    }

    /** A client logs in on the connection: from now on, no other client gets a stream on it. It is idle. */
    void onPinned(PooledConnection connection) {
        if (retired != null) {
            retire(connection, retired);
        } else if (mustGiveUp()) {
            retire(connection, CloseCause.LIMIT); // the client has to log in again
        } else if (pinned.add(connection)) {
            connections.withdraw(connection);
            move(connection, State.RETIRING);
            user.onRoomLost();
        }
    }

    /**
     * The endpoint has closed the kept connection just when a request was sent on it. Retires those that have been idle for
     * longer, too: they are probably closed, and would lose the retry again.
     */
    void onStale(PooledConnection lost) {
        retireIdleSince(lost.idleSinceNanos);
    }

    /** Retires connections that have been idle since this time or longer: the endpoint may have lost them. */
    void retireIdleSince(long nanos) {
        connections.forEachAvailable(each -> {
            if (each.isIdle() && each.idleSinceNanos - nanos <= 0) {
                retire(each, CloseCause.ENDPOINT);
            }
        });
    }

    /** Gives the connection no new streams, and closes it now or when its last stream has ended. */
    void retire(PooledConnection connection, CloseCause cause) {
        connection.closesFor(cause);
        boolean wasKept = connection.state() == State.KEPT_IDLE;
        if (connection.isServing()) {
            connections.withdraw(connection);
            move(connection, State.RETIRING);
        }
        connection.finish();
        if (wasKept && cause == CloseCause.ENDPOINT) {
            onKeptEnded(connection);
        }
    }

    /** The endpoint has ended a kept connection. If it was the last one to its address, the host may have moved. */
    private void onKeptEnded(PooledConnection ended) {
        InetAddress address = address(ended);
        if (address != null && !user.isClosed() && !connections.hasServing(each -> address.equals(address(each)))) {
            addresses.onAllClosed(address);
        }
    }

    private static @Nullable InetAddress address(PooledConnection connection) {
        return connection.channel.remoteAddress() instanceof InetSocketAddress peer ? peer.getAddress() : null;
    }

    /** Retires connections to addresses that the host no longer has. */
    void onAddresses(Predicate<InetAddress> former) {
        if (user.isClosed()) {
            return;
        }
        connections.forEach(connection -> {
            InetAddress address = address(connection);
            if (connection.isServing() && address != null && former.test(address)) {
                retire(connection, CloseCause.ADDRESS);
            }
        });
        user.onRoomLost();
    }

    private void onClosed(PooledConnection connection) {
        boolean wasKept = connection.state() == State.KEPT_IDLE;
        move(connection, State.CLOSED);
        connections.remove(connection);
        if (wasKept && connection.closeCause() == CloseCause.ENDPOINT) {
            onKeptEnded(connection);
        }
        pinned.remove(connection);
        if (connection.isPermitted()) {
            shared.permits.release(endpoint.host);
        }
        endpoint.observer.onClosed(connection.version(), endpoint.isSecured(), connection.closeCause());
        user.onClosed();
    }

    /** Closes the connection that has been idle for longest, if others need its permit; returns whether it did. */
    boolean giveUpOne() {
        return mustGiveUp() && giveUpIdle();
    }

    /** Closes the connection that has been idle for longest; returns whether there was one. */
    boolean giveUpIdle() {
        PooledConnection idle = connections.longestIdle();
        if (idle == null) {
            idle = pinned.stream().filter(PooledConnection::isIdle).findFirst().orElse(null);
        }
        if (idle != null) {
            pinned.remove(idle); // it may take a moment to close
            retire(idle, CloseCause.LIMIT);
        }
        return idle != null;
    }

    /** Whether this pool must not keep idle connections, because others need the permits or descriptors. */
    private boolean mustGiveUp() {
        return shared.permits.isWanted(endpoint.host)
                || endpoint.resources.room.isAwaited()
                || (shared.permits.isExceeded(endpoint.host) && !(connections.serving() == 1 && user.multiplexes()));
    }

    /** Closes idle connections, and others as soon as they are idle. */
    void retireAll(CloseCause cause) {
        retired = cause;
        connections.forEachAvailable(connection -> retire(connection, cause));
        List.copyOf(pinned).forEach(connection -> retire(connection, cause));
    }

    /** Keeps connections again, after {@link #retireAll}. */
    void restore() {
        retired = null;
    }

    /** Whether the pool is closed. */
    boolean isClosed() {
        return user.isClosed();
    }

    /** Tells all streams that the endpoint does not answer, and how that was found. */
    void tellUnresponsive(String why) {
        connections.forEach(connection -> connection.tellUnresponsive(why));
    }

    /** Closes all connections at once; their streams fail with this reason. */
    void end(Failure failure) {
        retired = CloseCause.DRAIN;
        connections.forEach(connection -> {
            connection.closesFor(CloseCause.DRAIN);
            connection.end(failure);
        });
        reaper.cancel();
        addresses.end();
    }
}
