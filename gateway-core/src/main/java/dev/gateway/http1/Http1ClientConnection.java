package dev.gateway.http1;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.TunnelHalf;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.RetrySafety;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.SslHandler;
import org.jspecify.annotations.Nullable;

/**
 * An upstream HTTP/1 connection: one exchange at a time, kept in between by whoever made it, who is its {@link
 * Listener}. The last handler of its channel, confined to its event loop.
 */
public final class Http1ClientConnection extends Http1Connection {
    private static final int SWITCHING_PROTOCOLS = 101;
    private static final int OK = 200;

    private final Listener listener;
    private final ResponseParser parser;
    private final BodyReader body;
    private final ChannelFutureListener headSent = this::onHeadSent;

    private Input input = Input.IDLE;
    private @Nullable Http1ClientStream stream; // the exchange that has not ended in both directions
    private @Nullable ResponseEvents touched; // who is to be told at read-complete
    private boolean reused;
    private boolean persistent; // as the response says
    private boolean responseBegun; // any byte of it
    private boolean requestReceived; // the head was handed to the kernel, so the peer may have acted on it
    private boolean dirty; // written and not flushed
    private int interim; // responses to the request so far
    private long keepAliveMillis;

    /** Makes the handler of an established connection, to be added to its channel. */
    public Http1ClientConnection(
            Listener listener, ConnectionObserver observer, TimerWheel timers, Http1ClientSettings settings) {
        super(observer, timers);
        this.listener = listener;
        this.parser = new ResponseParser(settings.limits());
        this.body = new BodyReader(settings.limits());
    }

    /** Who keeps the connection. */
    public interface Listener {
        /**
         * The exchange has ended and the connection takes another; it may be opened before this returns.
         *
         * @param keepAliveMillis how long the peer says it keeps the connection (RFC 2068, section 19.7.1), -1 if it
         *     does not
         */
        void onReusable(Http1ClientConnection connection, long keepAliveMillis);

        /** The connection has closed or is about to; called once, whether or not an exchange was in progress. */
        void onClosed(Http1ClientConnection connection);
    }

    /** What the next bytes from the upstream are. */
    private enum Input {
        /** None are expected. */
        IDLE,
        HEAD,
        BODY,
        /** The response has ended and the request has not. */
        DONE,
        /** None: the connection is closed, or has become a tunnel. */
        CLOSED
    }

    /**
     * Opens a stream. To be called when the connection is new, or has been reported reusable.
     *
     * @throws IllegalStateException if an exchange is in progress or the connection is closed
     */
    public ClientStream open(ResponseEvents events) {
        if (!isIdle()) {
            throw new IllegalStateException("not idle: " + input);
        }
        Http1ClientStream open = new Http1ClientStream(this, events);
        stream = open;
        input = Input.HEAD;
        persistent = responseBegun = requestReceived = false;
        keepAliveMillis = -1;
        interim = 0;
        return open;
    }

    /** Whether {@link #open} may be called. */
    public boolean isIdle() {
        return input == Input.IDLE && ctx.channel().isActive();
    }

    /** Closes the connection at once; an exchange in progress is told that the upstream was lost. */
    public void close() {
        ctx.close();
    }

    /** Closes the connection at once; an exchange in progress is told why. */
    public void end(Failure failure) {
        if (stream == null) {
            shut();
        } else {
            fail(stream, failure);
        }
    }

    // ---- the channel's life ----

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        endInput(); // a transport without half-closure has not said so before
        lost("the upstream closed the connection");
        ctx.fireChannelInactive();
    }

    @Override
    boolean isOfUse() {
        return input != Input.CLOSED;
    }

    @Override
    void onFailed() {
        lost("the connection to the upstream failed");
    }

    @Override
    void onInputEnded() {
        Http1ClientStream open = stream;
        if (open != null && input == Input.BODY && body.framing() == Framing.UNTIL_CLOSE && !isCutShort()) {
            touched = open.events();
            endResponse(open, false);
            open.events().onData(Unpooled.EMPTY_BUFFER, true);
            onBatchEnd();
        } else if (input != Input.DONE) {
            lost("the upstream closed the connection");
        }
    }

    /** Anybody on the way can send a FIN; only the upstream can send close_notify (RFC 9112, section 9.8). */
    private boolean isCutShort() {
        SslHandler tls = ctx.pipeline().get(SslHandler.class);
        return tls != null && !tls.engine().isInboundDone();
    }

    /** The connection has ended, whatever was in progress. */
    private void lost(String detail) {
        Http1ClientStream open = stream;
        Input before = input;
        boolean unsent = !requestReceived;
        shut();
        if (open == null || before == Input.DONE) {
            return;
        }
        if (before == Input.BODY) {
            open.events().onReset(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, detail));
            return;
        }
        RetrySafety retry = unsent
                ? RetrySafety.ALWAYS
                : responseBegun || parser.isStarted() ? RetrySafety.NEVER : RetrySafety.IF_IDEMPOTENT;
        Cause cause = Cause.UPSTREAM_RESET_BEFORE_HEADERS;
        boolean stale = reused && retry != RetrySafety.NEVER;
        open.events().onReset(new Failure(cause, cause.status(), retry, stale, detail));
    }

    /** Closes the channel and takes leave of the exchange and the listener, without an event. */
    private void shut() {
        Http1ClientStream open = stream;
        stream = null;
        if (open != null) {
            open.end();
        }
        if (input != Input.CLOSED) {
            input = Input.CLOSED;
            listener.onClosed(this);
        }
        ctx.close();
    }

    /** The exchange cannot go on. */
    void fail(Http1ClientStream from, Failure failure) {
        if (from == stream) {
            boolean told = input != Input.DONE;
            shut();
            if (told) {
                from.events().onReset(failure);
            }
        }
    }

    private void violation(Violation violation) {
        observer.onViolation(violation.kind());
        Http1ClientStream open = stream;
        if (open == null) {
            shut();
        } else {
            fail(open, violation.upstream());
        }
    }

    // ---- input ----

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf rest = (ByteBuf) message;
        while (rest != null) {
            rest = read(rest);
        }
    }

    /** Takes a part of the buffer; returns it if there may be more to take, else null. */
    private @Nullable ByteBuf read(ByteBuf in) {
        Http1ClientStream open = stream;
        if (open == null || !in.isReadable()) {
            boolean unsolicited = in.isReadable() && input == Input.IDLE;
            in.release();
            if (unsolicited) {
                violation(Violation.UNSOLICITED_RESPONSE);
            }
            return null;
        }
        switch (input) {
            case HEAD -> {
                if (!requestReceived) {
                    in.release();
                    observer.onViolation(Violation.UNSOLICITED_RESPONSE.kind());
                    lost("bytes came before the request was sent"); // a farewell, most likely
                    return null;
                }
                return readHead(open, in) ? in : null;
            }
            case BODY -> {
                return readBody(open, in);
            }
            case DONE -> {
                in.release();
                violation(Violation.UNSOLICITED_RESPONSE);
                return null;
            }
            case IDLE, CLOSED -> {
                in.release();
                return null;
            }
        }
        throw new IllegalStateException(input.name());
    }

    /** Reads a head; returns whether the buffer is still to be read, else it was released. */
    private boolean readHead(Http1ClientStream open, ByteBuf in) {
        responseBegun = true;
        Progress progress = parser.parse(in);
        ResponseHead head = parser.head();
        if (progress == Progress.MORE) {
            in.release();
            return false;
        }
        if (progress == Progress.REFUSED || head == null) {
            in.release();
            violation(parser.violation());
            return false;
        }
        touched = open.events();
        if (head.isInterim()) {
            return readInterim(open, head, in);
        }
        if (open.isConnect() && head.status() < 300) {
            if (!open.isUpgrade()) {
                becomeTunnel(open, head, in);
                return false;
            }
            if (!open.refuseUpgrade()) {
                in.release();
                fail(open, Failure.of(Cause.UPSTREAM_PROTOCOL_ERROR, "the upstream ignored the upgrade"));
                return false;
            }
        }
        begin(open, head, in);
        return true;
    }

    private boolean readInterim(Http1ClientStream open, ResponseHead head, ByteBuf in) {
        Violation found = null;
        if (head.status() != SWITCHING_PROTOCOLS) {
            if (++interim <= ResponseHead.MAX_INTERIM) {
                open.events().onHead(head, false);
                return true;
            }
            found = Violation.TOO_MANY_INTERIM_RESPONSES;
        } else if (!open.isUpgrade()) {
            found = Violation.UNEXPECTED_UPGRADE;
        } else if (!open.isUpgradedBy(head) || parser.isChunked() || parser.contentLength() > 0) {
            found = Violation.BAD_UPGRADE;
        }
        if (found != null) {
            in.release();
            violation(found);
            return false;
        }
        Fields fields = head.fields();
        fields.remove(FieldName.UPGRADE);
        fields.remove(FieldName.SEC_WEBSOCKET_ACCEPT);
        becomeTunnel(open, new ResponseHead(OK, null, fields, RequestHead.UNKNOWN_LENGTH), in);
        return false;
    }

    private void becomeTunnel(Http1ClientStream open, ResponseHead head, ByteBuf in) {
        stream = null;
        touched = null;
        input = Input.CLOSED;
        TunnelHalf tunnel = replaceBy(new TunnelHalf(new Tunnelled(), open.events(), observer, timers), open);
        open.events().onHead(head, false);
        open.sendEarly(tunnel);
        tunnel.begin(in, isInputEnded());
    }

    /** The connection as its tunnel knows it. */
    private final class Tunnelled implements TunnelHalf.Owner {
        @Override
        public Failure lost(String detail) {
            return Failure.of(Cause.UPSTREAM_RESET_IN_BODY, detail);
        }

        @Override
        public void onClosed() {
            listener.onClosed(Http1ClientConnection.this);
        }
    }

    private void begin(Http1ClientStream open, ResponseHead head, ByteBuf in) {
        int status = head.status();
        persistent = parser.isKeepAlive();
        if (open.isTunnelRefused()) {
            open.end(); // so nothing follows the request's head
            persistent &= open.isUpgrade() || !open.isConnect();
        }
        keepAliveMillis = persistent ? ResponseParser.keepAliveMillis(head.fields()) : -1;
        if (open.isHeadRequest() || status == 204 || status == 304) {
            body.start(Framing.NONE, 0);
        } else if (parser.isChunked()) {
            body.start(Framing.CHUNKED, 0);
        } else if (parser.contentLength() >= 0) {
            body.start(Framing.FIXED, parser.contentLength());
        } else {
            persistent = false;
            body.start(Framing.UNTIL_CLOSE, 0);
        }
        input = Input.BODY;
        boolean last = body.framing() != Framing.CHUNKED && body.progress() == Progress.COMPLETE;
        if (last) {
            endResponse(open, in.isReadable());
        }
        open.events().onHead(head, last);
    }

    private @Nullable ByteBuf readBody(Http1ClientStream open, ByteBuf in) {
        int length = body.next(in);
        if (length > 0) {
            touched = open.events();
            boolean whole = length == in.readableBytes();
            ByteBuf data = whole ? in : in.readRetainedSlice(length);
            credit.received(length);
            if (body.framing() == Framing.FIXED && body.remaining() == 0) {
                endResponse(open, !whole);
                open.events().onData(data, true);
            } else {
                open.events().onData(data, false);
            }
            return whole ? null : in;
        }
        switch (body.progress()) {
            case MORE -> {
                in.release();
                return null;
            }
            case REFUSED -> {
                in.release();
                violation(body.violation());
                return null;
            }
            case COMPLETE -> {
                touched = open.events();
                boolean more = in.isReadable();
                Fields trailers = body.trailers();
                endResponse(open, more);
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

    /**
     * The response has ended. Comes before its last part is handed on, so that what the core does next can use this
     * connection already.
     *
     * @param more whether more bytes were read than belong to it
     */
    private void endResponse(Http1ClientStream open, boolean more) {
        if (more) {
            observer.onViolation(Violation.UNSOLICITED_RESPONSE.kind());
            persistent = false;
        }
        if (!open.isEnded()) {
            input = Input.DONE; // the core either completes the request or resets it
            persistent = false;
            return;
        }
        endExchange();
    }

    private void endExchange() {
        credit.reset();
        if (!persistent || isInputEnded()) {
            shut();
            return;
        }
        stream = null;
        input = Input.IDLE;
        reused = true;
        listener.onReusable(this, keepAliveMillis);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        onBatchEnd();
        ctx.fireChannelReadComplete();
    }

    private void onBatchEnd() {
        ResponseEvents events = touched;
        touched = null;
        if (events != null) {
            events.onReadComplete();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        Http1ClientStream open = stream;
        if (open != null && ctx.channel().isWritable()) {
            open.events().onWritable(); // also after the request's last part, for which credit may still be owed
        }
        ctx.fireChannelWritabilityChanged();
    }

    // ---- output, called by the stream ----

    void writeHead(ByteBuf head) {
        dirty = true;
        ctx.write(head).addListener(headSent);
    }

    private void onHeadSent(ChannelFuture future) {
        if (future.isSuccess()) {
            requestReceived = true;
        } else {
            lost("the request could not be sent");
        }
    }

    @Override
    void write(ByteBuf data) {
        dirty = true;
        ctx.write(data, ctx.voidPromise());
        if (!ctx.channel().isWritable()) {
            flush();
        }
    }

    @Override
    void flush() {
        if (dirty) {
            dirty = false;
            ctx.flush();
        }
    }

    @Override
    void onSent(OutgoingStream from) {
        if (from == stream && input == Input.DONE) {
            endExchange();
        }
    }

    @Override
    void consumed(OutgoingStream from, int bytes) {
        if (from == stream) {
            credit.consumed(bytes);
        }
    }

    @Override
    void reset(OutgoingStream from) {
        if (from == stream) {
            shut();
        }
    }
}
