package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Pending;
import dev.gateway.exchange.body.BodyContext;
import dev.gateway.exchange.progress.ProgressWatch;
import dev.gateway.exchange.progress.UpstreamUse;
import dev.gateway.exchange.request.RequestChecks;
import dev.gateway.exchange.route.Route;
import dev.gateway.exchange.settings.ExchangeSettings;
import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.filter.FilterDefect;
import dev.gateway.filter.MirrorTarget;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.upstream.Upstream;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request and its response, and how they end. The downstream connection calls it with what the client does. {@link
 * RequestRouting} and {@link Attempts} find and use the upstream; {@link RequestBody} and {@link Response} move the two
 * bodies. Made by {@link ExchangeHandler}, confined to its event loop. {@link ExchangeState} says what an event means.
 * Calls may cause further events on the same stack, so the state always changes before a call.
 */
final class Exchange extends ExchangeContext implements StreamEvents, BodyContext {
    private static final Logger log = LoggerFactory.getLogger(Exchange.class);

    private static final Fields NO_FIELDS = new Fields();

    final Deadlines deadlines;
    final RequestBody request;
    final Response response;
    final RequestRouting routing;
    private final GenerationRef generation;
    private @Nullable Attempts attempts; // null before filters have proceeded
    private @Nullable TunnelExchange tunnel; // null unless it has become one
    private boolean draining; // the client's connection takes no further requests

    Exchange(
            LoopServices loop,
            GenerationRef generation,
            ExchangeSettings settings,
            ServerStream server,
            RequestHead head,
            ExchangeRecord record) {
        super(loop, settings, server, head, record);
        this.generation = generation;
        this.deadlines = new Deadlines(this, loop.wheel);
        this.request = new RequestBody(this, settings.maxRequestBodyBytes());
        this.response = new Response(this);
        this.routing = new RequestRouting(this);
    }

    void begin(boolean last) {
        generation.add(this);
        if (last) {
            request.completeAtOnce();
        }
        loop.observer.onBegun(record);
        try {
            Failure refusal = admit();
            if (refusal == null) {
                Upstream upstream = routing.enter(generation.routes());
                if (upstream != null) {
                    sendTo(upstream);
                }
            } else {
                turnAway(refusal);
            }
        } catch (RuntimeException | OutOfMemoryError e) {
            onDefect(e);
        }
    }

    /** The request goes to this upstream. */
    void sendTo(Upstream upstream) {
        Route route = routing.route();
        Failure noRoom = chargeHead();
        if (noRoom != null) {
            fail(noRoom);
            return;
        }
        if (!loop.gate.admits(upstream.waiting(), held.bytes())) {
            record.upstream = upstream.name();
            fail(Failure.of(Cause.OVERLOAD, "requests that wait for " + upstream + " hold as much memory as is left"));
            return;
        }
        held.waitFor(upstream.waiting());
        Attempts made = new Attempts(this, route, upstream);
        attempts = made;
        List<MirrorTarget> mirrored = routing.mirrors();
        if (mirrored != null) {
            request.mirror(new Mirrors(
                    this, generation, mirrored, route.timeouts().backendRequestMillis(), made.tellsEndpoint()));
        }
        request.watchPace();
        BodyTransform transform = request.isExpected() ? routing.requestBody() : null;
        if (state.isDone()) { // a filter has limited the body, and more had arrived already
            if (transform != null) {
                transform.close();
            }
            return;
        }
        if (transform != null) {
            request.transform(transform);
        }
        if (request.passes(routing.inspector())) {
            made.open();
        }
    }

    /** The upgrade is refused: what is left is a request without a body. */
    void onUpgradeRefused() {
        record.kind = Kind.HTTP;
        request.completeAtOnce();
    }

    /** The request has become an extended CONNECT. */
    void onUpgradeAsked() {
        record.kind = RequestChecks.kind(head);
        request.reopen();
    }

    /** The upstream has switched protocols after the request, so the head that follows makes the exchange a tunnel. */
    void onSwitched() {
        record.kind = RequestChecks.kind(head);
        state.on(Event.SWITCHED);
        request.reopen();
    }

    // ---- events of the client

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
        request.onClientGone();
        if (!state.isResponded()) {
            record.status = failure.status();
            if (failure.cause() != Cause.CLIENT_CLOSED) {
                // An answer that says what the client did wrong. An adapter that cannot send it any more drops it.
                FailureAnswer.tell(this, Action.ANSWER, failure, NO_FIELDS);
            }
        }
        complete(failure);
    }

    // ---- tunnels

    /** The head makes the exchange a tunnel; it is not sent yet. */
    void becomeTunnel() {
        TunnelExchange made = new TunnelExchange(this);
        tunnel = made;
        made.open(routing.tunnelLimits());
    }

    /** The final head has arrived, so there will be no other attempt. */
    void onFinalHead() {
        request.onResponse();
        deadlines.headCame();
        if (isUpgradeRefused()) {
            onUpgradeRefused();
            state.on(Event.REQUEST_ENDED);
        }
    }

    /** After filters: they may decide whether caches may keep the response, which then gets no cookie. */
    void beforeForwarding(ResponseHead forwarded) {
        if (attempts != null) {
            attempts.beforeForwarding(forwarded);
        }
    }

    /** The head has been sent. */
    void onResponded() {
        held.waitsNoMore();
        dropSettings();
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
    public boolean onEnding(Failure failure) {
        return tunnel != null && !state.isDone() && tunnel.onEnding(failure);
    }

    void onReceived(int bytes) {
        record.receivedBytes += bytes;
        if (tunnel != null) {
            tunnel.onReceived(bytes);
        }
    }

    void onSent(int bytes) {
        record.sentBytes += bytes;
        if (tunnel != null) {
            tunnel.onSent(bytes);
        }
    }

    /** Whether the client may be waiting for 100 (Continue) before it sends the body. */
    boolean isContinueDue() {
        return request.isEmpty() && response.isContinueDue();
    }

    /** A client that waits for 100 (Continue) has waited long enough. */
    void onContinueDue() {
        if (!state.isDone() && !state.isResponded() && isContinueDue()) {
            response.sendContinue();
        }
    }

    /** A client that sends a body has had time for a few more bytes. */
    void onPaceDue() {
        request.onPaceDue();
    }

    void onReportDue() {
        if (tunnel != null) {
            tunnel.onReportDue();
        }
    }

    // ---- time

    /** The exchange has taken too long in total. */
    void onTimeout(Failure failure) {
        if (request.isAwaited()) {
            failForBody(failure);
            return;
        }
        if (attempts != null && !response.isReceived()) { // otherwise only the client is still to be served
            attempts.onTimeout(failure);
        }
        fail(failure);
    }

    /** The upstream has not sent a head for a long time; called each second until it does. */
    void onSilent() {
        if (attempts != null) {
            attempts.onSilent();
        }
    }

    /** Whether the gateway waits for the upstream: it has the whole request, or does not take the next part. */
    boolean owesHead() {
        return state.isRequestEnded() || head.isConnect() || request.isStalled() || isContinueDue();
    }

    /** The current attempt has taken too long, or its upstream has not answered in time. */
    void onAttemptTimeout(Failure failure) {
        if (request.isAwaited()) {
            failForBody(failure);
        } else if (attempts != null) {
            attempts.onBroken(failure);
        }
    }

    /** Time is up while the client still owes a part of the body: no upstream has failed, and none would do better. */
    private void failForBody(Failure timeUp) {
        fail(Failure.of(Cause.CLIENT_TIMEOUT, "the client has not sent the whole body: " + timeUp.detail()));
    }

    /** No byte has moved for too long ({@link Cause#IDLE_TIMEOUT}), or a tunnel is too old. */
    void onTimeUp(Failure failure) {
        if (tunnel != null) {
            tunnel.onTimeUp(failure);
        } else if (request.isAwaited()) {
            fail(Failure.of(Cause.CLIENT_TIMEOUT, failure.detail()));
        } else if (!state.isResponded()) {
            onTimeout(Failure.of(Cause.UPSTREAM_TIMEOUT, failure.detail())); // the gateway waited for the upstream
        } else {
            onTimeout(failure);
        }
    }

    /** It is time for the next attempt. */
    void onBackedOff() {
        try {
            if (attempts != null && state.on(Event.BACKED_OFF) == Action.OPEN) {
                attempts.open();
            }
        } catch (RuntimeException e) {
            onDefect(e);
        }
    }

    // ---- for its parts

    @Override
    public boolean isDone() {
        return state.isDone();
    }

    // ---- the end

    /** The exchange cannot succeed: answers the client if that is still possible, else resets its stream. */
    @Override
    public void fail(Failure failure) {
        fail(failure, NO_FIELDS);
    }

    /** The same; the answer has these further fields. */
    void fail(Failure failure, Fields fields) {
        if (state.isDone()) {
            return;
        }
        Pending pending = state.pending();
        Action action = state.on(Event.FAILED);
        undo(pending, failure);
        FailureAnswer.tell(this, action, failure, fields);
        complete(failure);
    }

    @Override
    void giveWay(Failure failure) {
        if (state.isDone()) {
            return;
        }
        if (tunnel != null) {
            tunnel.onTimeUp(failure);
        } else {
            fail(failure);
        }
    }

    @Override
    void showTo(ProgressWatch watch) {
        Attempts current = attempts;
        if (current == null || !state.isRequested() || response.isReceived()) {
            return;
        }
        UpstreamUse use = watch.use(current.upstream);
        if (use == null || !current.isAtUsedEndpoint()) {
            return;
        }
        use.clients().merge(culprit(), 1, Integer::sum);
        long bytes = moved();
        if (isAwaitingClient() && watch.isStill(this, bytes)) {
            use.idlers()
                    .add(new UpstreamUse.Idler(culprit(), deadlines.quietNanos(watch.nanos()), () -> endIdle(bytes)));
        }
    }

    private boolean isAwaitingClient() {
        return tunnel != null || response.isAwaitingClient() || request.isAwaitingClient();
    }

    private long moved() {
        return record.receivedBytes + record.sentBytes;
    }

    /** Others need its connection to the upstream: ends it, unless more bytes have moved than before. */
    private void endIdle(long before) {
        if (state.isDone() || moved() != before || !isAwaitingClient()) {
            return;
        }
        Failure failure = Failure.of(
                Cause.OVERLOAD, "requests of other clients waited for a connection, and nothing moved on this one");
        if (!onEnding(failure)) { // a WebSocket gets a Close frame
            fail(failure);
        }
    }

    /** A tunnel ends in order, for this reason: its protocol has said farewell. */
    void endInOrder(Failure failure) {
        if (state.isDone()) {
            return;
        }
        state.on(Event.FAILED);
        try {
            server.close(failure);
            if (attempts != null) {
                attempts.close(failure);
            }
        } catch (RuntimeException | OutOfMemoryError e) {
            FailureAnswer.breakOff(this, e);
        }
        complete(failure);
    }

    /** The gateway is overloaded, and has done nothing for the exchange yet. */
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
     * A filter, router or balancer threw an exception: a defect. It must not reach the connection, which other exchanges
     * may share, and must not leave this exchange open.
     */
    @Override
    public void onDefect(Throwable defect) {
        Failure failure = failure(defect);
        if (failure.cause() == Cause.UNKNOWN) {
            log.error("Failing an exchange of listener {}", record.connection.listenerName(), defect);
        }
        fail(failure);
    }

    private static Failure failure(Throwable defect) {
        Failure known = defect instanceof FilterDefect ofPlugin ? ofPlugin.failure() : null;
        if (known != null) {
            return known;
        }
        return defect instanceof OutOfMemoryError
                ? Failure.of(Cause.OVERLOAD, "no memory is left: " + defect.getMessage())
                : Failure.of(Cause.UNKNOWN, defect.getClass().getName());
    }

    /** Performs an action of the state machine at the end of a direction. */
    void perform(Action action) {
        switch (action) {
            case FINISH -> finish(false);
            case FINISH_AND_RESET_UPSTREAM -> finish(true);
            case HALF_CLOSE -> {
                if (tunnel != null && !state.isDone()) { // it may have ended completely in between
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
            FailureAnswer.breakOff(this, e); // it must still end, since nothing else would end it
        }
        complete(null);
    }

    /** Undoes what is pending. Filters may throw exceptions, but the exchange must still end. */
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

    /**
     * The gateway answers the request.
     *
     * @param refusal why the answer refuses the request, null if it does not
     * @param sending sends the answer with this status, and returns the number of bytes of its body
     */
    void answer(int status, @Nullable Failure refusal, IntSupplier sending) {
        record.status = status;
        Failure failure = refusal;
        try {
            record.sentBytes = sending.getAsInt();
        } catch (RuntimeException | OutOfMemoryError e) {
            failure = failure(e);
            FailureAnswer.breakOff(this, e);
        }
        complete(failure);
    }

    /**
     * Sends the head with another body, which ends the response.
     *
     * @param drops whether the upstream's own body is still to come
     */
    void answerInstead(ResponseHead response, ErrorAnswer answer, ErrorBody body, boolean drops) {
        if (drops && attempts != null) {
            attempts.drop();
        }
        try {
            onSent(loop.replies.sendInstead(server, response, answer, body, settings()));
        } catch (RuntimeException | OutOfMemoryError e) {
            FailureAnswer.breakOff(this, e); // the exchange ends as if it had been sent
        }
    }

    private void complete(@Nullable Failure ended) {
        try {
            release(ended);
        } catch (RuntimeException e) {
            log.error("Ending an exchange of listener {}", record.connection.listenerName(), e);
        } finally {
            end(); // also after an exception: filters may hold what other exchanges wait for
        }
    }

    private void release(@Nullable Failure ended) {
        Failure left = tunnel == null ? null : tunnel.closeReason();
        recordEnd(left == null ? ended : left, left != null);
        deadlines.cancel();
        held.release();
        if (attempts != null) {
            attempts.endWait();
            attempts.tellEnd(state.isResponded() ? record.status : 0, ended, false);
        }
        request.discard();
        response.end();
    }

    private void end() {
        try {
            routing.end();
        } finally {
            if (tunnel != null) {
                loop.tunnels.remove(tunnel);
            }
            generation.remove(this);
            loop.end(record, generation);
        }
    }
}
