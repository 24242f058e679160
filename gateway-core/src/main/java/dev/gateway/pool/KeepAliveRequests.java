package dev.gateway.pool;

import java.util.concurrent.TimeUnit;

/**
 * After how many requests an endpoint closes a connection of HTTP/1.1 without announcing it, as it shows by doing it again and
 * again right after a response. A request that is sent meanwhile is lost, so such a connection is closed here before; and
 * as long as one close may have been chance, a connection of that age is used again only after a moment. Shared by event
 * loops, safe from any thread.
 */
final class KeepAliveRequests {
    private static final int UNLIMITED = Integer.MAX_VALUE;

    /** What is closed later may have been idle for too long. */
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** So many alike are no coincidence. */
    private static final int ENOUGH = 3;

    /** Then the endpoint may show once more, for it may have changed. */
    private static final long VALID_NANOS = TimeUnit.MINUTES.toNanos(10);

    private volatile int most = UNLIMITED;
    private volatile int suspected = UNLIMITED;
    private volatile long shownAtNanos;
    // Of what it closed lately; guarded by this.
    private int alike;
    private long closedNanos;

    /** Whether a connection that is closed so long after its last response may be closed for the number of its requests. */
    static boolean isSoon(long idleNanos) {
        return idleNanos < SOON_NANOS;
    }

    /** Returns how many requests a connection had better carry at most. */
    int most(long now) {
        if (most == UNLIMITED || now - shownAtNanos <= VALID_NANOS) {
            return most;
        }
        forget(now);
        return UNLIMITED;
    }

    /** Whether the endpoint may close a connection that has carried so many, as it has done lately. */
    boolean isDoubtful(int requests) {
        return requests == suspected;
    }

    private synchronized void forget(long now) {
        if (most != UNLIMITED && now - shownAtNanos > VALID_NANOS) { // or another loop was here first
            most = UNLIMITED;
            alike = ENOUGH - 1; // one more like those is enough
        }
    }

    /** A connection has carried so many requests, and is still open. */
    void onServed(int requests) {
        if (requests > suspected || requests > most) {
            acquit(requests);
        }
    }

    private synchronized void acquit(int requests) {
        if (requests > suspected) {
            suspected = UNLIMITED;
            alike = 0;
        }
        if (requests > most) {
            most = UNLIMITED;
        }
    }

    /**
     * The endpoint has closed a connection right after a response. Many that it closes at once have one reason, such as a
     * restart, and count once: only what was opened after that counts again.
     *
     * @return whether that was enough to show how many requests it takes
     */
    synchronized boolean onClosed(int requests, long openedNanos, long now) {
        if (alike > 0 && openedNanos - closedNanos <= 0) {
            return false;
        }
        closedNanos = now;
        alike = suspected == requests ? Math.min(alike + 1, ENOUGH) : 1;
        suspected = requests;
        if (alike < ENOUGH || most == requests) {
            return false;
        }
        shownAtNanos = now;
        most = requests;
        return true;
    }
}
