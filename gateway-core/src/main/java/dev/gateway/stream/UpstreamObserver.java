package dev.gateway.stream;

/**
 * Upstream observer: counts what happens on the connections to one upstream from one event loop, and to requests that wait
 * for one. Called on that loop. Every method does nothing by default.
 */
public interface UpstreamObserver extends ConnectionObserver {
    /** Counts nothing. */
    UpstreamObserver NONE = new UpstreamObserver() {};

    /**
     * A connection is established.
     *
     * @param connectNanos from the first attempt, name resolution not included
     * @param tlsNanos of the TLS handshake, 0 without TLS
     */
    default void onConnected(long connectNanos, long tlsNanos) {}

    /** A connection counted by {@link #onOpened} has closed, and why. */
    default void onClosed(HttpVersion version, boolean tls, CloseCause cause) {
        onClosed(version, tls);
    }

    /** A connection could not be established. */
    default void onConnectFailed(Cause cause) {}

    /** A pooled connection counted by {@link #onOpened} has no stream, and is kept for the next. */
    default void onIdle(HttpVersion version) {}

    /** A connection counted by {@link #onIdle} has a stream again, or is kept no longer. */
    default void onIdleEnded(HttpVersion version) {}

    /** A request begins to wait for a connection. */
    default void onPending() {}

    /** A request no longer waits, because it has a connection, has failed or was given up. */
    default void onPendingEnded(long nanos) {}

    /** A request was refused because the pending queue was full. */
    default void onPendingOverflow() {}

    /** A request has waited for as long as it may. */
    default void onPendingTimeout() {}

    /** An endpoint was asked whether it is well, and answered that it is; or it did not. */
    default void onChecked(boolean well) {}
}
