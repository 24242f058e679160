package dev.gateway.http1;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.Drainable;
import dev.gateway.net.TunnelHalf;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.StreamEvents;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * A downstream HTTP/1 connection: one request at a time becomes a {@link Http1ServerStream}; what a client pipelines
 * waits, unread beyond a bound. Made by the listener, the last handler of its channel, confined to its event loop.
 *
 * <p>A client error or timeout in a request body is reported by {@code onReset}; if no response has begun, the core may
 * still answer before it returns from there.
 */
public final class Http1ServerConnection extends Http1Connection implements Drainable {
    private static final AsciiString EXPECT_CONTINUE = new AsciiString("100-continue");

    /** What is read beyond the request being answered. */
    private static final int MAX_PIPELINED = 64 * 1024;

    /** What is read and dropped of a request body that nobody wants, so that the connection can persist. */
    private static final int MAX_DISCARDED = 64 * 1024;

    /** How long, and how much, is read and dropped so that the last response is not lost to a TCP reset. */
    private static final long LINGER_MILLIS = 2_000;

    private static final long MAX_LINGER_BYTES = 16L << 20;

    private final ConnectionInfo info;
    private final RequestHandler handler;
    private final Http1ServerSettings settings;
    private final RequestParser parser;
    private final BodyReader body;
    private final Unread unread = new Unread();
    private final Timer inputTimer = new InputTimer();
    private final Timer ageTimer = new AgeTimer();

    @SuppressWarnings("NullAway.Init")
    private ServerOutput output;

    private Input input = Input.HEAD;
    private @Nullable Http1ServerStream stream; // the one whose response has not ended
    private @Nullable TunnelHalf tunnel; // that the connection has become
    private boolean opened;
    private boolean first = true;
    private long headNanos; // when the current head began, 0 if it came at once
    private boolean reading; // between channelRead and channelReadComplete
    private boolean processing;
    private boolean draining; // takes no further request
    private boolean drainTold;
    private long received; // of the request body
    private long discarded;

    /** Makes the handler of a connection that speaks HTTP/1, to be added to its channel. */
    public Http1ServerConnection(
            ConnectionInfo info,
            RequestHandler handler,
            ConnectionObserver observer,
            TimerWheel timers,
            Http1ServerSettings settings) {
        super(observer, timers);
        this.info = info;
        this.handler = handler;
        this.settings = settings;
        this.parser = new RequestParser(settings.limits(), info.scheme());
        this.body = new BodyReader(settings.limits());
    }

    /** What the next bytes from the client are. */
    private enum Input {
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

    ConnectionInfo info() {
        return info;
    }

    // ---- the channel's life ----

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        super.handlerAdded(ctx);
        output = new ServerOutput(ctx, this, timers, settings.responseWriteIdleMillis());
        if (ctx.channel().isActive()) {
            open();
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        open();
        ctx.fireChannelActive();
    }

    private void open() {
        if (!opened) {
            opened = true;
            arm(inputTimer, settings.idleMillis());
            arm(ageTimer, settings.maxConnectionAgeMillis());
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        closed(Failure.of(Cause.CLIENT_CLOSED, "the client closed the connection"));
        ctx.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        closed(Failure.of(Cause.CLIENT_CLOSED, "the connection was taken over"));
    }

    /** Takes leave: nothing of this object happens afterwards. */
    private void closed(Failure failure) {
        Input before = input;
        input = Input.CLOSED;
        inputTimer.cancel();
        ageTimer.cancel();
        output.stop();
        unread.release();
        Http1ServerStream open = stream;
        stream = null;
        if (open != null && before != Input.CLOSED) {
            tellReset(open, failure);
        }
    }

    private static void tellReset(Http1ServerStream open, Failure failure) {
        open.end();
        StreamEvents events = open.events();
        open.setEvents(null);
        if (events != null) {
            events.onReset(failure);
        }
    }

    @Override
    boolean isOfUse() {
        return input != Input.CLOSED && input != Input.DROPPED;
    }

    @Override
    void onFailed() {
        ctx.close();
    }

    /** Not an abort: the client may still want its response. */
    @Override
    void onInputEnded() {
        switch (input) {
            case HEAD -> {
                if (unread.isEmpty()) {
                    closeAfterWrites();
                }
            }
            case BODY -> {
                if (stream == null) {
                    closeAfterWrites();
                } else {
                    ctx.close();
                }
            }
            case WAITING -> {} // its response first
            case DROPPED -> {
                if (stream == null) {
                    closeAfterWrites();
                }
            }
            case CLOSED -> {}
        }
    }

    // ---- input ----

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        reading = true;
        unread.add(ctx.alloc(), (ByteBuf) message);
        process();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        reading = false;
        onBatchEnd();
        ctx.fireChannelReadComplete();
    }

    private void onBatchEnd() {
        Http1ServerStream open = stream;
        StreamEvents events = open == null ? null : open.events();
        if (events != null) {
            events.onReadComplete();
        }
        output.flush();
    }

    /** Goes through what was read as far as the state lets it. */
    private void process() {
        if (processing) {
            return;
        }
        processing = true;
        boolean more = true;
        for (ByteBuf in = unread.peek(); more && in != null; in = unread.peek()) {
            more = switch (input) {
                case HEAD -> ctx.channel().isWritable() ? readHead(in) : leave(in);
                case BODY -> readBody(in);
                case DROPPED -> drop(in);
                case WAITING -> leave(in);
                case CLOSED -> {
                    unread.release();
                    yield false;
                }
            };
        }
        processing = false;
        if (isInputEnded() && input == Input.HEAD && unread.isEmpty()) {
            closeAfterWrites(); // what is left of the last head never comes
        }
        if (!reading) {
            onBatchEnd();
        }
    }

    /**
     * Leaves requests unread while another is being answered, and while the client does not read the answers to those
     * before: each would add to what waits for it.
     */
    private boolean leave(ByteBuf in) {
        if (in.readableBytes() > MAX_PIPELINED) {
            credit.hold();
        }
        return false;
    }

    private boolean readHead(ByteBuf in) {
        boolean started = parser.isStarted();
        headNanos = started ? headNanos : 0;
        Progress progress = parser.parse(in);
        if (progress == Progress.MORE) {
            if (parser.isStarted()) {
                if (!started) {
                    headNanos = timers.nanoTime();
                    arm(inputTimer, settings.requestHeadersMillis());
                }
            } else if (!draining) {
                arm(inputTimer, settings.idleMillis()); // empty lines begin no request
            }
            return false;
        }
        inputTimer.cancel();
        RequestHead head = parser.head();
        if (progress == Progress.REFUSED || head == null) {
            observer.onViolation(parser.violation().kind());
            refuse(head, parser.violation().downstream());
            return true;
        }
        if (settings.maxBodyBytes() > 0 && head.contentLength() > settings.maxBodyBytes()) {
            refuse(head, Failure.of(Cause.BODY_TOO_LARGE, "the announced body is too large"));
            return true;
        }
        if (first && upgrade(head, in)) {
            return false;
        }
        first = false;
        begin(head, mayUpgrade(head) ? UpgradeRequest.translate(head) : null);
        return true;
    }

    /** Returns when the first bytes of the last head were there, 0 if all of it came at once. */
    long headNanos() {
        return headNanos;
    }

    private boolean upgrade(RequestHead head, ByteBuf in) {
        Upgrade upgrade = settings.upgrade();
        if (upgrade == null || !mayUpgrade(head)) {
            return false;
        }
        byte[] payload = UpgradeRequest.settings(head.fields());
        if (payload == null) {
            return false;
        }
        ByteBuf rest = in.isReadable() ? in.retain() : Unpooled.EMPTY_BUFFER;
        boolean upgraded = upgrade.upgrade(ctx, head, payload, rest);
        if (upgraded) {
            unread.release();
        } else {
            rest.release();
        }
        return upgraded;
    }

    /** Whether a wish for another protocol counts, as far as the message goes. */
    private boolean mayUpgrade(RequestHead head) {
        return head.method().equals(Method.GET)
                && !parser.isHttp10()
                && !parser.isChunked()
                && head.contentLength() <= 0;
    }

    private void begin(RequestHead head, @Nullable AsciiString key) {
        Http1ServerStream open = new Http1ServerStream(this, head, key, parser.isHttp10(), parser.isKeepAlive());
        stream = open;
        received = discarded = 0;
        boolean last = !parser.isChunked() && head.contentLength() <= 0;
        if (last) {
            body.start(Framing.NONE, 0);
            input = Input.WAITING; // also for CONNECT: what follows its head belongs to the tunnel, once there is one
            last = !open.isConnect();
        } else {
            body.start(parser.isChunked() ? Framing.CHUNKED : Framing.FIXED, head.contentLength());
            input = Input.BODY;
            if (!parser.isHttp10() && head.fields().hasElement(FieldName.EXPECT, EXPECT_CONTINUE)) {
                open.awaitContinue();
            }
            arm(inputTimer, settings.requestBodyIdleMillis());
        }
        StreamEvents events = handler.onRequest(open, head, last);
        if (open == stream) {
            open.setEvents(events);
            if (open.isTunnel()) {
                becomeTunnel(open);
            }
            if (drainTold) {
                tellDraining();
            }
        }
    }

    private boolean readBody(ByteBuf in) {
        Http1ServerStream open = stream;
        int length = body.next(in);
        if (length > 0) {
            arm(inputTimer, settings.requestBodyIdleMillis());
            received += length;
            if (open == null) {
                return discard(in, length);
            }
            open.onBodyBegun();
            if (settings.maxBodyBytes() > 0 && received > settings.maxBodyBytes()) {
                fail(open, Failure.of(Cause.BODY_TOO_LARGE, "the body is too large"));
                return true;
            }
            boolean last = body.framing() == Framing.FIXED && body.remaining() == 0;
            if (last) {
                onRequestRead();
            }
            ByteBuf data = unread.take(in, length);
            credit.received(length);
            StreamEvents events = open.events();
            if (events == null) {
                data.release();
            } else {
                events.onData(data, last);
            }
            return true;
        }
        switch (body.progress()) {
            case MORE -> {
                return false;
            }
            case REFUSED -> {
                observer.onViolation(body.violation().kind());
                if (open == null) {
                    finish();
                } else {
                    fail(open, body.violation().downstream());
                }
            }
            case COMPLETE -> {
                Fields trailers = body.trailers();
                onRequestRead();
                StreamEvents events = open == null ? null : open.events();
                if (events != null && trailers != null) {
                    events.onTrailers(trailers);
                } else if (events != null) {
                    events.onData(Unpooled.EMPTY_BUFFER, true);
                }
            }
        }
        return true;
    }

    private boolean discard(ByteBuf in, int length) {
        in.skipBytes(length);
        discarded += length;
        if (body.progress() == Progress.COMPLETE) {
            onRequestRead();
        } else if (discarded > MAX_DISCARDED) {
            finish();
        }
        return true;
    }

    private boolean drop(ByteBuf in) {
        discarded += in.readableBytes();
        unread.release();
        if (discarded > MAX_LINGER_BYTES) {
            ctx.close();
        }
        return false;
    }

    /** The request has been read to its end. */
    private void onRequestRead() {
        inputTimer.cancel();
        input = Input.WAITING;
        if (stream == null) {
            next();
        }
    }

    // ---- refusals and failures ----

    private void refuse(@Nullable RequestHead head, Failure failure) {
        input = Input.DROPPED;
        draining = true;
        Http1ServerStream open = new Http1ServerStream(this, head, null, head != null && parser.isHttp10(), false);
        stream = open;
        handler.onRefused(open, head, failure);
    }

    /** The request cannot be completed. If nothing was answered yet, the core may answer now. */
    private void fail(Http1ServerStream open, Failure failure) {
        if (input == Input.BODY) {
            input = Input.DROPPED;
        }
        draining = true;
        inputTimer.cancel();
        StreamEvents events = open.events();
        open.setEvents(null);
        if (events != null) {
            events.onReset(failure);
        }
        if (stream == open) {
            if (open.isStarted()) {
                reset(open);
            } else {
                open.head(new ResponseHead(failure.status(), null, new Fields(), 0), true);
            }
        }
    }

    private void onInputTimeout() {
        Http1ServerStream open = stream;
        if (credit.isPaused() || (open != null && open.isAwaitingContinue())) {
            arm(inputTimer, settings.requestBodyIdleMillis()); // the silence is ours
            return;
        }
        if (input == Input.HEAD && parser.isStarted()) {
            refuse(null, Failure.of(Cause.CLIENT_TIMEOUT, "the request head did not come in time"));
            output.flush();
        } else if (input == Input.BODY && open != null) {
            fail(open, Failure.of(Cause.CLIENT_TIMEOUT, "the request body did not come in time"));
            output.flush();
        } else {
            if (input == Input.HEAD && !draining) {
                observer.onIdleClosed();
            }
            closeAfterWrites();
        }
    }

    // ---- output, called by the stream ----

    @Override
    void write(ByteBuf data) {
        output.write(data);
    }

    /** Also for a stream that has ended: what it wrote last may be waiting. */
    @Override
    void flush() {
        if (!reading && !processing) {
            output.flush();
        }
    }

    /** The client was told to send its body: from now on it is the client that is waited for. */
    void onContinueSent() {
        if (input == Input.BODY) {
            arm(inputTimer, settings.requestBodyIdleMillis());
        }
    }

    @Override
    void consumed(OutgoingStream from, int bytes) {
        if (from == stream) {
            credit.consumed(bytes);
        }
    }

    /** Whether the connection can take another request after a response that is about to begin. */
    boolean mayPersist(boolean withoutBody) {
        boolean noMoreComes = isInputEnded() && unread.isEmpty();
        boolean tooMuchToDiscard = withoutBody && input == Input.BODY && body.remaining() > MAX_DISCARDED;
        return !draining && !noMoreComes && !tooMuchToDiscard;
    }

    @Override
    void reset(OutgoingStream from) {
        Http1ServerStream open = stream;
        if (open != null && from == open) {
            stream = null;
            open.end();
            open.setEvents(null);
            input = Input.CLOSED;
            if (open.isStarted()) {
                output.abort();
            } else {
                ctx.close();
            }
        }
    }

    /** The head that opens a tunnel was written. */
    void becomeTunnel(Http1ServerStream open) {
        StreamEvents events = open.events();
        if (open != stream || events == null) {
            return; // who is told what the client does is not known yet: begin() comes back to this
        }
        output.flush();
        stream = null;
        input = Input.CLOSED;
        ByteBuf early = unread.takeAll();
        TunnelHalf half = replaceBy(new TunnelHalf(new Tunnelled(), events, observer, timers), open);
        tunnel = half;
        if (open.isEnded()) {
            half.data(Unpooled.EMPTY_BUFFER, true);
        }
        half.begin(early, isInputEnded());
    }

    /** The connection as its tunnel knows it. */
    private static final class Tunnelled implements TunnelHalf.Owner {
        @Override
        public Failure lost(String detail) {
            return Failure.of(Cause.CLIENT_CLOSED, detail);
        }

        @Override
        public void onClosed() {}
    }

    @Override
    void onSent(OutgoingStream sent) {
        Http1ServerStream from = stream;
        if (from == null || sent != from || from.isTunnel()) {
            return;
        }
        from.setEvents(null);
        stream = null;
        credit.reset();
        if (!from.isKeepAlive() || (from.isConnect() && !unread.isEmpty())) {
            finish(); // after a refused CONNECT, bytes sent in hope of a tunnel are no request
        } else if (input == Input.WAITING) {
            next();
        } else if (input == Input.BODY && body.remaining() > MAX_DISCARDED) {
            finish();
        }
    }

    /** Both the request and its response have ended: on to the next request. */
    private void next() {
        credit.reset();
        credit.release();
        if (draining || (isInputEnded() && unread.isEmpty())) {
            finish();
            return;
        }
        input = Input.HEAD;
        if (unread.isEmpty()) {
            arm(inputTimer, settings.idleMillis());
        } else {
            process();
        }
    }

    /** Closes after the last response, in a way that lets the client read it. */
    private void finish() {
        boolean moreMayCome = (input != Input.WAITING && input != Input.HEAD) || !unread.isEmpty();
        unread.release();
        if (isInputEnded() || !moreMayCome) {
            closeAfterWrites();
            return;
        }
        // Closing with bytes unread would send a TCP reset, which destroys what the client has not read yet.
        input = Input.DROPPED;
        credit.reset();
        credit.release();
        output.shutdown().addListener(sent -> timers.arm(inputTimer, LINGER_MILLIS));
    }

    private void closeAfterWrites() {
        input = Input.CLOSED;
        output.closeAfterWrites();
    }

    /** What was written waits for a client that takes none of it. */
    void onClientNotReading() {
        closed(Failure.of(Cause.CLIENT_TIMEOUT, "the client does not read its response"));
        output.abort();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) {
            Http1ServerStream open = stream;
            StreamEvents events = open == null ? null : open.events();
            if (events != null) {
                events.onWritable();
            } else if (input == Input.HEAD && !unread.isEmpty()) {
                credit.release();
                process();
            }
        }
        ctx.fireChannelWritabilityChanged();
    }

    // ---- ending from our side ----

    @Override
    public void discourage() {
        draining = true;
    }

    @Override
    public void drain() {
        if (!drainTold) {
            drainTold = true;
            draining = true;
            closeIfIdle();
            tellDraining();
        }
    }

    private void tellDraining() {
        StreamEvents events = stream == null ? null : stream.events();
        if (tunnel != null) {
            tunnel.drain();
        } else if (events != null) {
            events.onDraining();
        }
    }

    /** Takes no further request. */
    private void retire() {
        if (!draining) {
            draining = true;
            closeIfIdle();
        }
    }

    private void closeIfIdle() {
        if (input == Input.HEAD && !parser.isStarted() && !processing && unread.isEmpty()) {
            if (first) {
                arm(inputTimer, FIRST_REQUEST_MILLIS);
            } else {
                closeAfterWrites();
            }
        }
    }

    @Override
    public void end(Failure failure) {
        Http1ServerStream open = stream;
        if (tunnel != null) {
            tunnel.end(failure);
            ctx.channel().close(); // also if it had ended before, and what it wrote has not left yet
        } else if (open != null && (input == Input.BODY || input == Input.WAITING)) {
            fail(open, failure);
            output.flush();
        } else {
            ctx.close();
        }
    }

    private void arm(Timer timer, long millis) {
        if (millis > 0) {
            timers.arm(timer, millis);
        }
    }

    private final class InputTimer extends Timer {
        @Override
        protected void onExpired() {
            onInputTimeout();
        }
    }

    private final class AgeTimer extends Timer {
        @Override
        protected void onExpired() {
            retire();
        }
    }
}
