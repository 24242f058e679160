package dev.gateway.net;

import io.netty.channel.Channel;

/**
 * Backpressure towards the peer of a byte-stream connection: counts bytes received and not yet consumed, and reads on
 * only while they are few. The only class that touches {@code autoRead}. Confined to the channel's event loop.
 *
 * <p>A connection that carries one stream after another calls {@link #reset} between them, so that bytes the last one
 * never consumed do not starve the next.
 */
public final class ReadCredit {
    /** Bytes received and not consumed at which reading stops. */
    public static final int HIGH = 256 * 1024;

    private static final int LOW = HIGH / 2;

    private final Channel channel;
    private long owed;
    private boolean exhausted;
    private boolean held;

    /** Makes the credit of a channel that reads by itself. */
    public ReadCredit(Channel channel) {
        this.channel = channel;
    }

    /** Bytes were handed on; whoever has them answers by {@link #consumed}. */
    public void received(int bytes) {
        owed += bytes;
        if (!exhausted && owed >= HIGH) {
            exhausted = true;
            update();
        }
    }

    /** Bytes received have been passed on. */
    public void consumed(int bytes) {
        owed = Math.max(0, owed - bytes);
        if (exhausted && owed <= LOW) {
            exhausted = false;
            update();
        }
    }

    /** Forgets what is owed: its stream has ended. */
    public void reset() {
        owed = 0;
        if (exhausted) {
            exhausted = false;
            update();
        }
    }

    /** Stops reading whatever the credit, until {@link #release}. Calling it again does nothing. */
    public void hold() {
        if (!held) {
            held = true;
            update();
        }
    }

    /** Undoes {@link #hold}. */
    public void release() {
        if (held) {
            held = false;
            update();
        }
    }

    /** Whether the channel does not read now, so that silence is not the peer's. */
    public boolean isPaused() {
        return exhausted || held;
    }

    private void update() {
        channel.config().setAutoRead(!exhausted && !held);
    }
}
