package dev.gateway.protocol.http1;

import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;

/**
 * Announces that a downstream connection closes: by {@code Connection: close} in its next response, or it takes no further
 * request at all. Part of the connection; the timer is for those that have become old. Confined to its event loop.
 */
final class CloseAnnouncement extends Timer {
    private final Runnable onOld;
    private final TimerWheel timers;
    private State state = State.OPEN;

    /** How near the connection is to its end. It only goes down this list, and may leave some out. */
    private enum State {
        /** Takes one request after the other. */
        OPEN,
        /** The next response says that it is the last. Until its request comes, the connection stays open. */
        CLOSE_AFTER_RESPONSE,
        /** The same, but the connection is old, and waits only a few seconds for that request. */
        OLD,
        /** Takes no further request: something was wrong with the one that has come. */
        LAST_REQUEST,
        /** Takes no further request; running exchanges know it. */
        DRAINING
    }

    /**
     * Makes it.
     *
     * @param onOld the connection has become old. Its next request may be on its way, so it is only closed once it has been
     *     idle
     */
    CloseAnnouncement(Runnable onOld, TimerWheel timers) {
        this.onOld = onOld;
        this.timers = timers;
    }

    /**
     * The connection has begun.
     *
     * @param maxAgeMillis after which it is old, 0 for never
     */
    void begin(long maxAgeMillis) {
        if (maxAgeMillis > 0) {
            timers.arm(this, maxAgeMillis);
        }
    }

    @Override
    protected void onExpired() {
        advance(State.OLD);
        if (isOld()) { // else it ends sooner
            onOld.run();
        }
    }

    private void advance(State next) {
        if (next.compareTo(state) > 0) {
            state = next;
        }
    }

    /** Whether the connection is old and may still take a request, for which it need not wait long. */
    boolean isOld() {
        return state == State.OLD;
    }

    /** Whether no further request is taken. */
    boolean isLastRequest() {
        return state.compareTo(State.LAST_REQUEST) >= 0;
    }

    /** Whether what runs is to know that the connection ends. */
    boolean isDraining() {
        return state == State.DRAINING;
    }

    /** Whether a response that begins now may let the connection persist. */
    boolean mayPersist() {
        return state == State.OPEN;
    }

    /**
     * Closes after the next response; not at once, as a client that was told it may ask again may be about to.
     *
     * @return whether it was to stay open before
     */
    boolean closeAfterResponse() {
        boolean begins = state == State.OPEN;
        advance(State.CLOSE_AFTER_RESPONSE);
        return begins;
    }

    /** Takes no further request; something is wrong with the one that has come. */
    void takeNoMore() {
        advance(State.LAST_REQUEST);
    }

    /** Takes no further request; returns false if it was draining before. */
    boolean drain() {
        boolean begins = state != State.DRAINING;
        advance(State.DRAINING);
        return begins;
    }
}
