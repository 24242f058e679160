package dev.gateway.net;

import dev.gateway.stream.Failure;

/**
 * Graceful connection close: a downstream connection that a listener can ask to finish. Called on the connection's event
 * loop.
 */
public interface Drainable {
    /**
     * How long a connection that carries no request yet is kept for its first one, in milliseconds: it may be on its
     * way already, and unlike the user of a kept connection, its client does not expect to find it closed.
     */
    long FIRST_REQUEST_MILLIS = 1_000;

    /**
     * Announces to the client that the connection closes, so that it takes what it asks next elsewhere. Closes nothing that
     * may be about to ask: HTTP/1.1 answers the next request with {@code Connection: close}, HTTP/2 sends GOAWAY in two
     * steps. May come before {@link #drain}.
     */
    default void announceClose() {}

    /**
     * Takes no new work, finishes what runs, then closes: HTTP/1.1 answers with {@code Connection: close}, HTTP/2 sends
     * GOAWAY in two steps (RFC 9113, section 6.8). Calling it again does nothing.
     */
    void drain();

    /** Whether it carries nothing now, and may be closed to make room for another if that has lasted for a while. */
    default boolean isIdle() {
        return false;
    }

    /** Whether a request has come on it. The clients of such connections expect to find them closed at times. */
    default boolean hasServed() {
        return false;
    }

    /**
     * Whether its client was refused for want of room, or has its answer and is still sending, and nothing runs on it. It may
     * then be closed to make room for another, whatever the client has sent since.
     */
    default boolean isRefused() {
        return false;
    }

    /** Ends what runs, which is told why and answered if it still can be, and closes. */
    void end(Failure failure);
}
