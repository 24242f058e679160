package dev.gateway.http1;

import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;

/**
 * Announces that a downstream connection closes: by {@code Connection: close} in its next response, or it takes no further
 * request at all. Part of the connection; the timer is for those that have become old. Confined to its event loop.
 */
final class CloseAnnouncement extends Timer {
    private final Http1ServerConnection connection;
    private final TimerWheel timers;
    private boolean said; // with the next response, which is the last
    private boolean draining; // takes no further request
    private boolean old;
    private boolean drainTold;

    CloseAnnouncement(Http1ServerConnection connection, TimerWheel timers) {
        this.connection = connection;
        this.timers = timers;
    }

    /**
     * The connection has begun.
     *
     * @param maxAgeMillis after which it takes leave, 0 for never
     */
    void begin(long maxAgeMillis) {
        if (maxAgeMillis > 0) {
            timers.arm(this, maxAgeMillis);
        }
    }

    /** It is old. Its next request may be on its way, so it is only closed once it has been idle for a while. */
    @Override
    protected void onExpired() {
        old = true;
        announceClose();
        if (connection.isIdle()) {
            connection.waitForRequest();
        }
    }

    /** Whether the connection is old, and need not be kept for long. */
    boolean isOld() {
        return old;
    }

    /** Whether no further request is taken. */
    boolean isDraining() {
        return draining;
    }

    /** Whether a response that begins now may let the connection persist. */
    boolean mayPersist() {
        return !said && !draining;
    }

    /** Takes leave with the next response; not at once, as a client that was told it may ask again may be about to. */
    void announceClose() {
        said = true;
    }

    /** Takes no further request; something is wrong with the one that has come. */
    void takeNoMore() {
        draining = true;
    }

    /** Takes no further request, and closes as soon as none runs. */
    void drain() {
        if (!drainTold) {
            drainTold = true;
            draining = true;
            connection.closeIfIdle();
            connection.tellDraining();
        }
    }

    /** A request has come, and has to know if the connection drains. */
    void onRequest() {
        if (drainTold) {
            connection.tellDraining();
        }
    }
}
