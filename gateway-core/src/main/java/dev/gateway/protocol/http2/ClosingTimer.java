package dev.gateway.protocol.http2;

import dev.gateway.net.PendingWrites;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import io.netty.channel.Channel;

/** Closes a connection although not all that was written has left, once its peer takes nothing of it any more. */
final class ClosingTimer extends Timer {
    private static final long LINGER_MILLIS = 250; // for a GOAWAY to be read before the socket resets

    private final Channel channel;
    private final TimerWheel timers;
    private final long idleMillis;
    private long unsent;

    /**
     * Makes the timer of a connection that begins to close.
     *
     * @param idleMillis how long the peer may take nothing, 0 for no limit
     */
    ClosingTimer(Channel channel, TimerWheel timers, long idleMillis) {
        this.channel = channel;
        this.timers = timers;
        this.idleMillis = idleMillis;
    }

    /** Closes soon: all that is left to be read is why. */
    void linger() {
        timers.arm(this, LINGER_MILLIS);
    }

    /** Closes when the peer has taken nothing for as long as it may. */
    void watch() {
        unsent = PendingWrites.bytes(channel);
        if (idleMillis > 0) {
            timers.arm(this, idleMillis);
        }
    }

    @Override
    protected void onExpired() {
        if (PendingWrites.bytes(channel) < unsent) {
            watch();
        } else {
            channel.close();
        }
    }
}
