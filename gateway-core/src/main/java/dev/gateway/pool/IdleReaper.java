package dev.gateway.pool;

import dev.gateway.stream.HttpVersion;
import dev.gateway.time.Timer;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Closes idle connections of a pool, and those that have lived for long enough: as the settings and the peer say, by one
 * timer. Confined to the pool's event loop.
 */
final class IdleReaper extends Timer {
    private static final long NEVER = Long.MAX_VALUE / 2; // from now, so that it can be added to a clock

    private final EndpointPool pool;
    private final KeptConnections kept;
    private final PooledConnections connections;
    private long armedFor;

    IdleReaper(EndpointPool pool, KeptConnections kept, PooledConnections connections) {
        this.pool = pool;
        this.kept = kept;
        this.connections = connections;
    }

    /** A connection's life begins. */
    void begin(PooledConnection connection) {
        long nanos = pool.endpoint.settings.maxLifetimeMillis() * 1_000_000;
        // Up to a tenth earlier, so that connections made together do not end together.
        connection.expiresAtNanos = pool.endpoint.now()
                + (nanos == 0 ? NEVER : nanos - ThreadLocalRandom.current().nextLong(nanos / 10 + 1));
    }

    /** A connection is idle from now on. */
    void onIdle(PooledConnection connection) {
        connection.idleSinceNanos = pool.endpoint.now();
        connection.idleUntilNanos = connection.idleSinceNanos + idleNanos(connection);
    }

    private long idleNanos(PooledConnection connection) {
        long millis = pool.endpoint.settings.idleMillis() == 0 ? Long.MAX_VALUE : pool.endpoint.settings.idleMillis();
        millis = Math.min(millis, connection.keepAliveMillis());
        if (connection.version() == HttpVersion.HTTP_1_1) {
            millis = Math.min(millis, pool.endpoint.idleTimeout.shownMillis(connection.idleSinceNanos));
        }
        return millis >= NEVER / 1_000_000 ? NEVER : millis * 1_000_000;
    }

    /** Sees to it that an idle connection is closed in time. */
    void watch(PooledConnection connection, long now) {
        long deadline = connection.expiresAtNanos - connection.idleUntilNanos < 0
                ? connection.expiresAtNanos
                : connection.idleUntilNanos;
        if (!isArmed() || deadline - armedFor < 0) {
            armedFor = deadline;
            pool.endpoint.resources.wheel.arm(this, Math.max(0, deadline - now) / 1_000_000);
        }
    }

    @Override
    protected void onExpired() {
        long now = pool.endpoint.now();
        connections.forEachAvailable(connection -> check(connection, now));
    }

    private void check(PooledConnection connection, long now) {
        if (!connection.isIdle()) {
            return;
        }
        if (connection.isUsable(now)) {
            watch(connection, now);
            return;
        }
        kept.retire(connection, connection.whyUnusable(now));
    }
}
