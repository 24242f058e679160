package dev.gateway.message;

import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * The head of a response, interim (1xx) or final, whatever the protocol. Confined to the event loop of its exchange.
 */
public final class ResponseHead {
    /** How many interim heads may come before a final one; each would renew what time a request has. */
    public static final int MAX_INTERIM = 100;

    private final int status;
    private final @Nullable AsciiString reason;
    private final Fields fields;
    private long contentLength;

    /**
     * Makes a head.
     *
     * @param reason the reason phrase an HTTP/1 peer sent, or null
     * @param contentLength the value of Content-Length, or {@link RequestHead#UNKNOWN_LENGTH}; for a response to HEAD
     *     and for 304 it announces no body
     */
    public ResponseHead(int status, @Nullable AsciiString reason, Fields fields, long contentLength) {
        this.status = status;
        this.reason = reason;
        this.fields = fields;
        this.contentLength = contentLength;
    }

    /** Returns the status code. */
    public int status() {
        return status;
    }

    /** Whether another head follows (RFC 9110, section 15.2). */
    public boolean isInterim() {
        return status < 200;
    }

    /** Returns the reason phrase that an HTTP/1 peer sent, or null. */
    public @Nullable AsciiString reason() {
        return reason;
    }

    /** Returns the fields, which may be edited. */
    public Fields fields() {
        return fields;
    }

    /** Returns the length of the body in bytes, or {@link RequestHead#UNKNOWN_LENGTH}. */
    public long contentLength() {
        return contentLength;
    }

    /** Removes the length of the body: a filter will change the body, and its new length is unknown. */
    public void forgetLength() {
        contentLength = RequestHead.UNKNOWN_LENGTH;
        fields.remove(FieldName.CONTENT_LENGTH);
    }
}
