package dev.gateway.protocol.http1;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ByteStreamHalf;
import dev.gateway.net.Drainable;
import dev.gateway.overload.memory.Account;
import dev.gateway.protocol.http1.RequestInput.Event;
import dev.gateway.protocol.http1.RequestInput.State;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.LoginPins;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.AsciiString;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A downstream HTTP/1 connection: one request at a time becomes a {@link Http1ServerStream}; what a client pipelines
 * waits, unread beyond a bound. Made by the listener, the last handler of its channel, confined to its event loop. This
 * class handles requests as they come, and refuses what is no proper request. Its parts parse them, answer them, and close.
 *
 * <p>A client error or timeout in a request body is reported by {@code onReset}; if no response has begun, the core may
 * still answer before it returns from there.
 */
public final class Http1ServerConnection extends Http1Connection implements Drainable {
    private static final AsciiString EXPECT_CONTINUE = new AsciiString("100-continue");

    private final ConnectionInfo info;
    private final RequestHandler handler;
    private final Http1ServerSettings settings;
    private final @Nullable Upgrade h2c;
    private final LoginPins logins = new LoginPins();
    private final ClientTimeouts timeouts;
    private final RequestInput input;
    private @Nullable ByteStreamHalf tunnel; // which the connection has become, be it one that has ended
    private boolean reading; // between channelRead and channelReadComplete
    private boolean processing;

    // These are set when the handler is added, before anything else happens.

    @SuppressWarnings("NullAway.Init")
    private ServerOutput output;

    @SuppressWarnings("NullAway.Init")
    private ServerClose close;

    @SuppressWarnings("NullAway.Init")
    private ServerResponses responses;

    /**
     * Makes the handler of a connection that speaks HTTP/1, to be added to its channel, which is open by then.
     *
     * @param h2c takes the connection over if its client asks for {@code h2c}, null if none does
     */
    public Http1ServerConnection(
            ConnectionInfo info,
            RequestHandler handler,
            ConnectionObserver observer,
            TimerWheel timers,
            Http1ServerSettings settings,
            @Nullable Upgrade h2c) {
        super(observer, timers);
        this.info = info;
        this.handler = handler;
        this.settings = settings;
        this.h2c = h2c;
        this.timeouts = new ClientTimeouts(this::onClientSilent, timers, settings.timeouts());
        this.input = new RequestInput(this::onNoRoom, settings.limits(), info, timers, timeouts);
    }

    ConnectionInfo info() {
        return info;
    }

    /** Returns the upstream connections on which the client logs in. */
    LoginPins logins() {
        return logins;
    }

    // ---- the channel's life

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        super.handlerAdded(ctx);
        output = new ServerOutput(this, settings.timeouts().responseWriteIdleMillis());
        close = new ServerClose(this, input, output, timeouts, settings);
        responses = new ServerResponses(this, input, output, close);
        timeouts.waitForRequest();
        close.announcement.begin(settings.timeouts().maxConnectionAgeMillis());
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        responses.closed(Failure.of(Cause.CLIENT_CLOSED, "the client closed the connection"));
        logins.end();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        responses.closed(Failure.of(Cause.CLIENT_CLOSED, "the connection was taken over"));
        logins.end();
    }

    @Override
    boolean isOpen() {
        return input.isOpen();
    }

    @Override
    void onFailed() {
        output.close();
    }

    @Override
    void onInputEnded() {
        responses.onInputEnded();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        close.onRead();
        reading = true;
        input.add(ctx.alloc(), (ByteBuf) message);
        process();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        reading = false;
        responses.onBatchEnd();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) {
            responses.onWritable();
        }
    }

    // ---- what the client sends

    /** Handles what was read as far as the state lets it. */
    void process() {
        if (processing) {
            return;
        }
        processing = true;
        for (Event event = next(); event != Event.NONE; event = next()) {
            switch (event) {
                case HEAD -> onHead(Objects.requireNonNull(input.head()));
                case BODY -> onBody();
                case BODY_END -> onBodyEnd(input.takeTrailers());
                case EMPTY_LINES -> onEmptyLines();
                case MALFORMED_HEAD -> {
                    Failure failure = violation();
                    refuse(input.head(), input.isHttp10(), failure);
                }
                case MALFORMED_BODY -> failBody(violation());
                case NO_ROOM -> onNoRoom();
                case TOO_MUCH_DISCARDED -> close.finish();
                case DROPPED -> close.onDropped(input.length());
                case PART, NONE -> {}
            }
        }
        if (input.keep()) {
            credit.hold();
        }
        processing = false;
        onProcessed();
    }

    /**
     * Returns what comes next; nothing while requests wait unread: those behind a request that is being answered, and those
     * of a client that does not read its answers, as each would add to what waits for it.
     */
    private Event next() {
        if (input.isEmpty() || (input.state() == State.HEAD && !responses.takesRequests())) {
            return Event.NONE;
        }
        return input.next(responses.stream() != null);
    }

    private void onProcessed() {
        boolean isWithinRequest = input.state() == State.HEAD || input.state() == State.BODY;
        if (isWithinRequest && close.isNoMoreToCome()) {
            responses.onInputEnded(); // what is left of the last request never comes
        }
        if (!reading) {
            responses.onBatchEnd();
        }
    }

    private void onEmptyLines() {
        if (!close.announcement.isLastRequest()) {
            close.waitForRequest();
        }
    }

    private void onHead(RequestHead head) {
        if (input.mayBeHttp2() && upgrade(head)) {
            return;
        }
        boolean http10 = input.isHttp10();
        boolean keepAlive = input.isKeepAlive();
        boolean hasBody = input.begin(head);
        AsciiString webSocketKey = http10 ? null : UpgradeRequest.translate(head, hasBody);
        Http1ServerStream open = new Http1ServerStream(this, head, webSocketKey, http10, keepAlive);
        responses.begin(open);
        output.begin();
        if (hasBody) {
            if (!http10 && head.fields().hasElement(FieldName.EXPECT, EXPECT_CONTINUE)) {
                open.awaitContinue();
            }
            timeouts.waitForBody();
        }
        StreamEvents events = handler.onRequest(open, head, !hasBody && !open.isConnect());
        if (responses.isCurrent(open)) {
            open.setEvents(events);
            if (open.isTunnel()) {
                responses.becomeTunnel(open);
            }
            if (close.announcement.isDraining()) {
                tellDraining(); // the exchange has the request, and has to know
            }
        }
    }

    /** Lets HTTP/2 take the connection over if the client asks for that; returns whether it has. */
    private boolean upgrade(RequestHead head) {
        Upgrade http2 = h2c;
        byte[] payload = http2 == null ? null : UpgradeRequest.settings(head.fields());
        if (http2 == null || payload == null || !http2.accepts(payload)) {
            return false;
        }
        http2.upgrade(ctx, head, payload, input.retainRest());
        return true;
    }

    private void onBody() {
        Http1ServerStream open = Objects.requireNonNull(responses.stream());
        open.onBodyBegun();
        boolean last = input.state() == State.WAITING;
        ByteBuf data = input.takeBody();
        credit.received(data.readableBytes());
        StreamEvents events = open.events();
        if (events == null) {
            data.release();
        } else {
            events.onData(data, last);
        }
    }

    /** A body has ended after the last of its bytes, or it was unwanted and is over. */
    private void onBodyEnd(@Nullable Fields trailers) {
        Http1ServerStream open = responses.stream();
        if (open == null) {
            responses.next();
            return;
        }
        StreamEvents events = open.events();
        if (events != null && trailers != null) {
            events.onTrailers(trailers);
        } else if (events != null) {
            events.onData(Unpooled.EMPTY_BUFFER, true);
        }
    }

    // ---- refusals and failures

    private Failure violation() {
        Http1Violation violation = input.violation();
        observer.onViolation(violation.kind());
        return violation.downstream(settings.limits());
    }

    private void onNoRoom() {
        if (input.state() == State.HEAD) {
            refuse(null, false, Failure.of(Cause.OVERLOAD, "no memory is left for the head of a request"));
        } else {
            failBody(Failure.of(Cause.OVERLOAD, "no memory is left for the trailers of a request"));
        }
    }

    /** The client has not sent in time what it owes. */
    private void onClientSilent() {
        Http1ServerStream open = responses.stream();
        if (credit.isPaused() || (open != null && open.isAwaitingContinue())) {
            timeouts.waitForBody(); // the silence is ours
            return;
        }
        if (input.isWithinHead()) {
            refuse(null, false, Failure.of(Cause.CLIENT_TIMEOUT, "the request head did not come in time"));
        } else if (input.state() == State.BODY && open != null) {
            fail(open, Failure.of(Cause.CLIENT_TIMEOUT, "the request body did not come in time"));
        } else {
            if (input.state() == State.HEAD && !close.announcement.isLastRequest()) {
                observer.onIdleClosed();
            }
            close.closeAfterWrites();
        }
    }

    private void refuse(@Nullable RequestHead head, boolean http10, Failure failure) {
        input.drop();
        close.announcement.takeNoMore();
        Http1ServerStream open = new Http1ServerStream(this, head, null, http10, false);
        responses.begin(open);
        handler.onRefused(open, head, failure);
    }

    private void failBody(Failure failure) {
        Http1ServerStream open = responses.stream();
        if (open == null) {
            close.finish();
        } else {
            fail(open, failure);
        }
    }

    /** The request cannot be completed. If nothing was answered yet, the core may answer now. */
    private void fail(Http1ServerStream open, Failure failure) {
        input.dropBody();
        close.announcement.takeNoMore();
        open.tellReset(failure);
        if (responses.isCurrent(open)) {
            if (open.isStarted()) {
                responses.reset(open);
            } else {
                open.head(new ResponseHead(failure.status(), null, new Fields(), 0), true);
            }
        }
    }

    // ---- what the stream does

    /** Returns when the first bytes of the last head were there, 0 if all of it came at once. */
    long headNanos() {
        return input.headNanos();
    }

    /** What waits of this response and those that follow counts for the account of a client. */
    void countFor(Account client) {
        output.countFor(client);
    }

    /** Writes a head, to be flushed later. */
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
        if (!reading && !processing) {
            output.flush();
        }
    }

    @Override
    long unsent() {
        return output.unsent();
    }

    /** The client was told to send its body: from now on it is the client that is waited for. */
    void onContinueSent() {
        if (input.state() == State.BODY) {
            timeouts.waitForBody();
        }
    }

    @Override
    void consumed(OutgoingStream<?> from, int bytes) {
        if (responses.isCurrent(from)) {
            credit.consumed(bytes);
        }
    }

    /**
     * Whether the connection can take another request after a response that is about to begin.
     *
     * @param bodiless whether the response has no body, so that it ends at once
     */
    boolean mayPersist(int status, boolean bodiless) {
        return responses.mayPersist(status, bodiless);
    }

    @Override
    void reset(OutgoingStream<?> from) {
        responses.cut(from);
    }

    /** The head that opens a tunnel was written. */
    void becomeTunnel(Http1ServerStream open) {
        responses.becomeTunnel(open);
    }

    @Override
    void onSent(OutgoingStream<?> sent) {
        responses.onSent(sent);
    }

    /** The response that begins next says that the connection ends; returns whether that is new. */
    boolean tellClose() {
        return close.announcement.closeAfterResponse();
    }

    /** The response that is about to end is a refusal after which the client is to be left alone. */
    void delayAfter(Http1ServerStream refused, ServerStream.Pause pause) {
        responses.delayAfter(refused, pause);
    }

    // ---- what its parts do

    /** Whether an exchange answers for what waits. */
    boolean isAnswering() {
        return responses.stream() != null;
    }

    /** The client takes none of what waits for it, and gets nothing more. */
    void onClientNotReading(Failure failure) {
        responses.closed(failure);
        output.abort();
    }

    /** Leaves the channel to the tunnel that a stream has opened. All that was written before has been flushed. */
    void openTunnel(Http1ServerStream open, StreamEvents events) {
        ByteBuf early = input.takeOver();
        ByteStreamHalf made = replaceBy(ByteStreamHalf.ofClient(info, events, observer, timers), open);
        tunnel = made;
        if (open.isEnded()) {
            made.data(Unpooled.EMPTY_BUFFER, true);
        }
        made.begin(early, isInputEnded());
    }

    // ---- ending from our side

    @Override
    public void announceClose() {
        close.announcement.closeAfterResponse();
    }

    /** Takes no further request, closes if nothing runs, and else tells what runs. */
    @Override
    public void drain() {
        if (close.announcement.drain()) {
            close.hurry();
            close.closeIfIdle();
            tellDraining();
        }
    }

    private void tellDraining() {
        StreamEvents events = responses.events();
        if (tunnel != null) {
            tunnel.drain();
        } else if (events != null) {
            events.onDraining();
        }
    }

    @Override
    public boolean isIdle() {
        return !processing && input.isIdle();
    }

    @Override
    public boolean hasServed() {
        return !input.isFirst();
    }

    @Override
    public boolean isRefused() {
        return responses.isRefused();
    }

    @Override
    public void end(Failure failure) {
        Http1ServerStream open = responses.stream();
        if (tunnel != null) {
            if (!tunnel.end(failure)) {
                ctx.channel().close(); // also if it had ended before, and what it wrote has not left yet
            }
        } else if (open != null && input.isOpen()) {
            fail(open, failure);
        } else {
            ctx.close();
        }
    }
}
