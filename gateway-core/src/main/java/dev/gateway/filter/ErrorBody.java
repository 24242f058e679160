package dev.gateway.filter;

import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;

/** Error response body: what a filter decides of the body of an answer that tells an error. */
public sealed interface ErrorBody {
    /** The answer stays as it is. */
    ErrorBody UNCHANGED = new Unchanged();

    /** The few words that the gateway itself says of errors: a problem (RFC 9457), or text for who asks for text. */
    ErrorBody PLAIN = new Plain();

    /** The answer stays as it is: an upstream's body passes. */
    record Unchanged() implements ErrorBody {}

    /** The words of the gateway itself, which take the place of an upstream's body. */
    record Plain() implements ErrorBody {}

    /**
     * A body of its own, which takes the place of any other.
     *
     * @param content owned by the receiver
     */
    record Page(AsciiString contentType, ByteBuf content) implements ErrorBody {}
}
