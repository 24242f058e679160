package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Phase;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.ClientStream;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** What the upstream of an exchange sends, on its way to the client: heads, past the filters, and the body. */
final class Response {
    /** How many interim heads are forwarded, the one that asks for the request's body not counted. */
    private static final int MAX_INTERIM = 8;

    private static final int CONTINUE = 100;
    private static final AsciiString CONTINUE_TOKEN = new AsciiString("100-continue");

    private final ExchangeContext exchange;
    private final Owner owner;
    private final Relay relay;
    private @Nullable WebSocketCloser closer; // null unless it is a WebSocket
    private byte interim; // heads that were forwarded
    private boolean continued; // the client was told to send its body

    /** The exchange whose response it is. */
    interface Owner extends StalledBody.Owner {
        /** Returns the time limits, which are to know of bytes that move. */
        Deadlines deadlines();

        /** Returns what lets filters see heads and trailers. */
        RequestRouting routing();

        /** The final head came, so no other attempt is made. */
        void onFinalHead();

        /** The head, which is not sent yet, makes a tunnel of the exchange. */
        void becomeTunnel();

        /** The head has been sent. */
        void onResponded();

        /** Bytes go to the client. */
        void onSent(int bytes);

        /** Does what the end of a direction means. */
        void perform(Action action);
    }

    Response(ExchangeContext exchange, Owner owner) {
        this.exchange = exchange;
        this.owner = owner;
        this.relay = new Relay(owner, exchange.state);
    }

    /** It is a WebSocket's: between its frames another may have to be sent. */
    void interleave(WebSocketCloser by) {
        closer = by;
    }

    /** It will come by this stream. */
    void attach(ClientStream stream) {
        relay.join(stream, exchange.server);
    }

    /**
     * An interim head came, which is forwarded if the client has room for it.
     *
     * @param sending whether the client sends the request's body already
     */
    void onInterim(ResponseHead head, boolean sending) {
        if (exchange.state.phase() == Phase.REQUESTED) {
            owner.deadlines().touch();
            if (isForwarded(head, sending)) {
                HopByHop.stripResponse(head.fields());
                relay.wrote();
                exchange.server.head(head, false);
            }
        }
    }

    /** Whether the client waits for consent to the request's body, which the upstream has not given yet. */
    boolean isContinueDue() {
        return !continued && exchange.head.fields().hasElement(FieldName.EXPECT, CONTINUE_TOKEN);
    }

    /** Interim heads have no credit that would stop their sender, and except for one are only hints. */
    private boolean isForwarded(ResponseHead head, boolean sending) {
        if (head.status() == CONTINUE && sending) {
            return false; // the client sends its body already (RFC 9110, section 10.1.1)
        }
        if (head.status() == CONTINUE && !continued) {
            continued = true; // a client that waits for it would never send its body
            return true;
        }
        if (interim == MAX_INTERIM || !exchange.server.hasRoomForHints()) {
            return false;
        }
        interim++;
        return true;
    }

    /** The final head came, and no other attempt is made. */
    void onHead(ResponseHead head, boolean last) {
        owner.onFinalHead();
        HopByHop.stripResponse(head.fields());
        if (!owner.routing().onResponse(head)) {
            return;
        }
        boolean tunnel = exchange.head.isConnect() && head.status() < 300;
        if (exchange.state.on(tunnel ? Event.TUNNEL_HEAD : Event.RESPONSE_HEAD) != Action.FORWARD_HEAD) {
            return;
        }
        exchange.record.status = head.status();
        if (exchange.held.tryAdd(head.fields().heldBytes())) {
            exchange.record.responseFields = head.fields(); // for the log, which can do without
        }
        exchange.record.respondedNanos = exchange.loop.wheel.nanoTime();
        Action action = last ? exchange.state.on(Event.RESPONSE_ENDED) : Action.NOTHING;
        if (tunnel) {
            head.fields().remove(FieldName.CONTENT_LENGTH); // RFC 9110, section 9.3.6
            owner.becomeTunnel();
        }
        relay.wrote();
        exchange.server.head(head, last);
        if (tunnel) {
            relay.flush(); // the client waits for it, and maybe the upstream for the client
        }
        owner.onResponded();
        owner.perform(action);
    }

    void onData(ByteBuf data, boolean last) {
        owner.deadlines().touch();
        WebSocketCloser closing = closer;
        if (closing == null) {
            pass(data, last);
            return;
        }
        boolean wanted = closing.isWanted();
        int length = data.readableBytes();
        ByteBuf passed = closing.pass(data);
        int dropped = length - passed.readableBytes();
        pass(passed, last && !wanted);
        if (wanted) {
            relay.skip(dropped);
            sendClose();
            if (last) {
                pass(Unpooled.EMPTY_BUFFER, true);
            }
        }
    }

    private void pass(ByteBuf data, boolean last) {
        owner.onSent(data.readableBytes());
        Action action = last ? exchange.state.on(Event.RESPONSE_ENDED) : Action.NOTHING;
        relay.data(data, last);
        owner.perform(action);
    }

    /** Puts a Close frame of our own between the upstream's bytes, if now is the time for it. */
    void sendClose() {
        WebSocketCloser closing = closer;
        ByteBuf frame = closing == null || exchange.state.isDone() ? null : closing.closeFrame();
        if (frame != null) {
            owner.onSent(frame.readableBytes());
            relay.insert(frame, false);
        }
    }

    void onTrailers(Fields trailers) {
        HopByHop.stripTrailers(trailers);
        if (!owner.routing().onResponseTrailers(trailers)) {
            return;
        }
        Action action = exchange.state.on(Event.RESPONSE_ENDED);
        relay.trailers(trailers);
        owner.perform(action);
    }

    /** The client has room again. */
    void credit() {
        relay.credit();
    }

    /** The exchange is over. */
    void end() {
        relay.end();
    }

    void flush() {
        relay.flush();
    }
}
