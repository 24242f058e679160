package dev.gateway.stream;

/**
 * Connection observer: counts what happens on the connections of one event loop and one side (a listener, or an upstream),
 * whatever the protocol. Called on that loop; an implementation only adds to counters of that loop. Every method does
 * nothing by default.
 */
public interface ConnectionObserver {
    /** Counts nothing. */
    ConnectionObserver NONE = new ConnectionObserver() {};

    /** A connection is established and its protocol known; one that is upgraded later stays what it was. */
    default void onOpened(HttpVersion version, boolean tls) {}

    /** A connection counted by {@link #onOpened} has closed. */
    default void onClosed(HttpVersion version, boolean tls) {}

    /** A connection was refused because the listener has as many as it may. */
    default void onConnectionRefused() {}

    /** A connection was refused because its client may not connect, by the listener's rules about addresses. */
    default void onConnectionDenied() {}

    /** A connection was refused because the process is overloaded. */
    default void onConnectionShed() {}

    /** A listening socket stops accepting for a while, so that new clients wait in the kernel. */
    default void onAcceptPaused() {}

    /** A connection was closed because nothing happened on it for its idle timeout. */
    default void onIdleClosed() {}

    /** A TLS handshake failed. */
    default void onHandshakeFailed(HandshakeFailure reason) {}

    /** A socket failed, by reset or otherwise, outside any protocol's rules. */
    default void onSocketError() {}

    /** Bytes came from the socket, before TLS is taken off if there is any. */
    default void onReceived(long bytes) {}

    /** Bytes were handed to the socket. */
    default void onSent(long bytes) {}

    /** A peer broke its protocol's rules; the kind is one of a closed set of words. */
    default void onViolation(String kind) {}

    /** An HTTP/2 stream was opened. */
    default void onStreamOpened() {}

    /** An HTTP/2 stream has closed. */
    default void onStreamClosed() {}

    /** An HTTP/2 frame came from the peer, with its length without the frame header. */
    default void onFrameReceived(int type, int length) {}

    /** An HTTP/2 frame was written to the peer, with its length without the frame header. */
    default void onFrameSent(int type, int length) {}

    /** HTTP/2 flow control stopped a stream from writing. */
    default void onFlowControlPaused() {}

    /** Written HTTP/2 frames were flushed to the socket. */
    default void onFlushed() {}
}
