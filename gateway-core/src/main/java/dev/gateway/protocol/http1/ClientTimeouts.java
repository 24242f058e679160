package dev.gateway.protocol.http1;

import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.net.Drainable;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;

/**
 * Timeouts of a client: how long a downstream connection waits for what it sends next. One timer, as it owes one thing at a
 * time.
 */
final class ClientTimeouts extends Timer {
    /** How long a connection that has become old is kept while idle. */
    private static final long LAST_REQUEST_MILLIS = 5_000;

    private final Runnable onSilent;
    private final TimerWheel timers;
    private final ConnectionTimeouts limits;

    /**
     * Makes them.
     *
     * @param onSilent the client has not sent in time what it was waited for
     */
    ClientTimeouts(Runnable onSilent, TimerWheel timers, ConnectionTimeouts limits) {
        this.onSilent = onSilent;
        this.timers = timers;
        this.limits = limits;
    }

    void waitForRequest() {
        arm(limits.idleMillis());
    }

    /** The connection is to end, but the client may be about to ask. */
    void waitForLastRequest() {
        arm(limits.idleMillis() == 0 ? LAST_REQUEST_MILLIS : Math.min(limits.idleMillis(), LAST_REQUEST_MILLIS));
    }

    /** It may be on its way while the connection drains. */
    void waitForFirstRequest() {
        arm(Drainable.FIRST_REQUEST_MILLIS);
    }

    void waitForHead() {
        arm(limits.requestHeadersMillis());
    }

    void waitForBody() {
        arm(limits.requestBodyIdleMillis());
    }

    private void arm(long millis) {
        if (millis > 0) {
            timers.arm(this, millis);
        }
    }

    @Override
    protected void onExpired() {
        onSilent.run();
    }
}
