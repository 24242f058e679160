package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Intake;
import dev.gateway.exchange.ExchangeState.Phase;
import dev.gateway.filter.BodyInspector;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.ProxyFields;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What the client of an exchange sends after its head: held while there is no stream to take it, then relayed. No credit
 * is given for what is held, so the adapter's watermark bounds it. What was sent is kept for another attempt, within
 * bounds, until the response begins. Owns what it holds until {@link #discard}.
 */
final class RequestBody {
    private final ExchangeContext exchange;
    private final Owner owner;
    private final long maxBytes;
    private final Relay relay;
    private @Nullable HeldBody held; // null before anything had to wait: most requests have no body
    private @Nullable SentBody sent; // null before there is any
    private @Nullable Fields trailers;
    private @Nullable BodyInspector inspector; // that has not let it pass yet
    private @Nullable BodyRate rate; // that the client must keep up with
    private @Nullable BodyPace pace; // null before it was looked at for the first time
    private @Nullable Attempt attempt; // whose stream takes it
    private int mostKept;
    private long received; // bytes of it, without framing
    private boolean sentTrailers; // by the current attempt
    private boolean begun;
    private boolean complete; // the client has sent all
    private boolean reading = true; // downstream's read-complete will come

    /** The exchange whose request it is. */
    interface Owner extends StalledBody.Owner {
        /** Returns the time limits, which are to know of bytes that move. */
        Deadlines deadlines();

        /** Returns what checks trailers, and lets filters see them. */
        RequestRouting routing();

        /** Bytes came from the client. */
        void onReceived(int bytes);

        /** Does what the end of a direction means. */
        void perform(Action action);

        /** Whether the client may wait for consent before it sends anything. */
        boolean isContinueDue();

        /** An inspector threw. */
        void onDefect(Throwable defect);
    }

    /**
     * Makes the body of a request.
     *
     * @param maxBytes how many bytes it may have if it is no tunnel, 0 for no limit
     */
    RequestBody(ExchangeContext exchange, Owner owner, long maxBytes) {
        this.exchange = exchange;
        this.owner = owner;
        this.relay = new Relay(owner, exchange.state);
        this.maxBytes = maxBytes;
    }

    /** The head was the whole request. */
    void completeAtOnce() {
        complete = true;
    }

    /** Has its client keep up with a rate from now on, if it has not sent all; tunnels and calls of gRPC may be quiet. */
    void watchPace() {
        if (complete || exchange.record.kind != Kind.HTTP || GrpcStatus.isCall(exchange.head)) {
            return;
        }
        BodyRate wanted = exchange.settings().bodyRate(exchange.record.connection.listener());
        rate = wanted;
        if (wanted != null) {
            owner.deadlines().watchPace(wanted.periodMillis());
        }
    }

    /** Looks how fast its client is, as long as no response has begun. */
    void onPaceDue() {
        BodyRate wanted = rate;
        if (wanted == null || complete || exchange.state.isResponded()) {
            owner.deadlines().watchPace(0);
            return;
        }
        long now = exchange.loop.wheel.nanoTime();
        BodyPace looked = pace;
        if (looked == null) {
            looked = new BodyPace(wanted, now - TimeUnit.MILLISECONDS.toNanos(wanted.periodMillis()));
            pace = looked;
        }
        if (looked.isTooSlow(received, isClientsTurn(), now)) {
            owner.fail(Failure.of(
                    Cause.CLIENT_TIMEOUT,
                    "a body slower than " + wanted.bytesPerSecond() + " bytes per second (limits.minBodyRate)"));
        }
    }

    /** Whether it is the client that it waits for: no upstream has to come or to make room first. */
    private boolean isClientsTurn() {
        boolean taken = attempt != null && !attempt.isOver() && !relay.isStalled();
        return (inspector != null || taken) && !owner.isContinueDue();
    }

    /** Whether any of it has come. */
    boolean hasBegun() {
        return begun;
    }

    /** Whether not a byte of it has come. */
    boolean isEmpty() {
        return received == 0;
    }

    /** Whether another attempt can send all that has come of it. */
    boolean isReplayable() {
        return sent == null || sent.isWhole();
    }

    /** No other attempt will be made. */
    void onResponse() {
        if (sent != null) {
            sent.forget();
        }
    }

    /**
     * Nothing of it goes upstream until an inspector has let it pass.
     *
     * @return false if the inspector has refused already, and so ended the exchange
     */
    boolean passes(@Nullable BodyInspector by) {
        inspector = by;
        inspect();
        return !exchange.state.isDone();
    }

    private void inspect() {
        BodyInspector asked = inspector;
        if (asked == null || (!isHolding() && !complete)) {
            return;
        }
        try {
            BodyInspector.Result result = asked.inspect(held == null ? Unpooled.EMPTY_BUFFER : held.merged(), complete);
            if (result instanceof BodyInspector.Refuse refuse) {
                owner.fail(refuse.failure());
            } else if (result instanceof BodyInspector.Pass) {
                inspector = null;
            } else if (complete) {
                throw new IllegalStateException("an inspector wants more where no more comes");
            }
        } catch (RuntimeException e) {
            owner.onDefect(e);
        }
    }

    /**
     * Sends the head, and what has been held, on the stream of an attempt.
     *
     * @param mostKept how much is kept for another attempt
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
        stream.head(exchange.head, bodyless);
        if (!bodyless) {
            sendAgain(attempt);
            sendHeld();
        }
        if (!reading && !attempt.isOver()) {
            relay.flush();
        }
    }

    /** The client has had credit for it, or is owed it still. */
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
            send(data, isLast());
        }
        Fields last = trailers;
        if (last != null && !sentTrailers && maySend()) {
            send(last);
        }
    }

    /** Whether all of it has come, and nothing is left to send after what is being sent. */
    private boolean isLast() {
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

    /** Takes a piece and owns it; returns false, and leaves the piece to the caller, if there is no memory for another. */
    private boolean hold(ByteBuf data) {
        HeldBody made = held;
        if (made == null) {
            made = new HeldBody(owner, exchange.held);
            held = made;
        }
        return made.tryAdd(data);
    }

    /** What is to be inspected is held; and what comes inside a call while older bytes are must not overtake them. */
    private Intake intake() {
        Intake intake = exchange.state.intake();
        return intake == Intake.FORWARD && (inspector != null || isHolding()) ? Intake.HOLD : intake;
    }

    /** The client has sent some of it. */
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
        owner.onReceived(data.readableBytes());
        owner.deadlines().touch();
        switch (intake) {
            case HOLD -> {
                if (!hold(data)) {
                    data.release();
                    owner.fail(Failure.of(Cause.OVERLOAD, "no memory is left for another piece of a request's body"));
                    return;
                }
                onHeld();
            }
            case FORWARD -> send(data, last);
            case DISCARD -> {}
        }
        if (maxBytes > 0 && received > maxBytes && !exchange.head.isConnect()) {
            owner.fail(Failure.of(Cause.BODY_TOO_LARGE, "a body of more than " + maxBytes + " bytes (limits.maxBody)"));
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

    private void send(ByteBuf data, boolean last) {
        if (data.isReadable() && exchange.state.phase() == Phase.REQUESTED) {
            keep(data);
        }
        Action action = last ? exchange.state.on(Event.REQUEST_ENDED) : Action.NOTHING;
        relay.data(data, last);
        owner.perform(action);
    }

    private void keep(ByteBuf data) {
        SentBody kept = sent;
        if (kept == null) {
            kept = new SentBody(exchange.record.connection.account().waitingBodies(), mostKept);
            sent = kept;
        }
        if (exchange.head.isConnect()) {
            kept.forget(); // what a tunnel has carried is not carried again
        } else {
            kept.keep(data);
        }
    }

    /** The client has ended it with trailers. */
    void onTrailers(Fields fields) {
        reading = true;
        complete = true;
        owner.deadlines().touch();
        HopByHop.stripTrailers(fields);
        ProxyFields.removeAll(fields);
        Failure refusal = owner.routing().checkTrailers(fields);
        if (refusal != null) {
            owner.fail(refusal);
            return;
        }
        switch (intake()) {
            case HOLD -> {
                if (!exchange.held.tryAdd(fields.heldBytes())) {
                    owner.fail(Failure.of(Cause.OVERLOAD, "no memory is left for the trailers of a request"));
                    return;
                }
                trailers = fields;
                onHeld();
            }
            case FORWARD -> send(fields);
            case DISCARD -> {}
        }
    }

    private void send(Fields last) {
        trailers = last;
        sentTrailers = true;
        if (!owner.routing().onRequestTrailers(last)) {
            return;
        }
        Action action = exchange.state.on(Event.REQUEST_ENDED);
        relay.trailers(last);
        owner.perform(action);
    }

    /** What the client had sent was read. */
    void onReadComplete() {
        reading = false;
        relay.flush();
    }

    void flush() {
        relay.flush();
    }

    /** Whether the upstream does not take what has come of it. */
    boolean isStalled() {
        return relay.isStalled();
    }

    /** The upstream has room again. */
    void credit() {
        relay.credit();
    }

    /** The exchange is over: nobody wants what is still held. */
    void discard() {
        relay.end();
        if (held != null) {
            held.discard();
        }
        onResponse();
        trailers = null;
    }
}
