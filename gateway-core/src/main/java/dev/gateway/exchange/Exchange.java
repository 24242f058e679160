package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Pending;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.route.Route;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.upstream.Upstream;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request and its response, and how they end. It is what the downstream connection tells of the client; {@link
 * RequestRouting} and {@link Attempts} lead to the upstream, {@link RequestBody} and {@link Response} are the two ways in
 * between. Made by {@link ExchangeHandler}, confined to its event loop. {@link ExchangeState} says what an event means.
 * Events may arrive inside calls, so the state is always changed before anybody is called.
 */
final class Exchange extends ExchangeContext
        implements StreamEvents,
                Attempts.Owner,
                Deadlines.Owner,
                RequestBody.Owner,
                RequestRouting.Owner,
                Response.Owner,
                TunnelExchange.Owner {
    private static final Logger log = LoggerFactory.getLogger(Exchange.class);

    private static final Fields NO_FIELDS = new Fields();

    private final Deadlines deadlines;
    private final RequestBody request;
    private final Response response;
    private final RequestRouting routing;
    private final GenerationRef generation;
    private @Nullable Attempts attempts; // null before filters have proceeded
    private @Nullable TunnelExchange tunnel; // null unless it has become one
    private boolean draining; // no more requests are taken from this connection

    Exchange(
            LoopServices loop, GenerationRef generation, ServerStream server, RequestHead head, ExchangeRecord record) {
        super(loop, generation.settings(), server, head, record);
        this.generation = generation;
        this.deadlines = new Deadlines(this, loop.wheel);
        this.request = new RequestBody(this, this, settings().maxRequestBodyBytes(record.connection.listener()));
        this.response = new Response(this, this);
        this.routing = new RequestRouting(this, this);
    }

    void begin(boolean last) {
        if (last) {
            request.completeAtOnce();
        }
        loop.observer.onBegun(record);
        try {
            Failure refusal = admit();
            if (refusal == null) {
                routing.enter();
            } else {
                turnAway(refusal);
            }
        } catch (RuntimeException | OutOfMemoryError e) {
            onDefect(e);
        }
    }

    @Override
    public void sendTo(Upstream upstream, Route route) {
        if (!loop.gate.admits(upstream.waiting(), held.bytes())) {
            record.upstream = upstream.name();
            fail(Failure.of(Cause.OVERLOAD, "requests that wait for " + upstream + " hold as much memory as is left"));
            return;
        }
        held.waitFor(upstream.waiting());
        Attempts made = new Attempts(this, this, route, upstream);
        attempts = made;
        request.watchPace();
        if (request.passes(routing.inspector())) {
            made.open();
        }
    }

    /** What is left is a request that its head was all of. */
    @Override
    public void onUpgradeRefused() {
        record.kind = Kind.HTTP;
        request.completeAtOnce();
    }

    // ---- what the client does

    @Override
    public void onData(ByteBuf data, boolean last) {
        request.onData(data, last);
    }

    @Override
    public void onTrailers(Fields trailers) {
        request.onTrailers(trailers);
    }

    @Override
    public void onWritable() {
        if (!state.isDone()) {
            deadlines.touch();
            response.credit();
        }
    }

    @Override
    public void onReadComplete() {
        request.onReadComplete();
    }

    @Override
    public void onReset(Failure failure) {
        if (state.isDone()) {
            return;
        }
        Pending pending = state.pending();
        state.on(Event.CLIENT_GONE);
        undo(pending, failure);
        if (!state.isResponded()) {
            record.status = failure.status();
            if (failure.cause() != Cause.CLIENT_CLOSED) {
                // What the client did wrong, an adapter that still can lets it be told; any other drops the answer.
                FailureAnswer.tell(this, Action.ANSWER, failure, routing.isProxied(), NO_FIELDS);
            }
        }
        complete(failure);
    }

    // ---- tunnels

    @Override
    public void becomeTunnel() {
        TunnelExchange made = new TunnelExchange(this, this);
        tunnel = made;
        made.open(routing.tunnelLimits());
    }

    @Override
    public void onFinalHead() {
        request.onResponse();
        deadlines.headCame();
        if (isUpgradeRefused()) {
            onUpgradeRefused();
            state.on(Event.REQUEST_ENDED);
        }
    }

    @Override
    public void onResponded() {
        held.waitsNoMore();
        dropRoutes();
        if (tunnel != null) {
            tunnel.onAnswered();
            if (draining) {
                tunnel.onDraining();
            }
        }
    }

    @Override
    public void onDraining() {
        draining = true;
        if (tunnel != null && !state.isDone()) {
            tunnel.onDraining();
        }
    }

    @Override
    public void onReceived(int bytes) {
        record.receivedBytes += bytes;
        if (tunnel != null) {
            tunnel.onReceived(bytes);
        }
    }

    @Override
    public void onSent(int bytes) {
        record.sentBytes += bytes;
        if (tunnel != null) {
            tunnel.onSent(bytes);
        }
    }

    @Override
    public void onPaceDue() {
        request.onPaceDue();
    }

    @Override
    public boolean isContinueDue() {
        return request.isEmpty() && response.isContinueDue();
    }

    @Override
    public void onReportDue() {
        if (tunnel != null) {
            tunnel.onReportDue();
        }
    }

    // ---- time

    @Override
    public void onTimeout(Failure failure) {
        if (attempts != null) {
            attempts.onTimeout(failure);
        }
        fail(failure);
    }

    @Override
    public void onSilent() {
        if (attempts != null) {
            attempts.onSilent();
        }
    }

    @Override
    public boolean owesHead() {
        return state.isRequestEnded() || head.isConnect() || request.isStalled() || isContinueDue();
    }

    @Override
    public void onAttemptTimeout(Failure failure) {
        if (attempts != null) {
            attempts.onBroken(failure);
        }
    }

    @Override
    public void onTimeUp(Failure failure) {
        if (tunnel != null) {
            tunnel.onTimeUp(failure);
        } else if (!state.isResponded()) {
            onTimeout(Failure.of(Cause.UPSTREAM_TIMEOUT, failure.detail())); // it is the upstream that owes something
        } else {
            onTimeout(failure);
        }
    }

    @Override
    public void onBackedOff() {
        try {
            if (attempts != null && state.on(Event.BACKED_OFF) == Action.OPEN) {
                attempts.open();
            }
        } catch (RuntimeException e) {
            onDefect(e);
        }
    }

    // ---- what its parts ask for

    @Override
    public Deadlines deadlines() {
        return deadlines;
    }

    @Override
    public RequestRouting routing() {
        return routing;
    }

    @Override
    public RequestBody request() {
        return request;
    }

    @Override
    public Response response() {
        return response;
    }

    // ---- the end

    /** The exchange cannot succeed: answers the client if that is still possible, else resets its stream. */
    @Override
    public void fail(Failure failure) {
        fail(failure, NO_FIELDS);
    }

    @Override
    public void fail(Failure failure, Fields fields) {
        if (state.isDone()) {
            return;
        }
        Pending pending = state.pending();
        Action action = state.on(Event.FAILED);
        undo(pending, failure);
        FailureAnswer.tell(this, action, failure, routing.isProxied(), routing.onFailure(fields));
        complete(failure);
    }

    /** There is no room for the exchange, and nothing has been done for it yet. */
    private void turnAway(Failure failure) {
        record.status = failure.status();
        if (server.refuse(failure)) {
            state.on(Event.FAILED);
            complete(failure);
        } else {
            fail(failure);
        }
    }

    /**
     * A filter, router or balancer threw: a defect, which must neither reach the connection, that others may share, nor
     * leave this exchange open.
     */
    @Override
    public void onDefect(Throwable defect) {
        if (defect instanceof OutOfMemoryError) {
            fail(Failure.of(Cause.OVERLOAD, "no memory is left: " + defect.getMessage()));
            return;
        }
        log.error("Failing an exchange of listener {}", record.connection.listenerName(), defect);
        fail(Failure.of(Cause.UNKNOWN, defect.getClass().getName()));
    }

    @Override
    public void perform(Action action) {
        switch (action) {
            case FINISH -> finish(false);
            case FINISH_AND_RESET_UPSTREAM -> finish(true);
            case HALF_CLOSE -> {
                if (tunnel != null && !state.isDone()) { // it may have ended altogether in between
                    tunnel.onHalfClosed();
                }
            }
            case NOTHING, OPEN, WAIT, SEND_REQUEST, FORWARD_HEAD, ANSWER, RESET_CLIENT, RECORD -> {}
        }
    }

    private void finish(boolean resetUpstream) {
        if (resetUpstream) {
            undo(Pending.ATTEMPT, Attempt.ABANDONED);
        }
        try {
            if (!resetUpstream) {
                if (attempts != null) {
                    attempts.finish();
                }
                request.flush();
            }
            response.flush();
        } catch (RuntimeException e) {
            FailureAnswer.breakOff(this, e); // it ends all the same, as nobody else would ever end it
        }
        complete(null);
    }

    /** It must end all the same if this throws, which filters may. */
    private void undo(Pending pending, Failure failure) {
        try {
            switch (pending) {
                case FILTERS -> routing.cancel();
                case ATTEMPT -> {
                    if (attempts != null) {
                        attempts.abandon(failure);
                    }
                }
                case BACKOFF, NOTHING -> {}
            }
        } catch (RuntimeException e) {
            log.error("Ending an exchange of listener {}", record.connection.listenerName(), e);
        }
    }

    @Override
    public void completeAnswered(int status, int bytes) {
        record.status = status;
        record.sentBytes = bytes;
        complete(null);
    }

    private void complete(@Nullable Failure ended) {
        Failure left = tunnel == null ? null : tunnel.closeReason();
        Failure failure = left == null ? ended : left;
        deadlines.cancel();
        held.release();
        recordEnd(failure, left != null);
        try {
            if (attempts != null) {
                attempts.tellEnd(state.isResponded() ? record.status : 0, ended, false);
            }
            request.discard();
            response.end();
        } catch (RuntimeException e) {
            log.error("Ending an exchange of listener {}", record.connection.listenerName(), e);
        }
        routing.end(); // whatever threw: filters may hold what others wait for
        if (tunnel != null) {
            loop.tunnels.remove(tunnel);
        }
        loop.end(record, generation);
    }
}
