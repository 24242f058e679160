package dev.gateway.http1;

import dev.gateway.http1.HeadWriter.Persistence;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import org.jspecify.annotations.Nullable;

/** One request of a downstream HTTP/1 connection: frames its response. Made by, and part of, its connection. */
final class Http1ServerStream extends OutgoingStream implements ServerStream {
    private static final int CONTINUE = 100;
    private static final int SWITCHING_PROTOCOLS = 101;

    private final Http1ServerConnection connection;
    private final boolean headRequest;
    private final boolean connect;
    private final boolean http10;
    private boolean keepAlive;
    private boolean awaitsContinue;
    private boolean tunnel;
    private @Nullable StreamEvents events;

    /**
     * Makes a stream.
     *
     * @param method the request's, null if none could be made out
     * @param keepAlive whether the client lets the connection persist
     */
    Http1ServerStream(
            Http1ServerConnection connection,
            @Nullable Method method,
            boolean http10,
            boolean keepAlive) {
        super(connection);
        this.connection = connection;
        this.headRequest = Method.HEAD.equals(method);
        this.connect = Method.CONNECT.equals(method);
        this.http10 = http10;
        this.keepAlive = keepAlive;
    }

    /** The client holds its body back until it is told to send it (RFC 9110, section 10.1.1). */
    void awaitContinue() {
        awaitsContinue = true;
    }

    /** The client sends its body, told or not. */
    void onBodyBegun() {
        awaitsContinue = false;
    }

    /** Whether the client still waits to be told to send its body, so that it may never come. */
    boolean isAwaitingContinue() {
        return awaitsContinue;
    }

    boolean isKeepAlive() {
        return keepAlive;
    }

    boolean isConnect() {
        return connect;
    }

    boolean isTunnel() {
        return tunnel;
    }

    @Nullable
    StreamEvents events() {
        return events;
    }

    void setEvents(@Nullable StreamEvents events) {
        this.events = events;
    }

    @Override
    public ConnectionInfo connection() {
        return connection.info();
    }

    @Override
    public void head(ResponseHead head, boolean last) {
        if (isEnded() || isStarted()) {
            return;
        }
        if (head.isInterim()) {
            interim(head);
            return;
        }
        int status = head.status();
        if (connect && status < 300) {
            tunnel = true;
            begin(Framing.UNTIL_CLOSE, 0);
            write(HeadWriter.response(ctx.alloc(), head, Framing.NONE, -1, Persistence.DEFAULT));
            if (last) {
                finish();
            }
            connection.becomeTunnel(this);
            return;
        }
        long length = head.contentLength();
        Framing framing;
        if (headRequest || status == 204 || status == 304) {
            framing = Framing.NONE;
            length = status == 204 ? RequestHead.UNKNOWN_LENGTH : length;
        } else if (last) {
            framing = Framing.FIXED;
            length = 0;
        } else if (length >= 0) {
            framing = Framing.FIXED;
        } else {
            framing = http10 ? Framing.UNTIL_CLOSE : Framing.CHUNKED;
        }
        keepAlive = keepAlive
                && framing != Framing.UNTIL_CLOSE
                && !awaitsContinue
                && connection.mayPersist(last || framing == Framing.NONE);
        Persistence persistence =
                !keepAlive ? Persistence.CLOSE : http10 ? Persistence.KEEP_ALIVE : Persistence.DEFAULT;
        begin(framing, length);
        write(HeadWriter.response(ctx.alloc(), head, framing, length, persistence));
        if (last) {
            finish();
        }
    }

    private void interim(ResponseHead head) {
        if (http10 || head.status() == SWITCHING_PROTOCOLS) {
            return; // RFC 9110, section 15.2; an upgrade is a matter of this hop alone
        }
        if (head.status() == CONTINUE) {
            awaitsContinue = false;
            connection.onContinueSent();
        }
        write(HeadWriter.response(ctx.alloc(), head, Framing.NONE, -1, Persistence.DEFAULT));
    }

    @Override
    void onMisframed(Failure failure) {
        StreamEvents told = events;
        reset(failure);
        if (told != null) {
            told.onReset(failure);
        }
    }
}
