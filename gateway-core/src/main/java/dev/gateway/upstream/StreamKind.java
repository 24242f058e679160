package dev.gateway.upstream;

/** The kind of stream that an exchange asks for: what it wants to do with it. */
public enum StreamKind {
    /** A request and its response. */
    EXCHANGE,
    /**
     * The same, to learn whether the endpoint is well: no limit of the upstream keeps it from being asked, for who hangs may
     * have taken all that there is.
     */
    CHECK,
    /**
     * A new connection, to learn whether one can be made: the stream answers its head by itself, and the connection is closed
     * then. No limit of the upstream counts it.
     */
    CONNECTION_CHECK,
    /**
     * An extended CONNECT (RFC 8441), such as a WebSocket's: an HTTP/1.1 connection, or an HTTP/2 connection whose peer
     * allows it.
     */
    UPGRADE,
    /** Bytes both ways and nothing around them: a connection of its own, which no other exchange gets afterwards. */
    TUNNEL
}
