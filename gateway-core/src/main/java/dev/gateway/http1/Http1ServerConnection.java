package dev.gateway.http1;

import dev.gateway.http1.RequestInput.State;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ByteStreamHalf;
import dev.gateway.net.Drainable;
import dev.gateway.net.Lingering;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
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

    private final ConnectionInfo info;
    private final RequestHandler handler;
    private final Http1ServerSettings settings;
    private final RequestInput input;
    private final ClientTimeouts patience;
    private final ClientFin fin;
    private final RefusalDelay rest;
    private final CloseAnnouncement leave;

    @SuppressWarnings("NullAway.Init")
    private ServerOutput output;

    @SuppressWarnings("NullAway.Init")
    Lingering lingering;

    private @Nullable Http1ServerStream stream; // the one whose response has not ended
    private @Nullable ByteStreamHalf tunnel; // that the connection has become
    private boolean reading; // between channelRead and channelReadComplete

    /** Makes the handler of a connection that speaks HTTP/1, to be added to its channel, which is open by then. */
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
        this.input = new RequestInput(this, settings.limits(), info.scheme());
        this.fin = new ClientFin(settings.halfClose());
        this.patience = new ClientTimeouts(this, timers, settings);
        this.rest = new RefusalDelay(this, timers);
        this.leave = new CloseAnnouncement(this, timers);
    }

    ConnectionInfo info() {
        return info;
    }

    /** Returns when the first bytes of the last head were there, 0 if all of it came at once. */
    long headNanos() {
        return input.headNanos();
    }

    // ---- the channel's life ----

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        super.handlerAdded(ctx);
        lingering = new Lingering(ctx.channel(), timers);
        output = new ServerOutput(ctx, this, timers, settings.responseWriteIdleMillis());
        patience.waitForRequest();
        leave.begin(settings.maxConnectionAgeMillis());
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        closed(Failure.of(Cause.CLIENT_CLOSED, "the client closed the connection"));
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        closed(Failure.of(Cause.CLIENT_CLOSED, "the connection was taken over"));
    }

    /** Takes leave: nothing of this object happens afterwards. */
    private void closed(Failure failure) {
        boolean wasOpen = input.state() != State.CLOSED;
        input.close();
        patience.cancel();
        rest.cancel();
        leave.cancel();
        lingering.cancel();
        output.stop();
        input.release();
        Http1ServerStream open = stream;
        stream = null;
        if (open != null && wasOpen) {
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
        return input.state() != State.CLOSED && input.state() != State.DROPPED;
    }

    @Override
    void onFailed() {
        output.close();
    }

    @Override
    void onInputEnded() {
        switch (input.state()) {
            case HEAD -> {
                if (input.isEmpty()) {
                    closeAfterWrites();
                }
            }
            case BODY -> {
                if (stream == null) {
                    closeAfterWrites();
                } else {
                    output.close();
                }
            }
            case WAITING -> {
                if (stream != null && hasGivenUp(stream)) {
                    output.close();
                }
            }
            case DROPPED -> {
                if (stream == null) {
                    closeAfterWrites();
                }
            }
            case CLOSED -> {}
        }
    }

    /**
     * Whether the FIN that has come says that the client does not want its response. A response that has begun goes on until
     * the client resets the connection. A client of CONNECT that has sent bytes ahead ends its half of the tunnel.
     */
    private boolean hasGivenUp(Http1ServerStream open) {
        boolean tunnelHalfEnded = open.isConnect() && !input.isEmpty();
        return !open.isStarted() && !tunnelHalfEnded && fin.isAbort();
    }

    // ---- input ----

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        reading = true;
        fin.onRead();
        input.add((ByteBuf) message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        reading = false;
        onBatchEnd();
    }

    private void onBatchEnd() {
        Http1ServerStream open = stream;
        StreamEvents events = open == null ? null : open.events();
        if (events != null) {
            events.onReadComplete();
        }
        output.flush();
    }

    // ---- told by the input ----

    /** As much as can be of what was read has been gone through. */
    void onProcessed() {
        if (isInputEnded() && input.state() == State.HEAD && input.isEmpty()) {
            closeAfterWrites(); // what is left of the last head never comes
        }
        if (!reading) {
            onBatchEnd();
        }
    }

    /** Empty lines begin no request. */
    void onEmptyLines() {
        if (!leave.isDraining()) {
            waitForRequest();
        }
    }

    void onHeadBegun() {
        patience.waitForHead();
    }

    void onHeadRead() {
        patience.cancel();
    }

    void onMalformedHead(@Nullable RequestHead head, boolean http10, Violation violation) {
        patience.cancel();
        observer.onViolation(violation.kind());
        refuse(head, http10, violation.downstream(settings.limits()));
    }

    /** The process has no room for what has come of a head, and more is to come. */
    void onNoRoomForHead() {
        patience.cancel();
        refuse(null, false, Failure.of(Cause.OVERLOAD, "no memory is left for the head of a request"));
    }

    /** The same for trailers. */
    void onNoRoomForTrailers() {
        if (stream == null) {
            finish();
        } else {
            fail(stream, Failure.of(Cause.OVERLOAD, "no memory is left for the trailers of a request"));
        }
    }

    /** Lets another protocol take the connection over; returns whether it has, and with it the bytes. */
    boolean upgrade(RequestHead head, ByteBuf in) {
        Upgrade upgrade = settings.upgrade();
        byte[] payload = upgrade == null ? null : UpgradeRequest.settings(head.fields());
        if (upgrade == null || payload == null || !upgrade.accepts(payload)) {
            return false;
        }
        upgrade.upgrade(ctx, head, payload, in.isReadable() ? in.retain() : Unpooled.EMPTY_BUFFER);
        return true;
    }

    /** A request has come, and its body is next if it has one. */
    void begin(Http1ServerStream open, RequestHead head, boolean hasBody) {
        stream = open;
        output.begin();
        if (hasBody) {
            if (!open.isHttp10() && head.fields().hasElement(FieldName.EXPECT, EXPECT_CONTINUE)) {
                open.awaitContinue();
            }
            patience.waitForBody();
        }
        StreamEvents events = handler.onRequest(open, head, !hasBody && !open.isConnect());
        if (open == stream) {
            open.setEvents(events);
            if (open.isTunnel()) {
                becomeTunnel(open);
            }
            leave.onRequest();
        }
    }

    /** Some of the body has come; returns whether anybody wants it. */
    boolean onBodyBytes() {
        patience.waitForBody();
        if (stream == null) {
            return false;
        }
        stream.onBodyBegun();
        return true;
    }

    void onBody(ByteBuf data, boolean last) {
        if (last) {
            patience.cancel();
        }
        credit.received(data.readableBytes());
        StreamEvents events = stream == null ? null : stream.events();
        if (events == null) {
            data.release();
        } else {
            events.onData(data, last);
        }
    }

    /** The body has ended after the last of its bytes, or nobody wanted it and it is over. */
    void onBodyEnd(@Nullable Fields trailers) {
        patience.cancel();
        if (stream == null) {
            next();
            return;
        }
        StreamEvents events = stream.events();
        if (events != null && trailers != null) {
            events.onTrailers(trailers);
        } else if (events != null) {
            events.onData(Unpooled.EMPTY_BUFFER, true);
        }
    }

    void onMalformedBody(Violation violation) {
        observer.onViolation(violation.kind());
        if (stream == null) {
            finish();
        } else {
            fail(stream, violation.downstream(settings.limits()));
        }
    }

    // ---- refusals and failures ----

    private void refuse(@Nullable RequestHead head, boolean http10, Failure failure) {
        input.drop();
        leave.takeNoMore();
        Http1ServerStream open = new Http1ServerStream(this, head, null, http10, false);
        stream = open;
        handler.onRefused(open, head, failure);
    }

    /** The request cannot be completed. If nothing was answered yet, the core may answer now. */
    private void fail(Http1ServerStream open, Failure failure) {
        input.dropBody();
        leave.takeNoMore();
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

    void onClientSilent() {
        Http1ServerStream open = stream;
        if (credit.isPaused() || (open != null && open.isAwaitingContinue())) {
            patience.waitForBody(); // the silence is ours
            return;
        }
        if (input.isWithinHead()) {
            refuse(null, false, Failure.of(Cause.CLIENT_TIMEOUT, "the request head did not come in time"));
        } else if (input.state() == State.BODY && open != null) {
            fail(open, Failure.of(Cause.CLIENT_TIMEOUT, "the request body did not come in time"));
        } else {
            if (input.state() == State.HEAD && !leave.isDraining()) {
                observer.onIdleClosed();
            }
            closeAfterWrites();
        }
    }

    // ---- output, called by the stream ----

    void writeHead(ResponseHead head, Framing framing, long length, HeadWriter.Persistence persistence) {
        output.head(head, framing, length, persistence);
    }

    @Override
    void wrote(int bytes) {
        output.wrote(bytes);
    }

    /** Also for a stream that has ended: what it wrote last may be waiting. */
    @Override
    void flush() {
        if (!reading && !input.isProcessing()) {
            output.flush();
        }
    }

    /** The client was told to send its body: from now on it is the client that is waited for. */
    void onContinueSent() {
        if (input.state() == State.BODY) {
            patience.waitForBody();
        }
    }

    @Override
    void consumed(OutgoingStream<?> from, int bytes) {
        if (from == stream) {
            credit.consumed(bytes);
        }
    }

    /** Whether the connection can take another request after a response that is about to begin. */
    boolean mayPersist(boolean withoutBody) {
        boolean noMoreComes = isInputEnded() && input.isEmpty();
        return leave.mayPersist() && !noMoreComes && !(withoutBody && input.isTooMuchToDiscard());
    }

    @Override
    void reset(OutgoingStream<?> from) {
        Http1ServerStream open = stream;
        if (open != null && from == open) {
            stream = null;
            open.end();
            open.setEvents(null);
            input.close();
            if (open.isStarted()) {
                output.abort();
            } else {
                output.close();
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
        ByteBuf early = input.takeOver();
        ByteStreamHalf half = replaceBy(new ByteStreamHalf(new Tunnelled(), events, observer, timers), open);
        tunnel = half;
        if (open.isEnded()) {
            half.data(Unpooled.EMPTY_BUFFER, true);
        }
        half.begin(early, isInputEnded());
    }

    /** The connection as its tunnel knows it. */
    private static final class Tunnelled implements ByteStreamHalf.Owner {
        @Override
        public Failure lost(String detail) {
            return Failure.of(Cause.CLIENT_CLOSED, detail);
        }

        @Override
        public void onClosed() {}
    }

    @Override
    void onSent(OutgoingStream<?> sent) {
        Http1ServerStream from = stream;
        if (from == null || sent != from || from.isTunnel()) {
            return;
        }
        from.setEvents(null);
        stream = null;
        credit.reset();
        // After a refused CONNECT, bytes sent in hope of a tunnel are no request.
        boolean closing = !from.isKeepAlive() || (from.isConnect() && !input.isEmpty());
        if (rest.begin(closing)) {
            credit.rest(true);
        }
        if (closing) {
            closing();
        } else if (input.state() == State.WAITING) {
            next();
        } else if (input.isTooMuchToDiscard()) {
            finish();
        }
    }

    /** The response that has just ended is a refusal after which the client is to be left alone. */
    void restAfter(Http1ServerStream refused, ServerStream.Pause pause) {
        if (refused == stream) {
            rest.want(pause);
        }
    }

    /** Whether another request may be looked at: not while the client reads no answers, or is left alone. */
    boolean takesRequests() {
        return ctx.channel().isWritable() && !rest.isArmed();
    }

    private void closing() {
        if (rest.isArmed()) {
            output.hold();
        } else {
            finish();
        }
    }

    /** The client has been left alone for long enough. */
    void onRested() {
        credit.rest(false);
        if (output.isHeld()) {
            finish();
        } else if (input.state() == State.HEAD && !input.isEmpty()) {
            credit.release(); // or the rest of what the client has begun would never be read
            input.process();
        }
    }

    /** Both the request and its response have ended: on to the next request. */
    private void next() {
        credit.release();
        if (leave.isDraining() || (isInputEnded() && input.isEmpty())) {
            finish();
            return;
        }
        input.next();
        if (input.isEmpty()) {
            waitForRequest();
        } else {
            input.process();
        }
    }

    /** Closes after the last response, in a way that lets the client read it. */
    void finish() {
        boolean moreMayCome = input.mayHaveMore();
        input.release();
        if (isInputEnded() || !moreMayCome) {
            closeAfterWrites();
            return;
        }
        // Closing with bytes unread would send a TCP reset, which destroys what the client has not read yet.
        input.drop();
        credit.release();
        patience.cancel();
        lingering.begin(output.shutdown());
    }

    private void closeAfterWrites() {
        input.close();
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
            } else if (input.state() == State.HEAD && !input.isEmpty()) {
                credit.release();
                input.process();
            }
        }
    }

    // ---- ending from our side ----

    @Override
    public void announceClose() {
        leave.announceClose();
    }

    @Override
    public void drain() {
        leave.drain();
    }

    /** Tells what runs that the connection drains. */
    void tellDraining() {
        StreamEvents events = stream == null ? null : stream.events();
        if (tunnel != null) {
            tunnel.drain();
        } else if (events != null) {
            events.onDraining();
        }
    }

    /** Waits for a request for as long as it may take. */
    void waitForRequest() {
        if (leave.isOld()) {
            patience.waitForLastRequest();
        } else {
            patience.waitForRequest();
        }
    }

    @Override
    public boolean isIdle() {
        return stream == null && tunnel == null && input.isIdle();
    }

    @Override
    public boolean isRefused() {
        return stream == null && rest.followsRefusal();
    }

    /** Closes unless something runs, or a first request may be on its way. */
    void closeIfIdle() {
        if (input.isIdle() && input.isFirst()) {
            patience.waitForFirstRequest();
        } else if (input.isIdle()) {
            closeAfterWrites();
        }
    }

    @Override
    public void end(Failure failure) {
        Http1ServerStream open = stream;
        if (tunnel != null) {
            tunnel.end(failure);
            ctx.channel().close(); // also if it had ended before, and what it wrote has not left yet
        } else if (open != null && isOfUse()) {
            fail(open, failure);
        } else {
            ctx.close();
        }
    }
}
