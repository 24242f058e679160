package dev.gateway.upstream.stream;

/** What a stream to an upstream is for. */
public enum StreamKind {
    /** A request and its response. */
    EXCHANGE,
    /**
     * A request and its response, as an active health check. No limit of the upstream applies: an endpoint that hangs may
     * have used up all limits.
     */
    CHECK,
    /**
     * A new connection, to check whether the endpoint accepts one. The stream answers its head by itself, and the
     * connection is closed then. It counts against no limit of the upstream.
     */
    CONNECTION_CHECK,
    /**
     * An extended CONNECT (RFC 8441), such as a WebSocket's: an HTTP/1.1 connection, or an HTTP/2 connection whose peer
     * allows it.
     */
    UPGRADE,
    /** A request after which the connection may switch to another protocol: an HTTP/1.1 connection. */
    SWITCH,
    /** Bytes in both directions without a protocol: a connection of its own, which is not reused. */
    TUNNEL
}
