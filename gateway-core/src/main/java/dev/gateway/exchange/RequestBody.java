package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Intake;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * What the client of an exchange sends after its head: held while there is no stream to take it, then relayed. No credit
 * is given for what is held, so the adapter's watermark bounds it. Owns what it holds until {@link #discard}.
 */
final class RequestBody {
    private final Exchange exchange;
    private final long maxBytes;
    private final Relay relay = new Relay();
    private @Nullable ArrayDeque<ByteBuf> held;
    private @Nullable Fields heldTrailers;
    private boolean complete; // the client has sent all
    private boolean sent; // some of it is gone upstream, so that no other attempt can send it
    private boolean reading = true; // downstream's read-complete will come

    /**
     * Makes the body of a request.
     *
     * @param maxBytes how many bytes it may have if it is no tunnel, 0 for no limit
     */
    RequestBody(Exchange exchange, long maxBytes) {
        this.exchange = exchange;
        this.maxBytes = maxBytes;
    }

    /** The head was the whole request. */
    void completeAtOnce() {
        complete = true;
    }

    /** Whether some of it is gone upstream, so that no other attempt can send it. */
    boolean isSent() {
        return sent;
    }

    /** Sends the head, and what has been held, on the stream of an attempt. */
    void sendTo(Attempt attempt, ClientStream stream) {
        relay.join(exchange.server, stream);
        boolean bodyless = complete && heldTrailers == null && !isHolding();
        if (bodyless) {
            exchange.state.on(Event.REQUEST_ENDED);
        }
        relay.wrote();
        stream.head(exchange.head, bodyless);
        if (!bodyless) {
            sendHeld(attempt);
        }
        if (!reading && !attempt.isOver()) {
            relay.flush();
        }
    }

    private void sendHeld(Attempt attempt) {
        while (held != null && !held.isEmpty() && !attempt.isOver()) {
            ByteBuf data = held.poll();
            send(data, complete && heldTrailers == null && held.isEmpty());
        }
        Fields trailers = heldTrailers;
        if (trailers != null && !attempt.isOver()) {
            heldTrailers = null;
            send(trailers);
        }
    }

    private boolean isHolding() {
        return held != null && !held.isEmpty();
    }

    /** What comes inside a call, while older bytes are still held, must not overtake them. */
    private Intake intake() {
        Intake intake = exchange.state.intake();
        return intake == Intake.FORWARD && isHolding() ? Intake.HOLD : intake;
    }

    /** The client has sent some of it. */
    void onData(ByteBuf data, boolean last) {
        reading = true;
        complete |= last;
        exchange.record.receivedBytes += data.readableBytes();
        switch (intake()) {
            case HOLD -> {
                if (held == null) {
                    held = new ArrayDeque<>(4);
                }
                held.add(data);
                exchange.deadlines.touch();
            }
            case FORWARD -> {
                exchange.deadlines.touch();
                send(data, last);
            }
            case DISCARD -> {
                data.release();
                return;
            }
        }
        if (maxBytes > 0 && exchange.record.receivedBytes > maxBytes && !exchange.head.isConnect()) {
            exchange.fail(Failure.of(Cause.BODY_TOO_LARGE, "a body of more than " + maxBytes + " bytes"));
        }
    }

    private void send(ByteBuf data, boolean last) {
        sent |= data.isReadable();
        Action action = last ? exchange.state.on(Event.REQUEST_ENDED) : Action.NOTHING;
        relay.data(data, last);
        exchange.perform(action);
    }

    /** The client has ended it with trailers. */
    void onTrailers(Fields trailers) {
        reading = true;
        complete = true;
        HopByHop.stripTrailers(trailers);
        switch (intake()) {
            case HOLD -> heldTrailers = trailers;
            case FORWARD -> send(trailers);
            case DISCARD -> {}
        }
    }

    private void send(Fields trailers) {
        sent = true;
        Action action = exchange.state.on(Event.REQUEST_ENDED);
        relay.trailers(trailers);
        exchange.perform(action);
    }

    /** What the client had sent was read. */
    void onReadComplete() {
        reading = false;
        relay.flush();
    }

    void flush() {
        relay.flush();
    }

    /** The upstream has room again. */
    void credit() {
        relay.credit();
    }

    /** The exchange is over: nobody wants what is still held. */
    void discard() {
        if (held != null) {
            for (ByteBuf data = held.poll(); data != null; data = held.poll()) {
                data.release();
            }
        }
        heldTrailers = null;
    }
}
