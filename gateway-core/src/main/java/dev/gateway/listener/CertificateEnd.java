package dev.gateway.listener;

import dev.gateway.net.Drainable;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import java.util.concurrent.TimeUnit;

/**
 * Ends a connection when the client's certificate expires: it takes no new requests from then on, and later ends the
 * exchanges in progress, such as tunnels. One for each connection, confined to its event loop.
 */
final class CertificateEnd extends Timer {
    private static final long GRACE_MILLIS = TimeUnit.SECONDS.toMillis(30);

    /** Maximum time of one timer, since the time of day may be set meanwhile. */
    private static final long LOOK_MILLIS = TimeUnit.HOURS.toMillis(1);

    private static final Failure EXPIRED = Failure.of(Cause.AUTHZ_DENIED, "the client's certificate has expired");

    private final Drainable connection;
    private final TimerWheel timers;
    private final long untilMillis;
    private boolean expired;

    /**
     * Makes it.
     *
     * @param untilMillis when the certificate expires, in milliseconds since 1970
     */
    CertificateEnd(Drainable connection, TimerWheel timers, long untilMillis) {
        this.connection = connection;
        this.timers = timers;
        this.untilMillis = untilMillis;
    }

    /** Begins to wait. */
    void begin() {
        long left = untilMillis - timers.wallMillis();
        timers.arm(this, Math.min(Math.max(left + 1, 0), LOOK_MILLIS));
    }

    @Override
    protected void onExpired() {
        if (expired) {
            connection.end(EXPIRED);
        } else if (timers.wallMillis() <= untilMillis) {
            begin();
        } else {
            expired = true;
            timers.arm(this, GRACE_MILLIS);
            connection.drain();
        }
    }
}
