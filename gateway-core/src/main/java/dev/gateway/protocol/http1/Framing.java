package dev.gateway.protocol.http1;

/** Body framing: how a recipient finds the end of a body (RFC 9112, section 6.3). */
enum Framing {
    /** There is no body. */
    NONE,
    /** By Content-Length. */
    FIXED,
    /** By the chunked transfer coding. */
    CHUNKED,
    /** By the connection's end; also a direction of a tunnel. */
    UNTIL_CLOSE
}
