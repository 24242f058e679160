package dev.gateway.http1;

import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;

/** One request on an upstream HTTP/1 connection: frames it. Made by, and part of, its connection. */
final class Http1ClientStream extends OutgoingStream implements ClientStream {
    private final Http1ClientConnection connection;
    private final ResponseEvents events;
    private boolean headRequest;
    private boolean connect;

    Http1ClientStream(Http1ClientConnection connection, ResponseEvents events) {
        super(connection);
        this.connection = connection;
        this.events = events;
    }

    ResponseEvents events() {
        return events;
    }

    /** Whether the response has no body whatever it announces. */
    boolean isHeadRequest() {
        return headRequest;
    }

    /** Whether a successful response opens a tunnel. */
    boolean isConnect() {
        return connect;
    }

    @Override
    public void head(RequestHead head, boolean last) {
        if (isEnded() || isStarted()) {
            return;
        }
        Method method = head.method();
        headRequest = method.equals(Method.HEAD);
        connect = head.isConnect();
        long length = head.contentLength();
        Framing framing;
        if (connect) {
            framing = Framing.UNTIL_CLOSE;
            length = RequestHead.UNKNOWN_LENGTH;
        } else if (last) {
            framing = Framing.NONE;
            length = length >= 0 || expectsContent(method) ? 0 : RequestHead.UNKNOWN_LENGTH;
        } else {
            framing = length >= 0 ? Framing.FIXED : Framing.CHUNKED;
        }
        begin(framing, length);
        connection.writeHead(HeadWriter.request(ctx.alloc(), head, framing, length));
        if (last) {
            finish();
        }
    }

    /** Whether a request without content says so (RFC 9110, section 8.6). */
    private static boolean expectsContent(Method method) {
        return method.equals(Method.POST) || method.equals(Method.PUT) || method.equals(Method.PATCH);
    }

    @Override
    void onMisframed(Failure failure) {
        connection.fail(this, failure);
    }
}
