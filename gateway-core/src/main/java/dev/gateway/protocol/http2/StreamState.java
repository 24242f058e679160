package dev.gateway.protocol.http2;

/**
 * Which directions of a stream have ended (RFC 9113, section 5.1), as far as the exchange goes: ours has ended once the
 * last of it was handed over, though it may still wait for the peer's window. Resets are not counted here.
 */
enum StreamState {
    OPEN,
    HALF_CLOSED_LOCAL,
    HALF_CLOSED_REMOTE,
    CLOSED;

    /** Whether we were handed the last of what we send. */
    boolean isLocalEnded() {
        return this == HALF_CLOSED_LOCAL || this == CLOSED;
    }

    /** Whether the peer has sent its last. */
    boolean isRemoteEnded() {
        return this == HALF_CLOSED_REMOTE || this == CLOSED;
    }

    StreamState withLocalEnded() {
        return isRemoteEnded() ? CLOSED : HALF_CLOSED_LOCAL;
    }

    StreamState withRemoteEnded() {
        return isLocalEnded() ? CLOSED : HALF_CLOSED_REMOTE;
    }
}
