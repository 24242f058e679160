package dev.gateway.pool;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The idle timeout of an endpoint for connections of HTTP/1.1, as learned: what it says by {@code Keep-Alive}, and what it
 * shows by closing them again and again after about the same time. Shared by event loops, safe from any thread.
 */
final class LearnedIdleTimeout {
    private static final long NEVER = Long.MAX_VALUE;

    /** Closed this much before the endpoint would, so that a request does not cross its FIN. */
    private static final long MARGIN_MILLIS = 1_000;

    /** What closes sooner has other reasons. */
    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** So many alike are no coincidence. */
    private static final int ENOUGH = 3;

    /** Then the endpoint may show once more, for it may have changed, and nothing closed too soon would tell. */
    private static final long VALID_NANOS = TimeUnit.MINUTES.toNanos(10);

    /** What is known of how many requests it takes on each of them. */
    final KeepAliveRequests requests = new KeepAliveRequests();

    private volatile long saidMillis = NEVER;
    private volatile long shownMillis = NEVER;
    private volatile long shownAtNanos;
    // Of what it closed lately; guarded by this.
    private int alike;
    private long idleNanos;
    private long closedNanos;

    /**
     * What is known.
     *
     * @param isSaid whether the endpoint says so, or else shows it
     */
    record Known(long millis, boolean isSaid) {}

    /** Returns how long to keep what the endpoint keeps for that long. */
    static long within(long millis) {
        return millis == NEVER ? NEVER : millis - Math.min(MARGIN_MILLIS, millis / 2);
    }

    /** The endpoint has said how long it keeps a connection, by its first response there. */
    void onSaid(long millis) {
        if (saidMillis != millis) {
            saidMillis = millis;
        }
    }

    /** The endpoint has said nothing of that by a connection's first response. */
    void onSaidNothing() {
        onSaid(NEVER);
    }

    /** Returns how long a connection may be kept that has carried no request, by what the endpoint has said on others. */
    long saidMillis() {
        return within(saidMillis);
    }

    /**
     * The endpoint has closed a connection. Many that it closes at once have one reason, such as a restart, and say no
     * more than one: only what became idle after that counts again.
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

    /** Returns how long connections may be kept by what the endpoint has shown. */
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
            return; // another loop was here first, or the endpoint has just shown it again
        }
        shownMillis = NEVER;
        idleNanos = TimeUnit.MILLISECONDS.toNanos(millis); // whatever else has been closed meanwhile
        alike = ENOUGH - 1; // one more like those is enough
    }

    /** Returns the least that is known, null if nothing is. */
    @Nullable
    Known known() {
        long said = saidMillis;
        long shown = shownMillis;
        return said == NEVER && shown == NEVER ? null : new Known(Math.min(said, shown), said <= shown);
    }
}
