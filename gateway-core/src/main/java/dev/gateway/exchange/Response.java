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

/** What the upstream of an exchange sends, on its way to the client: heads, past the filters, and the body. */
final class Response {
    /** How many interim heads are forwarded, the one that asks for the request's body not counted. */
    private static final int MAX_INTERIM = 8;

    private static final int CONTINUE = 100;

    private final Exchange exchange;
    private final Relay relay;
    private int interim; // that were forwarded
    private boolean continued; // the client was told to send its body

    Response(Exchange exchange) {
        this.exchange = exchange;
        this.relay = new Relay(exchange, exchange.state);
    }

    /** It will come by this stream. */
    void comesBy(ClientStream stream) {
        relay.join(stream, exchange.server);
    }

    /** An interim head came, which is forwarded if the client has room for it. */
    void onInterim(ResponseHead head) {
        if (exchange.state.phase() == Phase.REQUESTED) {
            exchange.deadlines.touch();
            if (isForwarded(head)) {
                HopByHop.stripResponse(head.fields());
                relay.wrote();
                exchange.server.head(head, false);
            }
        }
    }

    /** Whether the upstream has consented to the request's body by an interim head. */
    boolean isContinued() {
        return continued;
    }

    /** Interim heads have no credit that would stop their sender, and but for one are only hints. */
    private boolean isForwarded(ResponseHead head) {
        if (head.status() == CONTINUE && exchange.request.hasBegun()) {
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
        exchange.request.onResponse();
        exchange.deadlines.headCame();
        if (exchange.isUpgradeRefused()) {
            exchange.onUpgradeRefused();
            exchange.state.on(Event.REQUEST_ENDED);
        }
        HopByHop.stripResponse(head.fields());
        try {
            exchange.routing.onResponse(head);
        } catch (RuntimeException e) {
            exchange.onDefect(e);
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
            exchange.becomeTunnel();
        }
        relay.wrote();
        exchange.server.head(head, last);
        exchange.onResponded();
        if (tunnel) {
            relay.flush(); // the client waits for it, and maybe the upstream for the client
            exchange.onTunnelAnswered();
        }
        exchange.perform(action);
    }

    void onData(ByteBuf data, boolean last) {
        exchange.deadlines.touch();
        WebSocketCloser farewell = exchange.tunnel == null ? null : exchange.tunnel.farewell();
        if (farewell == null) {
            pass(data, last);
            return;
        }
        boolean wanted = farewell.isWanted();
        int length = data.readableBytes();
        ByteBuf passed = farewell.pass(data);
        int dropped = length - passed.readableBytes();
        pass(passed, last && !wanted);
        if (wanted) {
            relay.skip(dropped);
            sayFarewell(farewell);
            if (last) {
                pass(Unpooled.EMPTY_BUFFER, true);
            }
        }
    }

    private void pass(ByteBuf data, boolean last) {
        exchange.onSent(data.readableBytes());
        Action action = last ? exchange.state.on(Event.RESPONSE_ENDED) : Action.NOTHING;
        relay.data(data, last);
        exchange.perform(action);
    }

    /** Puts a word of our own between the upstream's bytes, if now is the time for it. */
    void sayFarewell(WebSocketCloser farewell) {
        ByteBuf word = exchange.state.isDone() ? null : farewell.word();
        if (word != null) {
            exchange.onSent(word.readableBytes());
            relay.insert(word, false);
        }
    }

    void onTrailers(Fields trailers) {
        HopByHop.stripTrailers(trailers);
        try {
            exchange.routing.onResponseTrailers(trailers);
        } catch (RuntimeException e) {
            exchange.onDefect(e);
            return;
        }
        Action action = exchange.state.on(Event.RESPONSE_ENDED);
        relay.trailers(trailers);
        exchange.perform(action);
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
