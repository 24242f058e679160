package dev.gateway.upstream.pool;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Learns the idle timeout of an endpoint for HTTP/1.1 connections: from its {@code Keep-Alive} header, or from its
 * behavior if it closes several connections after about the same idle time. Event loops share it; safe from any thread.
 */
final class LearnedIdleTimeout {
    private static final long NEVER = Long.MAX_VALUE;

    /** The gateway closes connections this much before the endpoint would, so that no request crosses the FIN. */
    private static final long MARGIN_MILLIS = 1_000;

    /** A connection that the endpoint closes sooner than this was closed for another reason. */
    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** This number of closes after about the same idle time is no coincidence. */
    private static final int ENOUGH = 3;

    /** How long learned behavior is valid. The endpoint may change, and a gateway that closes first would not notice. */
    private static final long VALID_NANOS = TimeUnit.MINUTES.toNanos(10);

    /** How many requests the endpoint takes on each connection, as far as is known. */
    final KeepAliveRequests requests = new KeepAliveRequests();

    private volatile long saidMillis = NEVER;
    private volatile long shownMillis = NEVER;
    private volatile long shownAtNanos;
    // About the last closes; guarded by this.
    private int alike;
    private long idleNanos;
    private long closedNanos;

    /**
     * A known idle timeout.
     *
     * @param isSaid whether it is from a header; else it is learned from behavior
     */
    record Known(long millis, boolean isSaid) {}

    /** Returns how long the gateway keeps a connection that the endpoint keeps for this time. */
    static long within(long millis) {
        return millis == NEVER ? NEVER : millis - Math.min(MARGIN_MILLIS, millis / 2);
    }

    /** The first response on a connection has a header that says how long the endpoint keeps it. */
    void onSaid(long millis) {
        if (saidMillis != millis) {
            saidMillis = millis;
        }
    }

    /** The first response on a connection has no such header. */
    void onSaidNothing() {
        onSaid(NEVER);
    }

    /** Returns how long to keep a connection that has carried no request, from headers on other connections. */
    long saidMillis() {
        return within(saidMillis);
    }

    /**
     * The endpoint has closed a connection. If it closes many at once, for one reason such as a restart, they count once:
     * only connections that became idle after that count again.
     */
    synchronized void onClosed(long idleSinceNanos, long now) {
        long idle = now - idleSinceNanos;
        if (idle < SHORTEST_NANOS || (alike > 0 && idleSinceNanos - closedNanos < 0)) {
            return;
        }
        closedNanos = now;
        if (alike > 0 && Math.abs(idle - idleNanos) <= idleNanos / 10) {
            alike = Math.min(alike + 1, ENOUGH);
            idleNanos = Math.min(idle, idleNanos);
        } else {
            alike = 1;
            idleNanos = idle;
        }
        if (alike == ENOUGH) {
            shownAtNanos = now;
            shownMillis = TimeUnit.NANOSECONDS.toMillis(idleNanos);
        }
    }

    /** Returns how long to keep connections, as learned from the endpoint's behavior. */
    long shownMillis(long now) {
        long millis = shownMillis;
        if (millis == NEVER || now - shownAtNanos <= VALID_NANOS) {
            return within(millis);
        }
        forget(now);
        return NEVER;
    }

    private synchronized void forget(long now) {
        long millis = shownMillis;
        if (millis == NEVER || now - shownAtNanos <= VALID_NANOS) {
            return; // another loop has forgotten it first, or the endpoint has just shown it again
        }
        shownMillis = NEVER;
        idleNanos = TimeUnit.MILLISECONDS.toNanos(millis); // other closes meanwhile may have changed it
        alike = ENOUGH - 1; // one more such close is enough
    }

    /** Returns the shorter of the known timeouts, null if none is known. */
    @Nullable
    Known known() {
        long said = saidMillis;
        long shown = shownMillis;
        return said == NEVER && shown == NEVER ? null : new Known(Math.min(said, shown), said <= shown);
    }
}
