package dev.gateway.protocol.http2;

import dev.gateway.net.Drainable;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;

/**
 * Graceful shutdown of a server connection by two GOAWAY frames (RFC 9113, section 6.8). After the first, requests that are
 * on their way are still taken. The second names the last stream, once the client has read the first. Part of the
 * connection; the timer is for clients that do not answer.
 */
final class GoingAway extends Timer {
    private static final long ROUND_MILLIS = 1_000; // for requests under way while the first GOAWAY travels
    private static final int ROUNDS = 5; // of that time, if there are requests to wait for anyway
    static final long PING = 0x6472_6169_6e00_0001L;

    /** What the client was told, or is to be told; it goes down the list only. */
    private enum State {
        OPEN,
        /** The client is told once it has sent its first request. */
        PENDING,
        /** The first GOAWAY was sent. */
        GOING_AWAY,
        /** GOAWAY has named the last stream. */
        LAST_STREAM
    }

    private final Http2ServerConnection connection;
    private final TimerWheel timers;
    private State state = State.OPEN;
    private int rounds;

    GoingAway(Http2ServerConnection connection, TimerWheel timers) {
        this.connection = connection;
        this.timers = timers;
    }

    /** Whether the client was told which of its streams is the last. */
    boolean isLastStreamSaid() {
        return state == State.LAST_STREAM;
    }

    /** Tells a client to take what it asks next elsewhere; one that has asked nothing yet may ask once. */
    void announceClose() {
        tellClose();
    }

    /** Tells a client the same; returns whether it did not know yet. */
    boolean tellClose() {
        if (state != State.OPEN || !connection.isOpen()) {
            return false;
        }
        begin();
        return true;
    }

    /** Takes no new streams, and closes when those it has are done. */
    void retire() {
        if (state.compareTo(State.PENDING) > 0 || isArmed() || !connection.isOpen()) {
            return;
        }
        begin();
        if (state == State.PENDING) { // a client that has read GOAWAY would not even send its first request
            timers.arm(this, Drainable.FIRST_REQUEST_MILLIS);
        }
    }

    private void begin() {
        state = State.PENDING;
        if (connection.lastStream() > 0) {
            say();
        }
    }

    /** A request was taken. */
    void onRequest() {
        if (state == State.PENDING) {
            say();
        }
    }

    private void say() {
        state = State.GOING_AWAY;
        timers.arm(this, ROUND_MILLIS); // first, since flushing may end the connection
        // Requests that are on their way are still taken: the last id is named when the client has read this.
        connection.announce(PING);
    }

    /** The client has read what was sent before the PING. */
    void onPingAck(long data) {
        if (data == PING && state != State.OPEN) {
            sayLastStream();
        }
    }

    /** Takes no stream any more that has not come yet. */
    void sayLastStream() {
        cancel();
        if (state != State.LAST_STREAM && connection.isOpen()) {
            state = State.LAST_STREAM;
            connection.endAfter(connection.lastStream());
        }
    }

    @Override
    protected void onExpired() {
        if (state == State.GOING_AWAY && connection.hasStreams() && ++rounds < ROUNDS) {
            // The client may be far away, and nothing is lost by taking its requests.
            timers.arm(this, ROUND_MILLIS);
        } else {
            sayLastStream();
        }
    }
}
