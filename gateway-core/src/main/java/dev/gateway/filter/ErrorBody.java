package dev.gateway.filter;

import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;

/** Error response body: what a filter decides of the body of an answer that tells an error. */
public sealed interface ErrorBody {
    /** The answer stays as it is. */
    ErrorBody UNCHANGED = new Unchanged();

    /** The gateway's own small body: a problem (RFC 9457), or text if the client prefers text. */
    ErrorBody PLAIN = new Plain();

    /** The answer stays as it is: an upstream's body passes. */
    record Unchanged() implements ErrorBody {}

    /** The gateway's own small body, which replaces an upstream's. */
    record Plain() implements ErrorBody {}

    /**
     * A body of the filter's own, which replaces any other.
     *
     * @param content owned by the receiver
     */
    record Page(AsciiString contentType, ByteBuf content) implements ErrorBody {}
}
