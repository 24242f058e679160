package dev.gateway.http1;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.overload.Holding;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * What the client of a downstream connection sends, taken apart into requests: gone through as far as the state lets it,
 * unread while a request is being answered. Tells its connection, of which it is a part, and decides nothing else. Owns
 * what was read.
 */
final class RequestInput {
    /** What is read beyond the request being answered. */
    private static final int MAX_PIPELINED = 64 * 1024;

    /** What is read and dropped of a request body that nobody wants, so that the connection can persist. */
    private static final int MAX_DISCARDED = 64 * 1024;

    private final Http1ServerConnection connection;
    private final RequestParser parser;
    private final BodyReader body;
    private final Unread unread = new Unread();
    private final Holding collected; // of a head, or of trailers, of which more is to come
    private State state = State.HEAD;
    private boolean first = true; // no request has come yet
    private boolean processing;
    private long headNanos; // when the current head began, 0 if it came at once
    private long discarded;

    /** What the next bytes from the client are. */
    enum State {
        /** A request head, or nothing for now. */
        HEAD,
        /** The request body; nobody wants it any more if there is no stream. */
        BODY,
        /** Another request, to be left alone until the response has ended. */
        WAITING,
        /** To be dropped: no further request is taken. */
        DROPPED,
        /** None: the connection is closed, or has become a tunnel. */
        CLOSED
    }

    RequestInput(Http1ServerConnection connection, HeadLimits limits, AsciiString scheme) {
        this.connection = connection;
        this.parser = new RequestParser(limits, scheme);
        this.body = new BodyReader(limits);
        this.collected = new Holding(connection.info().account());
    }

    // ---- what it is like

    State state() {
        return state;
    }

    /** Returns when the first bytes of the last head were there, 0 if all of it came at once. */
    long headNanos() {
        return headNanos;
    }

    /** Whether no request has come yet. */
    boolean isFirst() {
        return first;
    }

    /** Whether all that was read has been gone through. */
    boolean isEmpty() {
        return unread.isEmpty();
    }

    /** Whether the client is in the midst of a request's head. */
    boolean isWithinHead() {
        return state == State.HEAD && parser.isStarted();
    }

    /** Whether nothing of a further request is here or being gone through. */
    boolean isIdle() {
        return state == State.HEAD && !parser.isStarted() && !processing && unread.isEmpty();
    }

    /** Whether so much of the body is still to come that it is not worth reading for the next request. */
    boolean isTooMuchToDiscard() {
        return state == State.BODY && body.remaining() > MAX_DISCARDED;
    }

    /** Whether the client may send, or has sent, what nobody will answer. */
    boolean mayHaveMore() {
        return (state != State.WAITING && state != State.HEAD) || !unread.isEmpty();
    }

    // ---- what becomes of it

    /** What follows is the next request. */
    void next() {
        state = State.HEAD;
    }

    /** The rest of a body that cannot be completed is dropped; a request read whole stays what it is. */
    void dropBody() {
        if (state == State.BODY) {
            drop();
        }
    }

    /** Whatever follows is dropped. */
    void drop() {
        state = State.DROPPED;
        forget();
    }

    /** Nothing follows. */
    void close() {
        state = State.CLOSED;
        forget();
    }

    private void forget() {
        parser.forget();
        body.forget();
        collected.release();
    }

    /** Has no use for what was read. */
    void release() {
        unread.release();
    }

    /** Returns what was read, which is somebody else's from here on. */
    @Nullable
    ByteBuf takeOver() {
        return unread.takeAll();
    }

    // ---- going through it

    /** Takes what was read from the channel; owned from here on. */
    void add(ByteBuf read) {
        unread.add(connection.ctx.alloc(), read);
        process();
    }

    /** Goes through what was read as far as the state lets it. */
    void process() {
        if (processing) {
            return;
        }
        processing = true;
        ByteBuf in = unread.peek();
        while (in != null && !isLeft()) {
            switch (state) {
                case HEAD -> readHead(in);
                case BODY -> readBody(in);
                case DROPPED -> drop(in);
                case WAITING, CLOSED -> unread.release(); // only CLOSED comes here: isLeft() stops at WAITING
            }
            in = unread.peek();
        }
        if (in != null && in.readableBytes() > MAX_PIPELINED) {
            connection.credit.hold();
        }
        processing = false;
        connection.onProcessed();
    }

    /** Whether that is being done right now. */
    boolean isProcessing() {
        return processing;
    }

    /**
     * Whether what was read is left alone: requests while another is being answered, and while the client does not read the
     * answers to those before, as each would add to what waits for it.
     */
    private boolean isLeft() {
        return state == State.WAITING || (state == State.HEAD && !connection.takesRequests());
    }

    private void readHead(ByteBuf in) {
        boolean started = parser.isStarted();
        headNanos = started ? headNanos : 0;
        Progress progress = parser.parse(in);
        if (progress == Progress.MORE) {
            if (!parser.isStarted()) {
                connection.onEmptyLines();
            } else if (!started) {
                headNanos = connection.timers.nanoTime();
                connection.onHeadBegun();
            }
            if (!collected.tryGrowTo(parser.heldBytes())) {
                connection.onNoRoomForHead();
            }
            return;
        }
        collected.release();
        RequestHead head = parser.head();
        if (progress == Progress.REFUSED || head == null) {
            connection.onMalformedHead(head, parser.isHttp10(), parser.violation());
            return;
        }
        connection.onHeadRead();
        boolean mayUpgrade = mayUpgrade(head);
        if (!first || !mayUpgrade || !connection.upgrade(head, in)) {
            first = false;
            begin(head, mayUpgrade);
        }
    }

    /** Whether a wish for another protocol counts, as far as the message goes. */
    private boolean mayUpgrade(RequestHead head) {
        return head.method().equals(Method.GET)
                && !parser.isHttp10()
                && !parser.isChunked()
                && head.contentLength() <= 0;
    }

    private void begin(RequestHead head, boolean mayUpgrade) {
        discarded = 0;
        boolean hasBody = parser.isChunked() || head.contentLength() > 0;
        if (hasBody) {
            body.start(parser.isChunked() ? Framing.CHUNKED : Framing.FIXED, head.contentLength());
            state = State.BODY;
        } else {
            state = State.WAITING; // also for CONNECT: what follows its head belongs to the tunnel, once there is one
        }
        Http1ServerStream open = new Http1ServerStream(
                connection,
                head,
                mayUpgrade ? UpgradeRequest.translate(head) : null,
                parser.isHttp10(),
                parser.isKeepAlive());
        parser.forget(); // or a connection would keep its last head as long as it is idle
        connection.begin(open, head, hasBody);
    }

    private void readBody(ByteBuf in) {
        int length = body.next(in);
        if (length > 0) {
            if (!connection.onBodyBytes()) {
                discard(in, length);
                return;
            }
            boolean last = body.framing() == Framing.FIXED && body.remaining() == 0;
            if (last) {
                state = State.WAITING;
            }
            connection.onBody(unread.take(in, length), last);
            return;
        }
        switch (body.progress()) {
            case MORE -> {
                if (!collected.tryGrowTo(body.heldBytes())) {
                    connection.onNoRoomForTrailers();
                }
            }
            case REFUSED -> connection.onMalformedBody(body.violation());
            case COMPLETE -> {
                Fields trailers = body.trailers();
                body.forget();
                collected.release();
                endBody(trailers);
            }
        }
    }

    private void endBody(@Nullable Fields trailers) {
        state = State.WAITING;
        connection.onBodyEnd(trailers);
    }

    private void discard(ByteBuf in, int length) {
        in.skipBytes(length);
        discarded += length;
        if (body.progress() == Progress.COMPLETE) {
            endBody(null);
        } else if (discarded > MAX_DISCARDED) {
            connection.finish();
        }
    }

    private void drop(ByteBuf in) {
        int bytes = in.readableBytes();
        unread.release();
        connection.lingering.onDropped(bytes);
    }
}
