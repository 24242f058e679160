package dev.gateway.upstream.pool;

import dev.gateway.stream.HttpVersion;
import dev.gateway.time.Timer;

/**
 * Closes connections of a pool that have been idle for too long or are too old. Settings and the endpoint determine the
 * times; one timer serves all connections. Confined to the pool's event loop.
 */
final class IdleReaper extends Timer {
    private static final long NEVER = Long.MAX_VALUE / 2; // can be added to a clock without overflow

    private final EndpointContext endpoint;
    private final KeptConnections owner;
    private final PooledConnections connections;
    private long armedFor;

    IdleReaper(EndpointContext endpoint, KeptConnections owner, PooledConnections connections) {
        this.endpoint = endpoint;
        this.owner = owner;
        this.connections = connections;
    }

    /** A connection's life begins. */
    void begin(PooledConnection connection) {
        long nanos = endpoint.settings.maxLifetimeMillis() * 1_000_000;
        // Up to a tenth earlier, so that connections made together do not end together.
        connection.expiresAtNanos =
                endpoint.now() + (nanos == 0 ? NEVER : nanos - endpoint.resources.random.applyAsLong(nanos / 10 + 1));
    }

    /** A connection is idle from now on. */
    void onIdle(PooledConnection connection) {
        connection.idleSinceNanos = endpoint.now();
        connection.idleUntilNanos = connection.idleSinceNanos + idleNanos(connection);
    }

    private long idleNanos(PooledConnection connection) {
        long ours = endpoint.settings.idleMillis();
        long millis = Math.min(ours == 0 ? Long.MAX_VALUE : ours, connection.keepAliveMillis());
        if (connection.version() == HttpVersion.HTTP_1_1) {
            millis = Math.min(millis, endpoint.idleTimeout.shownMillis(connection.idleSinceNanos));
        }
        return millis >= NEVER / 1_000_000 ? NEVER : millis * 1_000_000;
    }

    /** Ensures that an idle connection is closed in time. */
    void watch(PooledConnection connection, long now) {
        long deadline = connection.expiresAtNanos - connection.idleUntilNanos < 0
                ? connection.expiresAtNanos
                : connection.idleUntilNanos;
        if (!isArmed() || deadline - armedFor < 0) {
            armedFor = deadline;
            endpoint.resources.wheel.arm(this, Math.max(0, deadline - now) / 1_000_000);
        }
    }

    @Override
    protected void onExpired() {
        long now = endpoint.now();
        connections.forEachAvailable(connection -> check(connection, now));
    }

    private void check(PooledConnection connection, long now) {
        if (!connection.isIdle()) {
            return;
        }
        if (connection.isUsable(true, now)) {
            watch(connection, now);
            return;
        }
        owner.retire(connection, connection.whyUnusable(now));
    }
}
