package dev.gateway.protocol.http1;

/** How a body's end is told (RFC 9112, section 6.3). */
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
