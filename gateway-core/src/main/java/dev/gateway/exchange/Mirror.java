package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Phase;
import dev.gateway.exchange.body.MirroredBody;
import dev.gateway.filter.MirrorResult;
import dev.gateway.filter.MirrorTarget;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.overload.memory.Cost;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.time.Timer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One copy of a request, for another upstream. It makes one attempt, and drops the answer. What {@link #add} gets only waits
 * here. {@link #write} and {@link #send} pass it on as fast as the upstream takes it. If too much waits, the copy ends. It may
 * outlive the exchange by the time that its upstream has for an answer, and keeps the generation in use until it ends.
 */
final class Mirror extends SideRequest {
    /** Maximum number of bytes of an answer to read; the connection of a longer one is not reused. */
    static final long MOST_ANSWER = 1 << 20;

    /** Time for the answer if neither the rule nor the upstream limits it. */
    static final long MOST_MILLIS = 60_000;

    private static final Logger log = LoggerFactory.getLogger(Mirror.class);

    private final MirrorTarget target;
    private final GenerationRef generation;
    private final long attemptMillis;
    private final MirroredBody body;
    private final TimeLimit timeLimit = new TimeLimit();
    private boolean bodyless;
    private boolean complete; // the whole request is here
    private @Nullable Fields trailers; // null if the request ends without trailers
    private @Nullable MirrorResult refusal; // why the copy must end, null if it need not
    private boolean writing;
    private boolean unflushed;
    private int status; // of the answer, 0 before
    private long received; // bytes of the answer's body

    /** The time that there is for the copy, or for its answer. */
    private final class TimeLimit extends Timer {
        @Override
        protected void onExpired() {
            if (status != 0) { // the rest of its answer is of no interest
                end(null, MirrorResult.of(status));
                return;
            }
            Failure failure = Failure.of(Cause.UPSTREAM_TIMEOUT, "no answer to the copy of a request in time");
            judge(failure, exchange.state.isRequestEnded());
            fail(failure);
        }
    }

    /**
     * Makes a copy that has not begun.
     *
     * @param head the copy's own
     * @param attemptMillis maximum time from now to the end of the answer, 0 to limit only the time for the answer
     */
    Mirror(
            ExchangeContext caller,
            GenerationRef generation,
            MirrorTarget target,
            RequestHead head,
            long attemptMillis) {
        super(
                context(caller, caller.record.connection.withAccount(caller.loop.mirrors), target.upstream(), head),
                target.upstream());
        this.target = target;
        this.generation = generation;
        this.attemptMillis = attemptMillis;
        this.body = new MirroredBody(this, caller.loop.mirrors.waitingBodies(), exchange.held);
        exchange.dropSettings(); // the copy may last longer than the exchange
    }

    /** Whether the gateway is short of nothing that a copy of this request needs. */
    static boolean mayBegin(ExchangeContext caller) {
        return !caller.loop.gate.endsKeepAlive()
                && caller.loop.mirrors.hasSurplus(Cost.EXCHANGE + caller.head.heldBytes());
    }

    /**
     * Begins it; {@link #send} must follow. Ends it at once if too little memory is left.
     *
     * @param headOnly whether the request has no body
     */
    void begin(boolean headOnly) {
        generation.begin();
        target.tally().onBegun();
        bodyless = headOnly;
        if (!exchange.held.tryAddSurplus(Cost.EXCHANGE + exchange.head.heldBytes())) {
            end(null, MirrorResult.OVERLOAD);
            return;
        }
        if (attemptMillis > 0) {
            exchange.loop.wheel.arm(timeLimit, attemptMillis);
        }
        if (headOnly) {
            complete();
        }
    }

    private void complete() {
        complete = true;
        if (attemptMillis == 0) {
            long answer = upstream.settings().responseHeadersMillis();
            exchange.loop.wheel.arm(timeLimit, answer > 0 ? answer : MOST_MILLIS);
        }
    }

    // ---- the request

    /** Takes a piece of the body and its ownership. Passes nothing on. */
    void add(ByteBuf data, boolean last) {
        if (isDone() || complete || refusal != null || !data.isReadable()) {
            data.release();
        } else {
            refusal = body.add(data);
        }
        if (last && !isDone() && !complete) {
            complete();
        }
    }

    /** The request ends with trailers. Passes nothing on. */
    void addTrailers(Fields fields) {
        if (isDone() || complete) {
            return; // those of an earlier attempt
        }
        if (exchange.held.tryAddSurplus(fields.heldBytes())) {
            trailers = fields.copy();
        } else {
            refusal = MirrorResult.OVERLOAD;
        }
        complete();
    }

    /** Connects if it has not yet, and sends what waits. */
    void send() {
        if (exchange.state.phase() == Phase.ROUTING && refusal == null) {
            exchange.state.on(Event.ROUTED);
            open();
        } else {
            write();
        }
        if (unflushed && !writing && stream != null && !isDone()) {
            unflushed = false;
            stream.flush();
            settle();
        }
    }

    /** Writes what the upstream takes now; {@link #send} must follow. */
    void write() {
        if (refusal != null) {
            end(null, refusal);
            return;
        }
        ClientStream to = stream;
        if (to != null && !writing) { // else it was called from inside the loop, which sees the room by itself
            writing = true;
            try {
                writeTo(to);
            } finally {
                writing = false;
            }
        }
        settle();
    }

    private void settle() {
        ClientStream to = stream;
        boolean hasRoom = to != null && to.isWritable();
        if (!isDone() && !(hasRoom && unflushed)) { // else what was given stays charged until the flush
            body.settle(to != null && hasRoom && to.lingering() == 0);
        }
    }

    private void writeTo(ClientStream to) {
        while (!isDone() && !body.isEmpty() && hasRoom(to)) {
            writePiece(to, complete && trailers == null);
        }
        if (complete && body.isEmpty() && !isDone() && !exchange.state.isRequestEnded()) {
            writeEnd(to);
        }
    }

    /** A full stream may get room when it sends what it has. */
    private boolean hasRoom(ClientStream to) {
        if (unflushed && !to.isWritable()) {
            unflushed = false;
            to.flush();
        }
        return !isDone() && to.isWritable();
    }

    private void writePiece(ClientStream to, boolean mayBeLast) {
        ByteBuf piece = body.poll();
        if (piece != null) {
            boolean last = mayBeLast && body.isEmpty();
            if (last) {
                exchange.state.on(Event.REQUEST_ENDED);
            }
            unflushed = true;
            to.data(piece, last);
        }
    }

    private void writeEnd(ClientStream to) {
        exchange.state.on(Event.REQUEST_ENDED);
        unflushed = true;
        if (trailers == null) {
            to.data(Unpooled.EMPTY_BUFFER, true);
        } else {
            to.trailers(trailers);
        }
    }

    @Override
    public void onOpened(Attempt from, ClientStream opened, DialedPeer peer) {
        unflushed = true;
        sendHead(opened, peer, bodyless);
        send();
    }

    @Override
    public void onWritable() {
        send();
    }

    // ---- the answer

    @Override
    void onFinalHead(ResponseHead head, boolean last) {
        exchange.state.on(Event.RESPONSE_HEAD);
        status = head.status();
        if (last) {
            onAnswerComplete();
        }
    }

    @Override
    public void onData(ByteBuf data, boolean last) {
        int bytes = data.readableBytes();
        data.release();
        received += bytes;
        if (!last && received > MOST_ANSWER) {
            end(null, MirrorResult.of(status));
            return;
        }
        if (stream != null) {
            stream.consumed(bytes);
        }
        if (last && !isDone()) {
            onAnswerComplete();
        }
    }

    @Override
    public void onTrailers(Fields fields) {
        onAnswerEnded(fields);
        onAnswerComplete();
    }

    @Override
    public void flush() {}

    private void onAnswerComplete() {
        if (exchange.state.isRequestEnded() && current != null) {
            current.finish(); // so that its connection can be reused
        }
        end(null, MirrorResult.of(status));
    }

    @Override
    public void onFailed(Failure reported) {
        Failure failure = Attempt.exact(reported, exchange.state.isResponded());
        judge(failure, failure.cause() == Cause.UPSTREAM_TIMEOUT && exchange.state.isRequestEnded());
        fail(failure);
    }

    /** There is no other attempt. */
    @Override
    public long leftMillis() {
        return 0;
    }

    // ---- the end

    /** All copies of the event loop together, so that they are ended before a client that holds less. */
    @Override
    public Object culprit() {
        return exchange.loop.mirrors;
    }

    /** The exchange is over. The copy is of no use if a part of the request is missing. */
    void onExchangeEnded() {
        if (complete) {
            send();
        } else {
            abort();
        }
    }

    /** The client has gone, or the request ended early. */
    void abort() {
        end(Attempt.ABANDONED, MirrorResult.ABORTED);
    }

    /** It has thrown an exception, which must not reach the exchange. */
    @Override
    public void onDefect(Throwable defect) {
        if (defect instanceof OutOfMemoryError) {
            fail(Failure.of(Cause.OVERLOAD, "no memory is left: " + defect.getMessage()));
        } else {
            log.error("Ending the copy of a request for {}", upstream, defect);
            fail(Failure.of(Cause.UNKNOWN, defect.getClass().getName()));
        }
    }

    /** It makes one attempt. */
    @Override
    public void onUnresponsive(String why) {
        if (exchange.state.phase() == Phase.REQUESTED && upstream.health().closesOnFailure()) {
            fail(Attempt.unresponsive(why));
        }
    }

    @Override
    public void fail(Failure failure) {
        end(failure, result(failure.cause()));
    }

    private static MirrorResult result(Cause cause) {
        return switch (cause) {
            case NO_HEALTHY_ENDPOINT -> MirrorResult.NO_ENDPOINT;
            case PENDING_OVERFLOW, PENDING_TIMEOUT -> MirrorResult.LIMIT;
            case DNS_FAILED, CONNECT_FAILED, CONNECT_TIMEOUT, TLS_FAILED -> MirrorResult.UNREACHABLE;
            case UPSTREAM_TIMEOUT -> MirrorResult.TIMEOUT;
            case OVERLOAD -> MirrorResult.OVERLOAD;
            case DRAIN -> MirrorResult.ABORTED;
            default -> MirrorResult.BROKEN;
        };
    }

    private void end(@Nullable Failure failure, MirrorResult result) {
        if (isDone()) {
            return;
        }
        exchange.state.on(Event.FAILED); // however it ends: no answer to it goes anywhere
        timeLimit.cancel();
        body.discard();
        trailers = null;
        exchange.held.release();
        try {
            if (current != null) {
                current.abandon(failure == null ? Attempt.ABANDONED : failure);
            }
        } finally {
            onEnded(failure, result);
        }
    }

    private void onEnded(@Nullable Failure failure, MirrorResult result) {
        try {
            tellEnd(status, failure, false);
        } finally {
            target.tally().onEnded(result);
            generation.end();
        }
    }
}
