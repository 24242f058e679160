package dev.gateway.tests.peer;

import java.io.IOException;

/** The other side has reset the stream, or ended its connection before the stream's end. */
public final class StreamResetException extends IOException {
    private static final long serialVersionUID = 1;

    /** The HTTP/2 error code, or -1 where there was none. */
    public final int code;

    StreamResetException(int code, String message) {
        super(message);
        this.code = code;
    }
}
