package dev.gateway.upstream.pool;

import java.util.concurrent.TimeUnit;

/**
 * Learns after how many requests an endpoint closes an HTTP/1.1 connection without announcing it: such an endpoint closes
 * several connections right after that number of responses. A request sent at this moment is lost, so the gateway closes
 * such connections first. As long as a close may have been chance, the gateway waits a moment before it uses a connection
 * with that number of requests again. Event loops share it; safe from any thread.
 */
final class KeepAliveRequests {
    private static final int UNLIMITED = Integer.MAX_VALUE;

    /** A connection that is closed later than this may have been idle for too long. */
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** This number of closes after the same number of requests is no coincidence. */
    private static final int ENOUGH = 3;

    /** How long the knowledge is valid: the endpoint may change. */
    private static final long VALID_NANOS = TimeUnit.MINUTES.toNanos(10);

    private volatile int most = UNLIMITED;
    private volatile int suspected = UNLIMITED;
    private volatile long shownAtNanos;
    // About the last closes; guarded by this.
    private int alike;
    private long closedNanos;

    /** Whether the number of requests may be the reason of a close this long after the last response. */
    static boolean isSoon(long idleNanos) {
        return idleNanos < SOON_NANOS;
    }

    /** Returns how many requests a connection should carry at most. */
    int most(long now) {
        if (most == UNLIMITED || now - shownAtNanos <= VALID_NANOS) {
            return most;
        }
        forget(now);
        return UNLIMITED;
    }

    /** Whether the endpoint may close a connection after this number of requests, as it has done lately. */
    boolean isDoubtful(int requests) {
        return requests == suspected;
    }

    private synchronized void forget(long now) {
        if (most != UNLIMITED && now - shownAtNanos > VALID_NANOS) { // else another loop has forgotten it first
            most = UNLIMITED;
            alike = ENOUGH - 1; // one more such close is enough
        }
    }

    /** A connection has carried this number of requests, and is still open. */
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
     * The endpoint has closed a connection right after a response. If it closes many at once, for one reason such as a
     * restart, they count once: only connections opened after that count again.
     *
     * @return whether the number of requests is now known
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
