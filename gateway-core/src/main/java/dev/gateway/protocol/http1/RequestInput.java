package dev.gateway.protocol.http1;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.UnfinishedInput;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Input of a downstream connection, taken apart into requests: gone through as far as the state lets it, unread while a
 * request is being answered. Tells its owner, and decides nothing else but when the client is waited for. Owns what was
 * read; confined to the connection's event loop.
 */
final class RequestInput {
    /** What is read beyond the request being answered. */
    private static final int MAX_PIPELINED = 64 * 1024;

    /** What is read and dropped of a request body that nobody wants, so that the connection can persist. */
    private static final int MAX_DISCARDED = 64 * 1024;

    private final Owner owner;
    private final TimerWheel timers;
    private final ClientTimeouts timeouts;
    private final RequestParser parser;
    private final BodyReader body;
    private final Unread unread = new Unread();
    private final Account waitingBodies;
    private final ConnectionInfo connection;
    private @Nullable UnfinishedPart unfinished; // made if a head or trailers do not come at once
    private State state = State.HEAD;
    private boolean first = true; // no request has come yet
    private boolean reading; // between channelRead and channelReadComplete
    private boolean processing;
    private long headNanos; // when the current head began, 0 if it came at once
    private long discarded;
    private long waiting; // bytes of memory that are charged, as they wait unread

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

    RequestInput(
            Owner owner, HeadLimits limits, ConnectionInfo connection, TimerWheel timers, ClientTimeouts timeouts) {
        this.owner = owner;
        this.timers = timers;
        this.timeouts = timeouts;
        this.parser = new RequestParser(limits, connection.scheme());
        this.body = new BodyReader(limits, true);
        this.waitingBodies = connection.account().waitingBodies();
        this.connection = connection;
    }

    /** Who is told what has come, in this order for each request. */
    interface Owner {
        /** Whether another request may be looked at. */
        boolean takesRequests();

        /** Empty lines have come, which begin no request. */
        void onEmptyLines();

        /** The process has no room for what has come of a head, and more is to come. */
        void onNoRoomForHead();

        /** A head breaks the rules; it is null if nothing could be made out of it. */
        void onMalformedHead(@Nullable RequestHead head, boolean http10, Http1Violation violation);

        /**
         * Lets another protocol take the connection over; returns whether it has.
         *
         * @param in what has come after the head; the new protocol retains it if it takes the connection over
         */
        boolean upgrade(RequestHead head, ByteBuf in);

        /**
         * A request has come, and its body is next if it has one.
         *
         * @param webSocketKey the client's for a WebSocket handshake, or null
         * @param keepAlive whether the client lets the connection persist
         */
        void onRequest(
                RequestHead head,
                @Nullable AsciiString webSocketKey,
                boolean http10,
                boolean keepAlive,
                boolean hasBody);

        /** Some of the body has come; returns whether anybody wants it. */
        boolean onBodyBytes();

        /** Hands that over; owned by the callee. */
        void onBody(ByteBuf data, boolean last);

        /** More has come of a body that nobody wants than is worth dropping. */
        void onTooMuchDiscarded();

        /** The process has no room for what has come of trailers, and more is to come. */
        void onNoRoomForTrailers();

        /** A body breaks the rules. */
        void onMalformedBody(Http1Violation violation);

        /** The body has ended after the last of its bytes, or nobody wanted it and it is over. */
        void onBodyEnd(@Nullable Fields trailers);

        /** So many bytes were dropped, as no further request is taken. */
        void onDropped(int bytes);

        /** So much waits behind the request in progress that nothing more is to be read. */
        void onTooMuchPipelined();

        /** As much as can be of what was read has been gone through. */
        void onProcessed();
    }

    // ---- what it is like

    State state() {
        return state;
    }

    /** Whether what the client sends is still of use: it is neither dropped, nor is the connection closed. */
    boolean isOpen() {
        return state != State.CLOSED && state != State.DROPPED;
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
        releaseCollected();
    }

    private void releaseCollected() {
        if (unfinished != null) {
            unfinished.release();
        }
    }

    /** Charges the client for what has come of a head or of trailers; returns false if there is no room for it. */
    private boolean collect(long bytes) {
        if (bytes == 0) {
            return true;
        }
        UnfinishedPart part = unfinished;
        if (part == null) {
            part = new UnfinishedPart(connection, this::onCut);
            unfinished = part;
        }
        if (!part.collected.tryGrowTo(bytes)) {
            return false;
        }
        if (bytes > UnfinishedInput.SLIGHT) {
            part.stall();
        } else {
            part.resume();
        }
        return true;
    }

    private void onCut() {
        timeouts.cancel();
        if (state == State.HEAD) {
            owner.onNoRoomForHead();
        } else {
            owner.onNoRoomForTrailers();
        }
        releaseCollected();
    }

    /** Has no use for what was read. */
    void release() {
        unread.release();
        charge(0);
    }

    /** Returns what was read, which is somebody else's from here on. */
    @Nullable
    ByteBuf takeOver() {
        charge(0);
        return unread.takeAll();
    }

    /** Client bytes that wait behind a request are charged, as each connection may have tens of thousands of them. */
    private void charge(long now) {
        if (now != waiting) {
            waitingBodies.change(waiting, now);
            waiting = now;
        }
    }

    // ---- going through it

    /** Takes what was read from the channel; owned from here on. More may follow until {@link #onReadComplete}. */
    void add(ByteBufAllocator alloc, ByteBuf read) {
        reading = true;
        unread.add(alloc, read);
        process();
    }

    /** The channel has read all that there is for now. */
    void onReadComplete() {
        reading = false;
    }

    /** Whether the channel is reading, so that more may come at once. */
    boolean isReading() {
        return reading;
    }

    /** Goes through what was read as far as the state lets it. */
    void process() {
        if (processing) {
            return;
        }
        processing = true;
        ByteBuf in = unread.peek();
        while (in != null && !isWaiting()) {
            switch (state) {
                case HEAD -> readHead(in);
                case BODY -> readBody(in);
                case DROPPED -> drop(in);
                case WAITING, CLOSED -> unread.release(); // only CLOSED comes here: isWaiting() stops at WAITING
            }
            in = unread.peek();
        }
        if (in != null && in.readableBytes() > MAX_PIPELINED) {
            owner.onTooMuchPipelined();
        }
        charge(unread.keep());
        processing = false;
        owner.onProcessed();
    }

    /** Whether that is being done right now. */
    boolean isProcessing() {
        return processing;
    }

    /**
     * Whether what was read waits unread: requests while another is being answered, and while the client does not read the
     * answers to those before, as each would add to what waits for it.
     */
    private boolean isWaiting() {
        return state == State.WAITING || (state == State.HEAD && !owner.takesRequests());
    }

    private void readHead(ByteBuf in) {
        boolean started = parser.isStarted();
        headNanos = started ? headNanos : 0;
        Progress progress = parser.parse(in);
        if (progress == Progress.MORE) {
            if (!parser.isStarted()) {
                owner.onEmptyLines();
            } else if (!started) {
                headNanos = timers.nanoTime();
                timeouts.waitForHead();
            }
            if (!collect(parser.heldBytes())) {
                timeouts.cancel();
                owner.onNoRoomForHead();
            }
            return;
        }
        releaseCollected();
        RequestHead head = parser.head();
        timeouts.cancel();
        if (progress == Progress.REFUSED || head == null) {
            owner.onMalformedHead(head, parser.isHttp10(), parser.violation());
            return;
        }
        if (!first || !mayBeHttp2(head) || !owner.upgrade(head, in)) {
            first = false;
            begin(head);
        }
    }

    /** Whether the connection may become one of HTTP/2, as far as the message goes. */
    private boolean mayBeHttp2(RequestHead head) {
        return head.method().equals(Method.GET)
                && !parser.isHttp10()
                && !parser.isChunked()
                && head.contentLength() <= 0;
    }

    private void begin(RequestHead head) {
        discarded = 0;
        boolean hasBody = parser.isChunked() || head.contentLength() > 0;
        if (hasBody) {
            body.start(parser.isChunked() ? Framing.CHUNKED : Framing.FIXED, head.contentLength());
            state = State.BODY;
        } else {
            state = State.WAITING; // also for CONNECT: what follows belongs to the tunnel, once there is one
        }
        boolean http10 = parser.isHttp10();
        AsciiString webSocketKey = http10 ? null : UpgradeRequest.translate(head, hasBody);
        boolean keepAlive = parser.isKeepAlive();
        parser.forget(); // or a connection would keep its last head as long as it is idle
        owner.onRequest(head, webSocketKey, http10, keepAlive, hasBody);
    }

    private void readBody(ByteBuf in) {
        int length = body.next(in);
        if (length > 0) {
            timeouts.waitForBody();
            if (!owner.onBodyBytes()) {
                discard(in, length);
                return;
            }
            boolean last = body.framing() == Framing.FIXED && body.remaining() == 0;
            if (last) {
                state = State.WAITING;
                timeouts.cancel();
            }
            owner.onBody(unread.take(in, length), last);
            return;
        }
        switch (body.progress()) {
            case MORE -> {
                if (!collect(body.heldBytes())) {
                    owner.onNoRoomForTrailers();
                }
            }
            case REFUSED -> owner.onMalformedBody(body.violation());
            case COMPLETE -> {
                Fields trailers = body.trailers();
                body.forget();
                releaseCollected();
                endBody(trailers);
            }
        }
    }

    private void endBody(@Nullable Fields trailers) {
        state = State.WAITING;
        timeouts.cancel();
        owner.onBodyEnd(trailers);
    }

    private void discard(ByteBuf in, int length) {
        in.skipBytes(length);
        discarded += length;
        if (body.progress() == Progress.COMPLETE) {
            endBody(null);
        } else if (discarded > MAX_DISCARDED) {
            owner.onTooMuchDiscarded();
        }
    }

    private void drop(ByteBuf in) {
        int bytes = in.readableBytes();
        unread.release();
        owner.onDropped(bytes);
    }
}
