package dev.gateway.protocol.http1;

import dev.gateway.stream.ServerStream.Pause;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import org.jspecify.annotations.Nullable;

/**
 * Delays what follows a refusal, so that a client does not come back at once. On a connection that stays open the refusal is
 * sent at once, and what the client sends next waits unread. On one that ends, the refusal waits, as the client would come
 * back on a new one. Of one downstream connection, confined to its event loop.
 */
final class RefusalDelay extends Timer {
    private final Runnable onOver;
    private final TimerWheel timers;
    private @Nullable Pause requested; // after the response that is about to end
    private boolean refused; // the last response was a refusal

    RefusalDelay(Runnable onOver, TimerWheel timers) {
        this.onOver = onOver;
        this.timers = timers;
    }

    /** The next response is a refusal, after which the client is to be left alone. */
    void request(Pause pause) {
        requested = pause;
    }

    /**
     * A response has ended.
     *
     * @param closing whether the connection is to end with it
     * @return whether the client is left alone now
     */
    boolean begin(boolean closing) {
        Pause pause = requested;
        requested = null;
        refused = pause != null;
        long millis = pause == null ? 0 : pause.millis(closing);
        if (millis > 0) {
            timers.arm(this, millis);
        }
        return millis > 0;
    }

    /** Whether the last response was a refusal, after which there may have been no need to leave the client alone. */
    boolean followsRefusal() {
        return refused;
    }

    @Override
    protected void onExpired() {
        onOver.run();
    }
}
