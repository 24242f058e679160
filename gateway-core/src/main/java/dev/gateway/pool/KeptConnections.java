package dev.gateway.pool;

import dev.gateway.stream.ClientStream;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a pool, from their arrival to their end: they are offered to requests, kept while idle, given up for
 * others, retired and closed. Part of the pool, confined to its event loop.
 */
final class KeptConnections {
    /** Who has been idle for so long is looked at before it is used: rare where requests are many, and long for a FIN. */
    private static final long LOOK_AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final EndpointPool pool;
    private final SharedUpstream shared;
    private final PooledConnections connections = new PooledConnections();
    private final IdleReaper sweep;
    private final AddressWatch addresses;
    private @Nullable CloseCause retired; // why nothing is kept

    KeptConnections(EndpointPool pool) {
        this.pool = pool;
        this.shared = pool.endpoint.shared;
        this.sweep = new IdleReaper(pool, this, connections);
        this.addresses = new AddressWatch(pool, this);
    }

    boolean isEmpty() {
        return connections.isEmpty();
    }

    /** Counts connections that take requests, now or when one has ended. */
    int serving() {
        return connections.serving();
    }

    PoolCounts counts(int dialing, int waiting) {
        return connections.counts(dialing, waiting);
    }

    /** Returns the connection that a request had better use, null if none has room. */
    @Nullable
    PooledConnection takeUsable() {
        long now = pool.endpoint.now();
        PooledConnection connection;
        while ((connection = connections.top()) != null) {
            if (connection.room() <= 0) {
                connections.withdraw(connection); // the peer allows fewer streams than before
            } else if (!connection.isUsable(now)) {
                retire(connection, connection.whyUnusable(now));
            } else if (isClosedByPeer(connection, now)) {
                connections.withdraw(connection); // the loop is about to hear of it, and closes it then
            } else {
                return connection;
            }
        }
        return null;
    }

    private boolean isClosedByPeer(PooledConnection connection, long now) {
        return connection.isIdle()
                && now - connection.idleSinceNanos >= LOOK_AFTER_NANOS
                && pool.endpoint.resources.peerClose.hasCome(connection.channel);
    }

    /** Opens a stream on a connection that has room. */
    ClientStream open(PooledConnection connection, ResponseEvents events) {
        countIdle(connection, false);
        ClientStream stream = connection.open(events);
        if (connection.room() <= 0) {
            connections.withdraw(connection);
        }
        return stream;
    }

    /** A connection was made, for whomever, and is one of these from now on. */
    void admit(PooledConnection connection) {
        shared.upstream.health().onTried(pool.endpoint.target.endpoint(), true);
        sweep.begin(connection);
        connections.add(connection);
        addresses.begin();
        pool.endpoint.observer.onOpened(connection.version(), pool.endpoint.isSecured());
        connection.channel.closeFuture().addListener(closed -> onClosed(connection));
    }

    /** The connection has room for a stream, maybe because one ended. */
    void onRoom(PooledConnection connection) {
        Waiter waiter = pool.pending.first();
        if (waiter != null
                && connection.permitted
                && connection.isIdle()
                && shared.permits.isOwedToOthers(pool.permit, waiter.sinceNanos)) {
            pool.supply.leaveLine(); // what is given up here is for others, so get in line again
            retire(connection, CloseCause.LIMIT);
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
            pool.serve();
        }
        if (connection.isIdle()) {
            onIdle(connection);
        }
    }

    private void onIdle(PooledConnection connection) {
        long now = pool.endpoint.now();
        sweep.onIdle(connection);
        if (retired != null) {
            retire(connection, retired);
        } else if (mustGiveUp()) {
            retire(connection, CloseCause.LIMIT);
        } else if (!connection.isUsable(now)) {
            retire(connection, connection.whyUnusable(now));
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
                pool.endpoint.observer.onIdle(connection.version());
            } else {
                pool.endpoint.observer.onIdleEnded(connection.version());
            }
        }
    }

    /** The peer lets the connection take no new stream. */
    void onGoingAway(PooledConnection connection) {
        retire(connection, CloseCause.ENDPOINT);
        pool.supply.meetDemand(); // who waited for room on it
    }

    /**
     * The endpoint has closed a connection that was kept for it, and a request was lost by that. Those that have been idle for
     * longer are likely to be closed, too: another attempt would only be lost again.
     */
    void onStale(PooledConnection lost) {
        connections.forEachAvailable(each -> {
            if (each.isIdle() && each.idleSinceNanos - lost.idleSinceNanos <= 0) {
                retire(each, CloseCause.ENDPOINT);
            }
        });
    }

    /** Lets the connection take no new stream, and closes it now or when its last stream has ended. */
    void retire(PooledConnection connection, CloseCause cause) {
        connection.closesFor(cause);
        if (!connection.retiring) {
            connection.retiring = true;
            connections.withdraw(connection);
            countIdle(connection, false);
        }
        connection.finish();
    }

    /** Lets connections to some addresses take no new stream. */
    void retireTo(Predicate<InetAddress> former) {
        connections.forEach(connection -> {
            if (!connection.retiring
                    && connection.channel.remoteAddress() instanceof InetSocketAddress peer
                    && former.test(peer.getAddress())) {
                retire(connection, CloseCause.ADDRESS);
            }
        });
        pool.supply.meetDemand(); // who waited for room on them
    }

    private void onClosed(PooledConnection connection) {
        connection.retiring = true;
        connections.remove(connection);
        if (connection.permitted) {
            shared.permits.release(pool.endpoint.host);
        }
        countIdle(connection, false);
        pool.endpoint.observer.onClosed(connection.version(), pool.endpoint.isSecured(), connection.closeCause());
        pool.supply.meetDemand();
        pool.checkEmpty();
    }

    /** Closes the connection that has been idle for longest, if others need it; returns whether it did. */
    boolean giveUpOne() {
        return mustGiveUp() && giveUpIdle();
    }

    /** Closes the connection that has been idle for longest, for whomever; returns whether there was one. */
    boolean giveUpIdle() {
        PooledConnection idle = connections.longestIdle();
        if (idle != null) {
            retire(idle, CloseCause.LIMIT);
        }
        return idle != null;
    }

    /** Whether an idle connection is more than this pool may keep. */
    private boolean mustGiveUp() {
        return shared.permits.isWanted(pool.endpoint.host)
                || pool.endpoint.resources.room.isAwaited()
                || (shared.permits.isExceeded(pool.endpoint.host)
                        && !(connections.serving() == 1 && pool.supply.multiplexes()));
    }

    /** Keeps no connection any longer than it is used. */
    void retireAll(CloseCause cause) {
        retired = cause;
        connections.forEachAvailable(connection -> retire(connection, cause));
    }

    /** Keeps connections again, after {@link #retireAll}. */
    void restore() {
        retired = null;
    }

    /** Ends all at once; their streams are told why. */
    void end(Failure failure) {
        retired = CloseCause.DRAIN;
        connections.forEach(connection -> {
            connection.closesFor(CloseCause.DRAIN);
            connection.end(failure);
        });
        sweep.cancel();
        addresses.cancel();
    }
}
