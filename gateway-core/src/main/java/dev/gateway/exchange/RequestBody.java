package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Intake;
import dev.gateway.exchange.ExchangeState.Phase;
import dev.gateway.exchange.body.HeldBody;
import dev.gateway.exchange.body.SentBody;
import dev.gateway.exchange.body.TransformedBody;
import dev.gateway.exchange.progress.BodyPace;
import dev.gateway.exchange.reply.GrpcStatus;
import dev.gateway.exchange.settings.BodyRate;
import dev.gateway.filter.BodyInspector;
import dev.gateway.filter.BodyTransform;
import dev.gateway.message.Fields;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The body and trailers of a request. Held while no upstream stream can take them, then relayed. Held bytes give the client
 * no credit, so the adapter's watermark bounds them. Sent bytes are kept for a retry, within bounds, until the response
 * begins: as filters have transformed them, if they do. Owns what it holds until {@link #discard}.
 */
final class RequestBody implements TransformedBody.Output, Relay.Kept {
    private final Exchange exchange;
    private final Relay relay;
    private long maxBytes; // 0 for no limit
    private String limitedBy = "limits.maxBody";
    private @Nullable HeldBody held; // null before the first held byte: most requests have no body
    private @Nullable SentBody sent; // null before the first sent byte
    private @Nullable Fields trailers;
    private @Nullable BodyInspector inspector; // null once it has passed the body
    private @Nullable TransformedBody transformed; // null unless a filter transforms the body
    private @Nullable Mirrors mirrors; // null unless a filter copies the request
    private @Nullable BodyRate rate; // the rate that the client must keep, null for none
    private @Nullable BodyPace pace; // null before the first check
    private @Nullable Attempt attempt; // the attempt that sends it
    private int mostKept;
    private long received; // number of bytes, without framing
    private boolean sentTrailers; // by the current attempt
    private boolean repeating; // a retry sends the kept bytes first; the rest of the body waits
    private boolean begun;
    private boolean complete; // the client has sent everything
    private boolean headOnly; // the request has no body
    private boolean reading = true; // the downstream connection will report the end of this read

    /**
     * Makes the body of a request.
     *
     * @param maxBytes how many bytes it may have, 0 for no limit; does not hold for tunnels
     */
    RequestBody(Exchange exchange, long maxBytes) {
        this.exchange = exchange;
        this.relay = Relay.ofRequest(exchange, this);
        this.maxBytes = maxBytes;
    }

    /** The request has no body. */
    void completeAtOnce() {
        complete = true;
        headOnly = true;
    }

    /**
     * What follows the request is a tunnel's: bytes come that no filter sees. Called before the first of them, when all of the
     * request has been sent, or nothing of a request without a body.
     */
    void reopen() {
        complete = false;
        headOnly = false;
        trailers = null;
        sentTrailers = false;
        if (mirrors != null) {
            mirrors.end();
            mirrors = null;
        }
        if (transformed != null) {
            transformed.close();
            transformed = null;
        }
    }

    /** Whether the request has a body, even if no byte of it has arrived. */
    boolean isExpected() {
        return !headOnly && !exchange.head.isConnect();
    }

    /** Limits the body to this number of bytes, unless it has a smaller limit. {@code by} names the limit for the log. */
    void limit(long most, String by) {
        if (maxBytes == 0 || most < maxBytes) {
            maxBytes = most;
            limitedBy = by;
            failIfTooLong();
        }
    }

    /**
     * Fails the exchange if the body exceeds its limit, and returns whether it does. Called before a piece is forwarded: the
     * last piece would make the request complete.
     */
    private boolean failIfTooLong() {
        boolean tooLong = maxBytes > 0 && received > maxBytes && !exchange.head.isConnect();
        if (tooLong) {
            exchange.fail(
                    Failure.of(Cause.BODY_TOO_LARGE, "a body of more than " + maxBytes + " bytes (" + limitedBy + ")"));
        }
        return tooLong;
    }

    /** The upstream gets the output of this transform. Called before anything is sent. */
    void transform(BodyTransform by) {
        transformed = new TransformedBody(by, this, exchange);
    }

    /** These copies get what the upstream gets. Called before anything is sent. */
    void mirror(Mirrors by) {
        mirrors = by;
    }

    /** From now on, the client must keep the minimum rate until it has sent everything. Not for tunnels and gRPC calls. */
    void watchPace() {
        if (complete || exchange.record.kind != Kind.HTTP || GrpcStatus.isCall(exchange.head)) {
            return;
        }
        BodyRate wanted = exchange.settings().bodyRate();
        rate = wanted;
        if (wanted != null) {
            exchange.deadlines.watchPace(wanted.periodMillis());
        }
    }

    /** Checks how fast the client is, as long as no response has begun. */
    void onPaceDue() {
        BodyRate wanted = rate;
        if (wanted == null || complete || exchange.state.isResponded()) {
            exchange.deadlines.watchPace(0);
            return;
        }
        long now = exchange.loop.wheel.nanoTime();
        BodyPace looked = pace;
        if (looked == null) {
            looked = new BodyPace(wanted, now - TimeUnit.MILLISECONDS.toNanos(wanted.periodMillis()));
            pace = looked;
        }
        if (looked.isTooSlow(received, isClientsTurn(), now)) {
            exchange.fail(Failure.of(
                    Cause.CLIENT_TIMEOUT,
                    "a body slower than " + wanted.bytesPerSecond() + " bytes per second (limits.minBodyRate)"));
        }
    }

    /** Whether the gateway waits for the client, not for an upstream that must connect or make room first. */
    private boolean isClientsTurn() {
        boolean taken = attempt != null && !attempt.isOver() && !isStalled();
        return (inspector != null || taken) && !exchange.isContinueDue();
    }

    /** Whether the client must send more first. In tunnels and gRPC calls the upstream may speak before. */
    boolean isAwaited() {
        return !exchange.state.isResponded() && isAwaitingClient();
    }

    /** Whether the upstream can get more of it only when the client sends more. It may answer before, even so. */
    boolean isAwaitingClient() {
        boolean body = exchange.record.kind == Kind.HTTP && !GrpcStatus.isCall(exchange.head);
        return body && !complete && isClientsTurn();
    }

    /** Whether any part of it has arrived. */
    boolean hasBegun() {
        return begun;
    }

    /** Whether no byte of it has arrived. */
    boolean isEmpty() {
        return received == 0;
    }

    /** Whether the head was the whole request. */
    boolean isNone() {
        return complete && received == 0 && trailers == null;
    }

    /** Whether another attempt can send everything that has arrived. */
    boolean isReplayable() {
        return sent == null || sent.isWhole();
    }

    /** The response has begun, so there will be no other attempt. */
    void onResponse() {
        if (sent != null) {
            sent.forget();
            relay.onForgotten();
        }
    }

    @Override
    public long shared(long waiting) {
        return sent == null ? 0 : sent.shared(waiting);
    }

    /**
     * Sends nothing upstream until the inspector has passed it.
     *
     * @return false if the inspector has already refused it, which ends the exchange
     */
    boolean passes(@Nullable BodyInspector by) {
        inspector = by;
        inspect();
        if (inspector != null) {
            awaitContinue(); // the upstream knows nothing of it yet
        }
        return !exchange.state.isDone();
    }

    private void inspect() {
        BodyInspector asked = inspector;
        if (asked == null || (!isHolding() && !complete) || exchange.state.isDone()) {
            return;
        }
        try {
            BodyInspector.Result result = asked.inspect(held == null ? Unpooled.EMPTY_BUFFER : held.merged(), complete);
            if (result instanceof BodyInspector.Refuse refuse) {
                exchange.fail(refuse.failure());
            } else if (result instanceof BodyInspector.Pass) {
                inspector = null;
            } else if (complete) {
                throw new IllegalStateException("an inspector wants more where no more comes");
            }
        } catch (RuntimeException e) {
            exchange.onDefect(e);
        }
    }

    /**
     * Sends the head and the held part of the body on the stream of an attempt.
     *
     * @param mostKept how many bytes to keep for another attempt
     */
    void sendTo(Attempt attempt, ClientStream stream, int mostKept) {
        this.attempt = attempt;
        this.mostKept = mostKept;
        relay.pass(exchange.server, stream);
        sentTrailers = false;
        boolean bodyless = isLast() && (sent == null || sent.size() == 0);
        if (bodyless) {
            exchange.state.on(Event.REQUEST_ENDED);
        }
        relay.wrote();
        repeating = true;
        if (mirrors != null) {
            mirrors.begin(bodyless);
        }
        stream.head(exchange.head, bodyless);
        if (!bodyless) {
            awaitContinue();
            sendAgain(attempt);
        }
        if (this.attempt == attempt) {
            repeating = false;
        }
        if (!bodyless) {
            if (transformed != null) {
                transformed.run();
            }
            sendHeld();
        }
        if (!reading && maySend()) { // the current attempt may be another one, begun inside the calls above
            if (transformed != null) {
                transformed.pause(); // the read that brought the held bytes is over
            }
            flush();
        }
    }

    /** The upstream should tell the client to send its body. Some never do, and some clients wait for ever. */
    private void awaitContinue() {
        if (exchange.isContinueDue()) {
            exchange.deadlines.awaitContinue();
        }
    }

    /** Sends again what the previous attempt has sent. The client gets no further credit for it. */
    private void sendAgain(Attempt by) {
        SentBody before = sent;
        int pieces = before == null ? 0 : before.size();
        for (int i = 0; i < pieces && before != null && maySend() && attempt == by; i++) {
            boolean last = i == pieces - 1 && isLast();
            if (last) {
                exchange.state.on(Event.REQUEST_ENDED);
            }
            relay.insert(before.piece(i), last);
        }
        relay.credit();
    }

    private void sendHeld() {
        for (ByteBuf data = next(); data != null; data = next()) {
            forward(data, isLastReceived());
        }
        Fields last = trailers;
        if (last != null && !sentTrailers && maySend()) {
            forward(last);
        }
    }

    /** Whether the piece that is being sent is the last one. */
    private boolean isLast() {
        return isLastReceived() && (transformed == null || transformed.isDone());
    }

    /** Whether the client has sent everything, and no held piece follows the current one. */
    private boolean isLastReceived() {
        return complete && (trailers == null || sentTrailers) && !isHolding();
    }

    private @Nullable ByteBuf next() {
        return held != null && maySend() ? held.poll() : null;
    }

    private boolean maySend() {
        return inspector == null && attempt != null && !attempt.isOver();
    }

    private boolean isHolding() {
        return held != null && !held.isEmpty();
    }

    /** Holds a piece and owns it. If there is no memory for it, returns false, and the caller keeps it. */
    private boolean hold(ByteBuf data) {
        HeldBody made = held;
        if (made == null) {
            made = new HeldBody(exchange, exchange.held);
            held = made;
        }
        return made.tryAdd(data);
    }

    /** Holds bytes that an inspector must see first, and bytes that would overtake older ones that are still held. */
    private Intake intake() {
        Intake intake = exchange.state.intake();
        return intake == Intake.FORWARD && (inspector != null || isHolding()) ? Intake.HOLD : intake;
    }

    /** The client has sent a piece of the body. */
    void onData(ByteBuf data, boolean last) {
        reading = true;
        begun = true;
        complete |= last;
        Intake intake = intake();
        if (intake == Intake.DISCARD) {
            data.release();
            return;
        }
        received += data.readableBytes();
        exchange.onReceived(data.readableBytes());
        exchange.deadlines.touch();
        switch (intake) {
            case HOLD -> {
                if (!hold(data)) {
                    data.release();
                    exchange.fail(
                            Failure.of(Cause.OVERLOAD, "no memory is left for another piece of a request's body"));
                    return;
                }
                if (!failIfTooLong()) {
                    onHeld();
                }
            }
            case FORWARD -> {
                if (failIfTooLong()) {
                    data.release();
                } else {
                    forward(data, last);
                }
            }
            case DISCARD -> {}
        }
    }

    private void onHeld() {
        if (inspector != null) {
            inspect();
            if (exchange.state.intake() == Intake.FORWARD) {
                sendHeld();
            }
        }
    }

    private void forward(ByteBuf data, boolean last) {
        if (transformed == null) {
            pass(data, last, data.readableBytes());
        } else {
            transformed.add(data, last);
        }
    }

    private void forward(Fields last) {
        if (transformed == null || transformed.isDone()) {
            passTrailers(last);
        } else {
            trailers = last;
            transformed.end(last);
        }
    }

    @Override
    public boolean mayPass() {
        return maySend() && !repeating;
    }

    @Override
    public boolean hasRoom() {
        return relay.hasRoom();
    }

    @Override
    public void pass(ByteBuf data, boolean last, int from) {
        if (data.isReadable() && exchange.state.phase() == Phase.REQUESTED) {
            keep(data);
        }
        if (mirrors != null) {
            mirrors.add(data, last);
        }
        Action action = last ? exchange.state.on(Event.REQUEST_ENDED) : Action.NOTHING;
        relay.data(data, last, from);
        exchange.perform(action);
        if (mirrors != null) {
            mirrors.write(); // last, since it may end streams of the same connection
        }
    }

    @Override
    public void taken(int bytes) {
        relay.skip(bytes);
    }

    private void keep(ByteBuf data) {
        SentBody kept = sent;
        if (kept == null) {
            kept = new SentBody(exchange.record.connection.account().waitingBodies(), mostKept);
            sent = kept;
        }
        if (exchange.head.isConnect()) {
            kept.forget(); // bytes of a tunnel are never sent again
        } else {
            kept.keep(data);
        }
    }

    /** The client has ended the body with trailers. */
    void onTrailers(Fields fields) {
        reading = true;
        complete = true;
        exchange.deadlines.touch();
        Failure refusal = exchange.routing.checkTrailers(fields);
        if (refusal != null) {
            exchange.fail(refusal);
            return;
        }
        Intake intake = intake();
        if (intake == Intake.DISCARD) {
            return;
        }
        // Another attempt may need them, so they are held also where they are forwarded at once.
        if (!exchange.held.tryAdd(fields.heldBytes())) {
            exchange.fail(Failure.of(Cause.OVERLOAD, "no memory is left for the trailers of a request"));
        } else if (intake == Intake.FORWARD) {
            forward(fields);
        } else {
            trailers = fields;
            onHeld();
        }
    }

    @Override
    public void passTrailers(Fields last) {
        trailers = last;
        if (sentTrailers || !maySend()) {
            return; // the attempt has ended inside the call, and another one sends the trailers
        }
        sentTrailers = true;
        if (!exchange.routing.onRequestTrailers(last)) {
            return;
        }
        if (mirrors != null) {
            mirrors.addTrailers(last);
        }
        Action action = exchange.state.on(Event.REQUEST_ENDED);
        relay.trailers(last);
        exchange.perform(action);
        if (mirrors != null) {
            mirrors.write();
        }
    }

    /** The connection has read all available bytes of the client. */
    void onReadComplete() {
        reading = false;
        if (transformed != null) {
            transformed.pause();
        }
        flush();
    }

    void flush() {
        relay.flush();
        if (mirrors != null) {
            mirrors.send();
        }
    }

    /** Whether the upstream does not take the bytes that have arrived. */
    boolean isStalled() {
        return relay.isStalled() || (transformed != null && transformed.isStalled());
    }

    /** The upstream has room again. */
    void credit() {
        if (transformed != null && transformed.run()) {
            exchange.deadlines.touch(); // the upstream reads what a few bytes of the client have become
            flush(); // no read is going on whose end would flush
        }
        relay.credit();
    }

    /** The client has gone before the response was complete. */
    void onClientGone() {
        if (mirrors != null) {
            mirrors.abort();
        }
    }

    /** The exchange is over: releases everything that is still held. */
    void discard() {
        try {
            if (mirrors != null) {
                mirrors.end();
            }
        } finally {
            endSending();
        }
    }

    private void endSending() {
        try {
            relay.end();
        } finally {
            closeTransformed();
        }
    }

    private void closeTransformed() {
        try {
            if (transformed != null) {
                transformed.close();
            }
        } finally {
            releaseHeld();
        }
    }

    private void releaseHeld() {
        if (held != null) {
            held.discard();
        }
        onResponse();
        trailers = null;
    }
}
