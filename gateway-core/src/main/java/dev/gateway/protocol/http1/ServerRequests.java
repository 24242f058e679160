package dev.gateway.protocol.http1;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.protocol.http1.RequestInput.State;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.StreamEvents;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a downstream connection, one at a time: makes a stream of each, and tells it what else the client sends.
 * What is no proper request, or cannot be completed, is refused. Part of the connection, whose other parts it makes;
 * confined to its event loop.
 */
final class ServerRequests implements RequestInput.Owner {
    private static final AsciiString EXPECT_CONTINUE = new AsciiString("100-continue");

    final RequestInput input;
    final ServerResponses responses;
    private final Http1ServerConnection carrier;
    private final RequestHandler handler;
    private final Http1ServerSettings settings;
    private final @Nullable Upgrade h2c;
    private final ClientTimeouts timeouts;
    private final ServerOutput output;
    private final ServerClose close;

    /**
     * Makes the parts of a connection.
     *
     * @param carrier the connection, already added to its channel
     * @param h2c takes the connection over if its client asks for {@code h2c}, null if nobody does
     */
    ServerRequests(
            Http1ServerConnection carrier,
            RequestHandler handler,
            Http1ServerSettings settings,
            @Nullable Upgrade h2c,
            ClientFin fin,
            ServerTunnel tunnel) {
        this.carrier = carrier;
        this.handler = handler;
        this.settings = settings;
        this.h2c = h2c;
        this.timeouts = new ClientTimeouts(this::onClientSilent, carrier.timers, settings.timeouts());
        this.input = new RequestInput(this, settings.limits(), carrier.info(), carrier.timers, timeouts);
        this.responses = new ServerResponses(carrier, settings, input, timeouts, fin, tunnel);
        this.output = responses.output;
        this.close = responses.close;
    }

    /** Waits for the first request. */
    void begin() {
        timeouts.waitForRequest();
        close.announcement.begin(settings.timeouts().maxConnectionAgeMillis());
    }

    // ---- requests

    @Override
    public boolean takesRequests() {
        return responses.takesRequests();
    }

    @Override
    public void onEmptyLines() {
        if (!close.announcement.isLastRequest()) {
            close.waitForRequest();
        }
    }

    @Override
    public boolean upgrade(RequestHead head, ByteBuf in) {
        Upgrade http2 = h2c;
        byte[] payload = http2 == null ? null : UpgradeRequest.settings(head.fields());
        if (http2 == null || payload == null || !http2.accepts(payload)) {
            return false;
        }
        http2.upgrade(carrier.ctx, head, payload, in.isReadable() ? in.retain() : Unpooled.EMPTY_BUFFER);
        return true;
    }

    @Override
    public void onRequest(
            RequestHead head, @Nullable AsciiString webSocketKey, boolean http10, boolean keepAlive, boolean hasBody) {
        Http1ServerStream open = new Http1ServerStream(carrier, head, webSocketKey, http10, keepAlive);
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
            responses.onRequestTold();
        }
    }

    @Override
    public void onProcessed() {
        boolean isWithinRequest = input.state() == State.HEAD || input.state() == State.BODY;
        if (isWithinRequest && close.isNoMoreToCome()) {
            responses.onInputEnded(); // what is left of the last request never comes
        }
        if (!input.isReading()) {
            responses.onBatchEnd();
        }
    }

    @Override
    public void onTooMuchPipelined() {
        carrier.credit.hold();
    }

    // ---- their bodies

    @Override
    public boolean onBodyBytes() {
        Http1ServerStream open = responses.stream();
        if (open == null) {
            return false;
        }
        open.onBodyBegun();
        return true;
    }

    @Override
    public void onBody(ByteBuf data, boolean last) {
        carrier.credit.received(data.readableBytes());
        StreamEvents events = responses.events();
        if (events == null) {
            data.release();
        } else {
            events.onData(data, last);
        }
    }

    @Override
    public void onBodyEnd(@Nullable Fields trailers) {
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

    @Override
    public void onTooMuchDiscarded() {
        close.finish();
    }

    @Override
    public void onDropped(int bytes) {
        close.onDropped(bytes);
    }

    // ---- refusals and failures

    @Override
    public void onMalformedHead(@Nullable RequestHead head, boolean http10, Http1Violation violation) {
        carrier.observer.onViolation(violation.kind());
        refuse(head, http10, violation.downstream(settings.limits()));
    }

    @Override
    public void onNoRoomForHead() {
        refuse(null, false, Failure.of(Cause.OVERLOAD, "no memory is left for the head of a request"));
    }

    @Override
    public void onMalformedBody(Http1Violation violation) {
        carrier.observer.onViolation(violation.kind());
        failBody(violation.downstream(settings.limits()));
    }

    @Override
    public void onNoRoomForTrailers() {
        failBody(Failure.of(Cause.OVERLOAD, "no memory is left for the trailers of a request"));
    }

    private void onClientSilent() {
        Http1ServerStream open = responses.stream();
        if (carrier.credit.isPaused() || (open != null && open.isAwaitingContinue())) {
            timeouts.waitForBody(); // the silence is ours
            return;
        }
        if (input.isWithinHead()) {
            refuse(null, false, Failure.of(Cause.CLIENT_TIMEOUT, "the request head did not come in time"));
        } else if (input.state() == State.BODY && open != null) {
            fail(open, Failure.of(Cause.CLIENT_TIMEOUT, "the request body did not come in time"));
        } else {
            if (input.state() == State.HEAD && !close.announcement.isLastRequest()) {
                carrier.observer.onIdleClosed();
            }
            close.closeAfterWrites();
        }
    }

    private void refuse(@Nullable RequestHead head, boolean http10, Failure failure) {
        input.drop();
        close.announcement.takeNoMore();
        Http1ServerStream open = new Http1ServerStream(carrier, head, null, http10, false);
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

    /** Ends the request that is being answered, with a failure; returns false if there is none. */
    boolean end(Failure failure) {
        Http1ServerStream open = responses.stream();
        if (open == null || !input.isOpen()) {
            return false;
        }
        fail(open, failure);
        return true;
    }

    /** The client was told to send its body: from now on it is the client that is waited for. */
    void onContinueSent() {
        if (input.state() == State.BODY) {
            timeouts.waitForBody();
        }
    }
}
