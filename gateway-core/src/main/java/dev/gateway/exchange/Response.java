package dev.gateway.exchange;

import dev.gateway.config.listener.ListenerConfig.ServerHeader.Transformation;
import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Phase;
import dev.gateway.exchange.body.TransformedBody;
import dev.gateway.exchange.request.RequestChecks;
import dev.gateway.exchange.settings.ServerHeader;
import dev.gateway.exchange.tunnel.WebSocketCloser;
import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.ClientStream;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** The upstream's response on its way to the client: passes heads and trailers through the filters, and relays the body. */
final class Response implements Attempt.Sink, TransformedBody.Output {
    /** Maximum number of interim heads to forward, besides the first 100 (Continue). */
    private static final int MAX_INTERIM = 8;

    private static final int CONTINUE = 100;
    private static final int FIRST_ERROR = 400;
    private static final AsciiString CONTINUE_TOKEN = new AsciiString("100-continue");

    private final Exchange exchange;
    private final Relay relay;
    private @Nullable WebSocketCloser closer; // null unless it is a WebSocket
    private @Nullable TransformedBody transformed; // null unless a filter transforms the body
    private byte interim; // number of forwarded interim heads
    private boolean continued; // 100 (Continue) was forwarded
    private boolean hidesServer; // the trailers must not have Server

    Response(Exchange exchange) {
        this.exchange = exchange;
        this.relay = Relay.ofResponse(exchange);
    }

    /** The response is a WebSocket, and the gateway may have to insert a Close frame between its frames. */
    void interleave(WebSocketCloser by) {
        closer = by;
    }

    /** The response will arrive on this stream. */
    void attach(ClientStream stream) {
        relay.join(stream, exchange.server);
    }

    /**
     * An interim head has arrived. Forwards it if the client has room for it.
     *
     * @param sending whether the client already sends the request's body
     */
    void onInterim(ResponseHead head, boolean sending) {
        if (exchange.state.phase() == Phase.REQUESTED) {
            exchange.deadlines.touch();
            if (isForwarded(head, sending)) {
                HopByHop.stripResponse(head.status(), head.fields());
                if (!exchange.routing.onInterim(head)) {
                    return;
                }
                if (!exchange.routing.isProxied() && head.fields().contains(FieldName.SERVER)) {
                    serverHeader().applyTo(head.fields()); // one without the field does not get it
                }
                relay.wrote();
                exchange.server.head(head, false);
            }
        }
    }

    /** Whether the client waits for 100 (Continue), which the upstream has not sent yet. */
    boolean isContinueDue() {
        return !continued && exchange.head.fields().hasElement(FieldName.EXPECT, CONTINUE_TOKEN);
    }

    /** Tells the client to send its body. The upstream may do so later, which the client does not hear again. */
    void sendContinue() {
        continued = true;
        exchange.server.head(new ResponseHead(CONTINUE, null, new Fields(), -1), false);
        exchange.server.flush();
    }

    /**
     * Whether to forward an interim head. No credit limits them, and all except the first 100 (Continue) are only hints.
     */
    private boolean isForwarded(ResponseHead head, boolean sending) {
        if (head.status() == CONTINUE && (sending || continued)) {
            return false; // the client sends its body, or was told to (RFC 9110, section 10.1.1)
        }
        if (head.status() == CONTINUE) {
            continued = true; // a client that waits for it would never send its body
            return true;
        }
        if (interim == MAX_INTERIM || !exchange.server.hasRoomForHints()) {
            return false;
        }
        interim++;
        return true;
    }

    /** The final head has arrived, and will be forwarded. */
    void onHead(ResponseHead head, boolean last) {
        exchange.onFinalHead();
        HopByHop.stripResponse(head.status(), head.fields());
        if (!RequestChecks.isTunnel(exchange.head)) {
            exchange.loop.date.addTo(head.fields()); // before filters, which may remove it
        }
        if (!exchange.routing.onResponse(head)) {
            return;
        }
        exchange.beforeForwarding(head);
        if (!exchange.routing.isProxied()) { // what the client has chosen itself has nothing to hide
            ServerHeader server = serverHeader();
            server.applyTo(head.fields());
            hidesServer = server.transformation() != Transformation.PASS_THROUGH;
        }
        boolean tunnel = exchange.head.isConnect() && head.status() < 300;
        if (tunnel && exchange.head.isSwitched()) {
            exchange.onSwitched();
        }
        ErrorAnswer answer = head.status() >= FIRST_ERROR ? exchange.routing.answer(head.status(), true) : null;
        ErrorBody page = answer == null ? null : exchange.routing.errorBody(answer);
        boolean replaced = page != null && !(page instanceof ErrorBody.Unchanged);
        BodyTransform transform = tunnel || replaced ? null : exchange.routing.responseBody(head, last);
        if (exchange.state.on(tunnel ? Event.TUNNEL_HEAD : Event.RESPONSE_HEAD) != Action.FORWARD_HEAD) {
            if (transform != null) {
                transform.close();
            }
            return;
        }
        if (transform != null) {
            transformed = new TransformedBody(transform, this, exchange);
        }
        exchange.record.status = head.status();
        if (exchange.held.tryAdd(head.fields().heldBytes())) {
            exchange.record.responseFields = head.fields(); // for the log, only if there is memory for them
        }
        exchange.record.respondedNanos = exchange.loop.wheel.nanoTime();
        if (answer != null && page != null && replaced) {
            replace(head, answer, page, last);
            return;
        }
        Action action = last ? exchange.state.on(Event.RESPONSE_ENDED) : Action.NOTHING;
        if (tunnel) {
            head.fields().remove(FieldName.CONTENT_LENGTH); // RFC 9110, section 9.3.6
            exchange.becomeTunnel();
        }
        relay.wrote();
        exchange.server.head(head, last);
        if (tunnel) {
            relay.flush(); // the client waits for it, and the upstream may wait for the client
        }
        exchange.onResponded();
        exchange.perform(action);
    }

    private ServerHeader serverHeader() {
        return exchange.settings().serverHeader();
    }

    /** Sends the body that a filter or the listener has chosen instead of the upstream's. */
    private void replace(ResponseHead head, ErrorAnswer answer, ErrorBody body, boolean last) {
        Action action = exchange.state.on(Event.RESPONSE_ENDED);
        exchange.answerInstead(head, answer, body, !last && action == Action.FINISH);
        exchange.onResponded();
        exchange.perform(action);
    }

    @Override
    public void onData(ByteBuf data, boolean last) {
        exchange.deadlines.touch();
        TransformedBody through = transformed;
        if (through != null) {
            if (last) {
                exchange.deadlines.attemptOver(); // the upstream has sent everything
            }
            through.add(data, last);
            return;
        }
        WebSocketCloser closing = closer;
        if (closing == null) {
            pass(data, last, data.readableBytes());
            return;
        }
        boolean wanted = closing.isWanted();
        int length = data.readableBytes();
        ByteBuf passed = closing.pass(data);
        int dropped = length - passed.readableBytes();
        pass(passed, last && !wanted, passed.readableBytes());
        if (wanted) {
            relay.skip(dropped);
            sendClose();
            if (last) {
                pass(Unpooled.EMPTY_BUFFER, true, 0);
            }
        }
    }

    @Override
    public void pass(ByteBuf data, boolean last, int from) {
        exchange.onSent(data.readableBytes());
        Action action = last ? exchange.state.on(Event.RESPONSE_ENDED) : Action.NOTHING;
        relay.data(data, last, from);
        exchange.perform(action);
    }

    @Override
    public boolean mayPass() {
        return true;
    }

    @Override
    public boolean hasRoom() {
        return relay.hasRoom();
    }

    @Override
    public void taken(int bytes) {
        relay.skip(bytes);
    }

    /** Inserts the gateway's own Close frame between the upstream's frames, if it is due and the position allows it. */
    void sendClose() {
        WebSocketCloser closing = closer;
        ByteBuf frame = closing == null || exchange.state.isDone() ? null : closing.closeFrame();
        if (frame != null) {
            exchange.onSent(frame.readableBytes());
            relay.insert(frame, false);
        }
    }

    void onTrailers(Fields trailers) {
        HopByHop.stripTrailers(trailers);
        if (!exchange.routing.onResponseTrailers(trailers)) {
            return;
        }
        if (hidesServer) {
            trailers.remove(FieldName.SERVER);
        }
        if (transformed == null) {
            passTrailers(trailers);
        } else {
            exchange.deadlines.attemptOver();
            transformed.end(trailers);
        }
    }

    @Override
    public void passTrailers(Fields trailers) {
        Action action = exchange.state.on(Event.RESPONSE_ENDED);
        relay.trailers(trailers);
        exchange.perform(action);
    }

    /** The client has room again. */
    void credit() {
        if (transformed != null && transformed.run()) {
            relay.flush(); // no read is going on whose end would flush
        }
        relay.credit();
    }

    /** Whether the upstream has sent all of it. The client may not have received all yet. */
    boolean isReceived() {
        return transformed != null && transformed.isReceived();
    }

    /** Whether the client does not take what the upstream has sent, or only slowly. */
    boolean isAwaitingClient() {
        TransformedBody through = transformed;
        return relay.isAwaitingPeer() || (through != null && !through.isDone() && through.isStalled());
    }

    /** The exchange is over. */
    void end() {
        relay.end();
        if (transformed != null) {
            transformed.close();
        }
    }

    @Override
    public void flush() {
        if (transformed != null) {
            transformed.pause();
        }
        relay.flush();
    }
}
