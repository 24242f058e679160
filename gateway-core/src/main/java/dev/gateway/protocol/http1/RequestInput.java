package dev.gateway.protocol.http1;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.BufferCost;
import dev.gateway.overload.memory.UnfinishedInput;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Parses the requests of a client connection. A pull parser: the connection asks for the next event as long as it takes
 * requests. Owns what was read, charges the client for what waits, and arms the timeout of what the client owes. Confined to
 * the connection's event loop.
 */
final class RequestInput {
    /** What is read beyond the request being answered. */
    private static final int MAX_PIPELINED = 64 * 1024;

    /** What is read and dropped of an unwanted request body, so that the connection can persist. */
    private static final int MAX_DISCARDED = 64 * 1024;

    private final Runnable onNoRoom;
    private final TimerWheel timers;
    private final ClientTimeouts timeouts;
    private final RequestParser parser;
    private final BodyReader body;
    private final Account waitingBodies;
    private final ConnectionInfo connection;
    private @Nullable ByteBuf unread; // what was read and not yet gone through
    private @Nullable UnfinishedPart unfinished; // made if a head or trailers do not come at once
    private @Nullable Fields trailers; // of the body that has just ended
    private State state = State.HEAD;
    private boolean first = true; // no request has come yet
    private int length; // bytes of the last event
    private long headNanos; // when the current head began, 0 if it came at once
    private long discarded;
    private long waiting; // bytes of memory that are charged, as they wait unread

    /** What the next bytes from the client are. */
    enum State {
        /** A request head, or nothing for now. */
        HEAD,
        /** The request body; it is unwanted if there is no stream. */
        BODY,
        /** Another request, to be left alone until the response has ended. */
        WAITING,
        /** To be dropped: no further request is taken. */
        DROPPED,
        /** None: the connection is closed, or has become a tunnel. */
        CLOSED
    }

    /** What has come. */
    enum Event {
        /** Nothing more for now. */
        NONE,
        /** A part of something, which needs no action. */
        PART,
        /** Empty lines, which begin no request. */
        EMPTY_LINES,
        /** The {@link #head} of a request, to be taken by {@link #begin}. */
        HEAD,
        /** A head that breaks the rules: {@link #violation}. Of the {@link #head} there is what could be made out, or null. */
        MALFORMED_HEAD,
        /** Bytes of a body, to be taken by {@link #takeBody}. If another request is next, they are the last. */
        BODY,
        /** The end of a body after the last of its bytes, or of an unwanted one. */
        BODY_END,
        /** A body that breaks the rules: {@link #violation}. */
        MALFORMED_BODY,
        /** More of an unwanted body than is worth dropping. */
        TOO_MUCH_DISCARDED,
        /** A part of a head or of trailers for which the process has no memory, and more is to come. */
        NO_ROOM,
        /** So many bytes as {@link #length} says, which were dropped, as no further request is taken. */
        DROPPED
    }

    /**
     * Makes the parser of one connection.
     *
     * @param onNoRoom memory has run out for a part of a head or of trailers that came earlier
     */
    RequestInput(
            Runnable onNoRoom,
            HeadLimits limits,
            ConnectionInfo connection,
            TimerWheel timers,
            ClientTimeouts timeouts) {
        this.onNoRoom = onNoRoom;
        this.timers = timers;
        this.timeouts = timeouts;
        this.parser = new RequestParser(limits, connection.scheme());
        this.body = new BodyReader(limits, true);
        this.waitingBodies = connection.account().waitingBodies();
        this.connection = connection;
    }

    // ---- state

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
        return unread == null || !unread.isReadable();
    }

    /** Whether the client is in the midst of a request's head. */
    boolean isWithinHead() {
        return state == State.HEAD && parser.isStarted();
    }

    /** Whether nothing of a further request is here. */
    boolean isIdle() {
        return state == State.HEAD && !parser.isStarted() && isEmpty();
    }

    /** Whether so much of the body is still to come that it is not worth reading for the next request. */
    boolean isTooMuchToDiscard() {
        return state == State.BODY && body.remaining() > MAX_DISCARDED;
    }

    /** Whether the client may send, or has sent, what gets no answer. */
    boolean mayHaveMore() {
        return (state != State.WAITING && state != State.HEAD) || !isEmpty();
    }

    /** Returns the head that has come; null if it was malformed, and nothing could be made out of it. */
    @Nullable
    RequestHead head() {
        return parser.head();
    }

    /** Whether the client of that head speaks HTTP/1.0. */
    boolean isHttp10() {
        return parser.isHttp10();
    }

    /** Whether the client of that head lets the connection persist. */
    boolean isKeepAlive() {
        return parser.isKeepAlive();
    }

    /** Whether the connection may become one of HTTP/2, as far as that head goes. */
    boolean mayBeHttp2() {
        RequestHead head = parser.head();
        return first
                && head != null
                && head.method().equals(Method.GET)
                && !parser.isHttp10()
                && !parser.isChunked()
                && head.contentLength() <= 0;
    }

    /** Returns how a head or body breaks the rules. */
    Http1Violation violation() {
        return state == State.HEAD ? parser.violation() : body.violation();
    }

    /** Returns the bytes of the last event. */
    int length() {
        return length;
    }

    // ---- changes of state

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
        onNoRoom.run();
        releaseCollected();
    }

    /** Has no use for what was read. */
    void release() {
        releaseUnread();
        charge(0);
    }

    private void releaseUnread() {
        ByteBuf all = unread;
        unread = null;
        if (all != null) {
            all.release();
        }
    }

    /** Returns the unread bytes; the caller owns them. */
    @Nullable
    ByteBuf takeOver() {
        charge(0);
        ByteBuf all = unread;
        unread = null;
        return all;
    }

    /** Returns the unread bytes for another protocol, which owns them beside this. */
    ByteBuf retainRest() {
        ByteBuf rest = unread;
        return rest != null && rest.isReadable() ? rest.retain() : Unpooled.EMPTY_BUFFER;
    }

    /** Client bytes that wait behind a request are charged, as each connection may have tens of thousands of them. */
    private void charge(long now) {
        if (now != waiting) {
            waitingBodies.change(waiting, now);
            waiting = now;
        }
    }

    // ---- parsing

    /** Adds what was read from the channel; this owns it. */
    void add(ByteBufAllocator alloc, ByteBuf read) {
        ByteBuf rest = unread;
        unread = rest == null ? read : ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(alloc, rest, read);
    }

    private @Nullable ByteBuf peek() {
        if (unread != null && !unread.isReadable()) {
            releaseUnread();
        }
        return unread;
    }

    /**
     * What was not gone through waits. It keeps as little memory as it can: what is less than half of its buffer is copied.
     *
     * @return whether it is so much that nothing more is to be read
     */
    boolean keep() {
        ByteBuf all = peek();
        if (all == null) {
            charge(0);
            return false;
        }
        ByteBuf kept = BufferCost.slim(all);
        unread = kept;
        charge(kept.capacity());
        return kept.readableBytes() > MAX_PIPELINED;
    }

    /**
     * Reads what comes next.
     *
     * @param wanted whether a body is wanted; else it is dropped
     */
    Event next(boolean wanted) {
        ByteBuf in = peek();
        if (in == null) {
            return Event.NONE;
        }
        return switch (state) {
            case HEAD -> readHead(in);
            case BODY -> readBody(in, wanted);
            case WAITING -> Event.NONE;
            case DROPPED -> {
                length = in.readableBytes();
                releaseUnread();
                yield Event.DROPPED;
            }
            case CLOSED -> {
                releaseUnread();
                yield Event.NONE;
            }
        };
    }

    private Event readHead(ByteBuf in) {
        boolean started = parser.isStarted();
        headNanos = started ? headNanos : 0;
        Progress progress = parser.parse(in);
        if (progress == Progress.MORE) {
            boolean begun = parser.isStarted();
            if (begun && !started) {
                headNanos = timers.nanoTime();
                timeouts.waitForHead();
            }
            if (!collect(parser.heldBytes())) {
                timeouts.cancel();
                return Event.NO_ROOM;
            }
            return begun ? Event.PART : Event.EMPTY_LINES;
        }
        releaseCollected();
        timeouts.cancel();
        return progress == Progress.REFUSED || parser.head() == null ? Event.MALFORMED_HEAD : Event.HEAD;
    }

    /** Takes the head, which the parser forgets. Its body is next if it has one; returns whether it has. */
    boolean begin(RequestHead head) {
        first = false;
        discarded = 0;
        boolean hasBody = parser.isChunked() || head.contentLength() > 0;
        if (hasBody) {
            body.start(parser.isChunked() ? Framing.CHUNKED : Framing.FIXED, head.contentLength());
            state = State.BODY;
        } else {
            state = State.WAITING; // also for CONNECT: what follows belongs to the tunnel, once there is one
        }
        parser.forget(); // or a connection would keep its last head as long as it is idle
        return hasBody;
    }

    private Event readBody(ByteBuf in, boolean wanted) {
        int bytes = body.next(in);
        if (bytes > 0) {
            timeouts.waitForBody();
            if (!wanted) {
                return discard(in, bytes);
            }
            length = bytes;
            if (body.framing() == Framing.FIXED && body.remaining() == 0) {
                state = State.WAITING;
                timeouts.cancel();
            }
            return Event.BODY;
        }
        return switch (body.progress()) {
            case MORE -> collect(body.heldBytes()) ? Event.PART : Event.NO_ROOM;
            case REFUSED -> Event.MALFORMED_BODY;
            case COMPLETE -> {
                trailers = body.trailers();
                body.forget();
                releaseCollected();
                yield endBody();
            }
        };
    }

    /** Takes the bytes of a body that have come: the buffer itself if nothing else is in it, else a slice. */
    ByteBuf takeBody() {
        ByteBuf in = Objects.requireNonNull(unread);
        if (length == in.readableBytes()) {
            unread = null;
            return in;
        }
        return in.readRetainedSlice(length);
    }

    /** Takes the trailers of the body that has ended; null if it had none. */
    @Nullable
    Fields takeTrailers() {
        Fields taken = trailers;
        trailers = null;
        return taken;
    }

    private Event endBody() {
        state = State.WAITING;
        timeouts.cancel();
        return Event.BODY_END;
    }

    private Event discard(ByteBuf in, int bytes) {
        in.skipBytes(bytes);
        discarded += bytes;
        if (body.progress() == Progress.COMPLETE) {
            return endBody();
        }
        return discarded > MAX_DISCARDED ? Event.TOO_MUCH_DISCARDED : Event.PART;
    }
}
