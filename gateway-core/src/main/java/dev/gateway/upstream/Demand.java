package dev.gateway.upstream;

/** What an exchange wants to do with the stream it asks for. */
public enum Demand {
    /** A request and its response. */
    EXCHANGE,
    /**
     * An extended CONNECT (RFC 8441), such as a WebSocket's: an HTTP/1.1 connection, or an HTTP/2 connection whose peer
     * allows it.
     */
    UPGRADE,
    /** Bytes both ways and nothing around them: a connection of its own, which no other exchange gets afterwards. */
    TUNNEL
}
