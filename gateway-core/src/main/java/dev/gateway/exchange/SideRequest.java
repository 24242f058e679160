package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.body.BodyContext;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ServerStream;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.stream.StreamKind;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request that the gateway sends beside the client's, with a context and a record of its own. It goes the way of clients'
 * requests: by balancer, health and limits of its upstream. The record is that of no exchange: it only tells observers of the
 * attempts. An empty authority in its head stands for that of the endpoint. Confined to the event loop of the exchange that
 * it is made for.
 */
abstract class SideRequest extends EndpointUse implements Attempt.Caller, Attempt.Sink, BodyContext {
    private static final Logger log = LoggerFactory.getLogger(SideRequest.class);

    private boolean endUnreported; // the observer does not know yet that this attempt has ended

    @Nullable
    Attempt current;

    @Nullable
    ClientStream stream; // of the current attempt

    /** Makes a request that has not begun, with a context that {@link #context} has made. */
    SideRequest(ExchangeContext own, Upstream upstream) {
        super(own, upstream, own.head.authority().isEmpty());
    }

    /**
     * Makes the context of such a request, which may outlive the client's connection.
     *
     * @param connection of the client; its account is charged for what the request makes the gateway hold
     */
    static ExchangeContext context(
            ExchangeContext caller, ConnectionInfo connection, Upstream upstream, RequestHead head) {
        ExchangeRecord record = new ExchangeRecord(connection);
        record.client = caller.record.client;
        record.target = caller.record.target;
        record.scheme = head.scheme();
        record.upstream = upstream.name();
        record.startNanos = caller.loop.wheel.nanoTime();
        ExchangeContext made = new ExchangeContext(caller.loop, caller.settings(), NoClient.INSTANCE, head, record);
        made.signature = caller.signature;
        return made;
    }

    @Override
    public Object culprit() {
        return BodyContext.super.culprit();
    }

    @Override
    public final boolean isDone() {
        return exchange.state.isDone();
    }

    /** Begins an attempt, in the state {@link ExchangeState.Phase#CONNECTING}. Fails if no endpoint may be used. */
    final void open() {
        try {
            Endpoint chosen = choose();
            if (chosen == null) {
                fail(noEndpoint());
            } else {
                openAt(chosen);
            }
        } catch (RuntimeException e) {
            onDefect(e);
        }
    }

    @Override
    public void onDefect(Throwable defect) {
        log.error("Failing a request of the gateway's own to {}", upstream, defect);
        fail(Failure.of(Cause.UNKNOWN, defect.getClass().getName()));
    }

    /** Returns the failure if there is no endpoint to choose. */
    Failure noEndpoint() {
        return Failure.of(Cause.NO_HEALTHY_ENDPOINT, upstream.whyNoEndpoint());
    }

    private void openAt(Endpoint chosen) {
        exchange.record.countAttempt();
        endUnreported = true;
        begin(chosen);
        Attempt made = begin(chosen, exchange.loop.wheel.nanoTime(), this, this);
        current = made;
        made.open(exchange.loop.opener, upstream, chosen, StreamKind.EXCHANGE, exchange.head, null);
    }

    @Override
    public final void onMoved(Endpoint to) {
        goTo(to);
        move(to);
    }

    @Override
    public final void onDialed(long nanos) {}

    /**
     * Sends the head on the stream of the attempt.
     *
     * @param peer who gets it
     * @param bodyless whether the head is all of the request
     */
    final void sendHead(ClientStream opened, DialedPeer peer, boolean bodyless) {
        exchange.signFor(peer);
        exchange.state.on(Event.OPENED);
        if (bodyless) {
            exchange.state.on(Event.REQUEST_ENDED);
        }
        exchange.record.requestedNanos = exchange.loop.wheel.nanoTime();
        stream = opened;
        exchange.chargeStream(opened);
        opened.head(exchange.head, bodyless);
    }

    @Override
    public final void onHead(ResponseHead head, boolean last) {
        Failure switched = unaskedSwitch(head);
        if (switched != null) {
            onFailed(switched);
        } else if (!head.isInterim()) {
            onAnswered(head, last);
            onHeard(exchange.loop.wheel.nanoTime());
            onFinalHead(head, last);
        }
    }

    /** The final head of the answer has arrived. */
    abstract void onFinalHead(ResponseHead head, boolean last);

    @Override
    public final long heldHeap() {
        return exchange.heldHeap();
    }

    @Override
    public final ConnectionInfo connection() {
        return exchange.record.connection;
    }

    /** Tells the observer of the current attempt's end, once. */
    final void tellEnd(int status, @Nullable Failure failure, boolean again) {
        if (endUnreported) {
            endUnreported = false;
            onServed();
            exchange.loop.observer.onAttemptEnded(exchange.record, status, failure, again);
        }
    }

    /**
     * Stands for the client's stream in requests of the gateway's own, so that they keep no connection of a client from
     * being freed. Drops what it gets.
     */
    private static final class NoClient implements ServerStream {
        static final NoClient INSTANCE = new NoClient();

        private NoClient() {}

        @Override
        public void head(ResponseHead head, boolean last) {}

        @Override
        public void data(ByteBuf data, boolean last) {
            data.release();
        }

        @Override
        public void trailers(Fields trailers) {}

        @Override
        public void flush() {}

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public void consumed(int bytes) {}

        @Override
        public void reset(Failure failure) {}

        @Override
        public ConnectionInfo connection() {
            throw new IllegalStateException("a request of the gateway's own has no client");
        }
    }
}
