package dev.gateway.protocol.http1;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ReadCredit;
import dev.gateway.overload.memory.UnfinishedInput;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * Parses the responses of an upstream connection, one after the other. Notifies the connection and the exchange in progress.
 * Keeps no bytes but of a head or of trailers that have not ended. Confined to the connection's event loop.
 */
final class ResponseInput {
    private static final int SWITCHING_PROTOCOLS = 101;
    private static final int OK = 200;
    private static final int NO_CONTENT = 204;
    private static final int NOT_MODIFIED = 304;
    private static final int PROXY_AUTHENTICATION_REQUIRED = 407;

    private final Http1ClientConnection connection;
    private final Http1ClientSettings.@Nullable Proxy proxy; // the peer, if that forwards requests
    private final ResponseParser parser;
    private final BodyReader body;
    private final ReadCredit credit;
    private State state = State.IDLE;
    private @Nullable ResponseEvents handedOnTo; // since the last read-complete
    private boolean begun;
    private boolean persistent; // as the response says
    private boolean bound; // what a client has proved may hold for the whole connection
    private boolean misframed; // a response to the request has framing that it must not have
    private int interim; // responses to the request so far
    private long keepAliveMillis;
    private @Nullable ResponseHead switching; // a 101 that came before the end of the request
    private @Nullable ByteBuf early; // what came after it
    private @Nullable UnfinishedPart unfinished; // made if a head or trailers do not come at once

    /** What the next bytes from the upstream are. */
    enum State {
        /** None are expected. */
        IDLE,
        HEAD,
        BODY,
        /** Those of another protocol: the upstream has switched to it, and the request has not ended. */
        SWITCHING,
        /** The response has ended and the request has not. */
        DONE,
        /** None: the connection is closed, or has become a tunnel. */
        CLOSED
    }

    ResponseInput(Http1ClientConnection connection, Http1ClientSettings settings, ReadCredit credit) {
        this.connection = connection;
        this.credit = credit;
        this.proxy = settings.proxy();
        this.parser = new ResponseParser(settings.limits());
        this.body = new BodyReader(settings.limits(), false);
    }

    // ---- state

    State state() {
        return state;
    }

    /** Whether any byte of the response has come. */
    boolean isBegun() {
        return begun || parser.isStarted();
    }

    /** Whether the response is such that another may follow it. */
    boolean isPersistent() {
        return persistent;
    }

    /** Whether what a client has proved may hold for the whole connection. */
    boolean isBound() {
        return bound;
    }

    /** Returns how long the peer says that it keeps the connection, -1 if it does not. */
    long keepAliveMillis() {
        return keepAliveMillis;
    }

    /** Whether the end of the connection is that of the response. */
    boolean endsWithConnection() {
        return state == State.BODY && body.framing() == Framing.UNTIL_CLOSE;
    }

    // ---- changes of state

    /** A response follows, because a request does. */
    void expect() {
        state = State.HEAD;
        begun = persistent = misframed = false;
        keepAliveMillis = -1;
        interim = 0;
    }

    /** No other response can follow. */
    void endPersistence() {
        persistent = false;
    }

    /** The response has ended, and its request has not, so that no other can follow. */
    void awaitRequest() {
        state = State.DONE;
        persistent = false;
    }

    /** Request and response have ended. */
    void idle() {
        state = State.IDLE;
    }

    void close() {
        state = State.CLOSED;
        parser.forget();
        body.forget();
        releaseUnfinished();
        switching = null;
        if (early != null) {
            early.release();
            early = null;
        }
    }

    /** Something is about to be handed on, so its receiver has something to flush at read-complete. */
    void handOnTo(Http1ClientStream open) {
        handedOnTo = open.events();
    }

    /** Returns to whom something was handed on since the last call, or null. */
    @Nullable
    ResponseEvents takeHandedOnTo() {
        ResponseEvents events = handedOnTo;
        handedOnTo = null;
        return events;
    }

    // ---- memory

    /** Charges the exchange's client for what has come of a head or of trailers, and fails the exchange if there is no room. */
    private void collect(Http1ClientStream open, int bytes) {
        if (bytes == 0) {
            return;
        }
        UnfinishedPart waiting = unfinished;
        if (waiting == null) {
            ConnectionInfo client = open.events().clientConnection();
            if (client == null) {
                return;
            }
            waiting = new UnfinishedPart(client, () -> failForMemory(open));
            unfinished = waiting;
        }
        long more = Math.max(0, bytes - waiting.collected.bytes());
        if (bytes <= UnfinishedInput.SLIGHT) {
            waiting.collected.add(more); // the answer to a request that was admitted does not fail for so little
        } else if (waiting.collected.tryAdd(more)) {
            waiting.stall();
        } else {
            waiting.cut();
        }
    }

    private void releaseUnfinished() {
        if (unfinished != null) {
            unfinished.release();
            unfinished = null;
        }
    }

    private void failForMemory(Http1ClientStream open) {
        String part = state == State.HEAD ? "head" : "trailers";
        connection.fail(open, Failure.of(Cause.OVERLOAD, "no memory is left for the " + part + " of a response"));
    }

    // ---- parsing

    /** Parses what was read; this owns it. */
    void read(ByteBuf read) {
        ByteBuf rest = read;
        while (rest != null) {
            rest = readSome(rest);
        }
    }

    /** Takes a part of the buffer; returns it if there may be more to take, else null. */
    private @Nullable ByteBuf readSome(ByteBuf in) {
        Http1ClientStream open = connection.stream();
        if (open == null || !in.isReadable()) {
            boolean unsolicited = in.isReadable() && state == State.IDLE;
            in.release();
            if (unsolicited) {
                connection.onViolation(Http1Violation.UNSOLICITED_RESPONSE);
            }
            return null;
        }
        switch (state) {
            case HEAD -> {
                if (!connection.isRequestReceived()) {
                    in.release();
                    connection.onEarlyResponse();
                    return null;
                }
                return readHead(open, in) ? in : null;
            }
            case BODY -> {
                return readBody(open, in);
            }
            case SWITCHING -> {
                keepForLater(in);
                return null;
            }
            case DONE -> {
                in.release();
                connection.onViolation(Http1Violation.UNSOLICITED_RESPONSE);
                return null;
            }
            case IDLE, CLOSED -> {
                in.release();
                return null;
            }
        }
        throw new IllegalStateException(state.name());
    }

    /** Reads a head; returns whether the buffer is still to be read, else it was released. */
    private boolean readHead(Http1ClientStream open, ByteBuf in) {
        begun = true;
        Progress progress = parser.parse(in);
        ResponseHead head = parser.head();
        if (progress == Progress.MORE) {
            in.release();
            collect(open, parser.heldBytes());
            return false;
        }
        releaseUnfinished();
        if (progress == Progress.REFUSED || head == null) {
            in.release();
            connection.onViolation(parser.violation());
            return false;
        }
        parser.forget(); // or an idle connection would keep its last head
        handOnTo(open);
        misframed |= isMisframed(head.status());
        if (head.isInterim() || head.status() == NO_CONTENT) {
            head.forgetLength(); // RFC 9110, section 8.6
        }
        if (head.isInterim()) {
            return readInterim(open, head, in);
        }
        if (proxy != null && head.status() == PROXY_AUTHENTICATION_REQUIRED) {
            // The client has nothing to answer with: what it shows to us stays here.
            in.release();
            connection.fail(open, Failure.of(Cause.CONNECT_FAILED, "parent " + proxy + ": answered 407"));
            return false;
        }
        if (open.isConnect() && head.status() < 300) {
            if (!open.isUpgrade()) {
                connection.becomeTunnel(open, head, in);
                return false;
            }
            if (!open.refuseUpgrade()) {
                in.release();
                connection.fail(open, Failure.of(Cause.UPSTREAM_PROTOCOL_ERROR, "the upstream ignored the upgrade"));
                return false;
            }
        }
        begin(open, head, in);
        return true;
    }

    private boolean readInterim(Http1ClientStream open, ResponseHead head, ByteBuf in) {
        Http1Violation found = null;
        if (head.status() != SWITCHING_PROTOCOLS) {
            if (++interim <= ResponseHead.MAX_INTERIM) {
                open.events().onHead(head, false);
                return true;
            }
            found = Http1Violation.TOO_MANY_INTERIM_RESPONSES;
        } else {
            found = open.refuse(head);
        }
        if (found != null) {
            in.release();
            connection.onViolation(found);
            return false;
        }
        if (open.isWish() && !open.isEnded()) {
            switching = head; // the request ends first, on the wire, too
            state = State.SWITCHING;
            return true;
        }
        switchOver(open, head, in);
        return false;
    }

    private void switchOver(Http1ClientStream open, ResponseHead head, ByteBuf in) {
        open.onGranted(head);
        Fields fields = head.fields();
        fields.remove(FieldName.UPGRADE);
        fields.remove(FieldName.SEC_WEBSOCKET_ACCEPT);
        fields.remove(FieldName.TRANSFER_ENCODING);
        fields.remove(FieldName.CONTENT_LENGTH);
        connection.becomeTunnel(open, new ResponseHead(OK, null, fields, RequestHead.UNKNOWN_LENGTH), in);
    }

    /** Keeps bytes of the protocol that begins when the request has ended. */
    private void keepForLater(ByteBuf in) {
        credit.received(in.readableBytes());
        ByteBuf before = early;
        early = before == null ? in : Unpooled.wrappedBuffer(before, in);
    }

    /** The request has ended: the connection switches if the upstream has said so before. */
    void onRequestEnded(Http1ClientStream open) {
        ResponseHead head = switching;
        if (state == State.SWITCHING && head != null) {
            ByteBuf in = early == null ? Unpooled.EMPTY_BUFFER : early;
            switching = null;
            early = null;
            credit.reset();
            switchOver(open, head, in);
        }
    }

    private void begin(Http1ClientStream open, ResponseHead head, ByteBuf in) {
        int status = head.status();
        bound |= open.isBound() || BoundAuthentication.isIn(head.fields(), FieldName.WWW_AUTHENTICATE);
        persistent = parser.isKeepAlive() && !misframed && (proxy == null || isKept(head.fields()));
        if (open.isTunnelRefused()) {
            open.end(); // so nothing follows the request's head
            persistent &= open.isUpgrade() || !open.isConnect();
        }
        keepAliveMillis = persistent ? ResponseParser.keepAliveMillis(head.fields()) : -1;
        if (open.isHeadRequest() || status == NO_CONTENT || status == NOT_MODIFIED) {
            body.start(Framing.NONE, 0);
        } else if (parser.isChunked()) {
            body.start(Framing.CHUNKED, 0);
        } else if (parser.contentLength() >= 0) {
            body.start(Framing.FIXED, parser.contentLength());
        } else {
            persistent = false;
            body.start(Framing.UNTIL_CLOSE, 0);
        }
        state = State.BODY;
        boolean last = body.framing() != Framing.CHUNKED && body.progress() == Progress.COMPLETE;
        if (last) {
            connection.onResponseEnd(open, in.isReadable());
        }
        open.events().onHead(head, last);
    }

    /**
     * Whether the response has framing that its status rules out, or such that two recipients may find its end in two
     * places. Then its sender may have sent a body that nobody expects, and what comes next would be taken for the
     * response to another request. RFC 9110, section 8.6, and RFC 9112, section 6.1, say so of 1xx and 204; RFC 9110,
     * section 15.3.6, of 205. A length of 0 announces nothing. Nobody reads a body of a 304, whatever it announces.
     */
    private boolean isMisframed(int status) {
        if (status == NOT_MODIFIED) {
            return false;
        }
        boolean bodiless = status < 200 || status == NO_CONTENT || status == 205;
        return parser.isFramingFaulty() || (bodiless && (parser.isChunked() || parser.contentLength() > 0));
    }

    /**
     * Whether a proxy says that it keeps the connection. There are some that send whatever follows the first request to
     * that one's destination, our credentials included; and they say nothing.
     */
    private static boolean isKept(Fields fields) {
        return fields.hasElement(FieldName.CONNECTION, HeadParser.KEEP_ALIVE)
                || fields.hasElement(FieldName.PROXY_CONNECTION, HeadParser.KEEP_ALIVE);
    }

    private @Nullable ByteBuf readBody(Http1ClientStream open, ByteBuf in) {
        int length = body.next(in);
        if (length > 0) {
            handOnTo(open);
            boolean whole = length == in.readableBytes();
            ByteBuf data = whole ? in : in.readRetainedSlice(length);
            credit.received(length);
            if (body.framing() == Framing.FIXED && body.remaining() == 0) {
                connection.onResponseEnd(open, !whole);
                open.events().onData(data, true);
            } else {
                open.events().onData(data, false);
            }
            return whole ? null : in;
        }
        switch (body.progress()) {
            case MORE -> {
                in.release();
                collect(open, body.heldBytes());
                return null;
            }
            case REFUSED -> {
                in.release();
                connection.onViolation(body.violation());
                return null;
            }
            case COMPLETE -> {
                handOnTo(open);
                Fields trailers = body.trailers();
                body.forget();
                releaseUnfinished();
                connection.onResponseEnd(open, in.isReadable());
                if (trailers != null) {
                    open.events().onTrailers(trailers);
                } else {
                    open.events().onData(Unpooled.EMPTY_BUFFER, true);
                }
                return in;
            }
        }
        throw new IllegalStateException();
    }
}
