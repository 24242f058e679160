package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Phase;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.EndpointMeters;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.AttemptKind;
import dev.gateway.observe.ExchangeRecord.HedgeResult;
import dev.gateway.route.Route;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.upstream.ClientPreamble;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.EndpointAuthority;
import dev.gateway.upstream.StreamKind;
import dev.gateway.upstream.Upstream;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * The upstream side of an exchange: one {@link Attempt} after another, as {@link Retries} allows. It ends when a response
 * is forwarded, or when the last attempt fails, and with it the exchange. One attempt may have a {@link Hedge} beside it.
 * Made when every filter has proceeded.
 */
final class Attempts extends EndpointUse implements Attempt.Owner, Retries.Owner, Hedge.Owner {
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVER_ERROR = 500;

    private final Owner owner;
    private final Route route;
    private final Route.Retry policy;
    private final Retries retries;
    private final @Nullable Hedge hedge; // null if the request is not hedged
    private final boolean tellsEndpoint; // the Host of the request is the endpoint's, not the client's
    private @Nullable Attempt current;
    private boolean endUnreported; // the end of this attempt still has to be reported to the observer
    private @Nullable Failure lastFailure; // of the previous attempt

    /** The exchange that makes the attempts. */
    interface Owner {
        /** Returns the time limits; some of them hold for each attempt. */
        Deadlines deadlines();

        /** Returns the routing of the request. */
        RequestRouting routing();

        /** Returns the body of the request, which each attempt sends after the head. */
        RequestBody request();

        /** Returns the response, for the attempt that gets one. */
        Response response();

        /** It is time for the next attempt. */
        void onBackedOff();

        /** No further attempt is possible. */
        void fail(Failure failure);
    }

    Attempts(ExchangeContext exchange, Owner owner, Route route, Upstream upstream) {
        super(exchange, upstream);
        this.owner = owner;
        ExchangeRecord record = exchange.record;
        this.route = route;
        RequestHead head = exchange.head;
        this.policy = route.forwarding().retry();
        this.retries =
                new Retries(head.routedMethod(), policy, upstream.endpoints().size(), this);
        // If a filter has set the host, that one counts. Without any host (HTTP/1.0), the upstream still needs one.
        AsciiString authority = head.authority();
        this.tellsEndpoint = !owner.routing().isProxied()
                && (authority.isEmpty() || (!route.forwarding().preserveHost() && authority.equals(record.authority)));
        HopByHop.stripCredentials(head.fields());
        record.upstream = upstream.name();
        if (policy.attempts() > 0) {
            upstream.retryBudget().onRequest(record.startNanos);
        }
        this.hedge = hedge(route.forwarding().hedging());
    }

    private @Nullable Hedge hedge(Route.@Nullable Hedging hedging) {
        if (hedging == null
                || !hedging.methods().contains(exchange.head.routedMethod())
                || exchange.record.kind != ExchangeRecord.Kind.HTTP
                || !owner.request().isNone()
                || isInSession()) {
            return null;
        }
        upstream.hedgeBudget().onRequest(exchange.record.startNanos);
        return new Hedge(exchange, upstream, hedging, this);
    }

    /** Begins an attempt in the state {@link Phase#CONNECTING}. */
    void open() {
        RequestHead head = exchange.head;
        ExchangeRecord record = exchange.record;
        Endpoint chosen = choose();
        if (chosen == null) {
            owner.fail(
                    lastFailure != null
                            ? lastFailure
                            : Failure.of(Cause.NO_HEALTHY_ENDPOINT, "no endpoint of " + upstream + " may be used"));
            return;
        }
        record.endpoint = chosen;
        record.endpointIndex = chosen.index();
        record.hop = null;
        record.attempts++;
        record.attemptKind = record.attempts == 1 ? AttemptKind.FIRST : AttemptKind.RETRY;
        // Reads the clock only if time may have passed: not for a first attempt without filters.
        boolean straight = record.attempts == 1 && !owner.routing().isFiltered();
        record.attemptNanos = straight ? record.startNanos : exchange.loop.wheel.nanoTime();
        record.dialNanos = 0;
        record.requestedNanos = 0;
        endUnreported = true;
        begin(chosen);
        owner.routing().onAttempt();
        exchange.loop.observer.onAttemptBegun(record);
        tellEndpoint(chosen);
        owner.deadlines().attempt(route.timeouts().backendRequestMillis(), record.attemptNanos);
        Attempt begun = new Attempt(this, owner.response());
        current = begun;
        StreamKind kind = kind(head);
        begun.open(exchange.loop.opener, upstream, chosen, kind, kind == StreamKind.TUNNEL ? preamble(head) : null);
    }

    private void tellEndpoint(Endpoint asked) {
        if (tellsEndpoint) {
            exchange.head.setAuthority(EndpointAuthority.of(asked, upstream.settings()));
        }
    }

    /** The chosen endpoint has no room, so the attempt moves to another one. */
    @Override
    public void onMoved(Endpoint to) {
        ExchangeRecord record = exchange.record;
        goTo(to);
        record.endpoint = to;
        record.endpointIndex = to.index();
        exchange.loop.observer.onAttemptMoved(record);
        tellEndpoint(to);
    }

    @Override
    public boolean tryTakeRetry(Route.Retry.Budget budget) {
        return upstream.retryBudget().tryTake(exchange.loop.wheel.nanoTime(), budget.percent(), budget.minPerSecond());
    }

    @Override
    public long leftMillis() {
        return owner.deadlines().leftMillis(exchange.state.isRequestEnded());
    }

    @Override
    public long random(long most) {
        return exchange.loop.jitter.applyAsLong(most);
    }

    private ClientPreamble preamble(RequestHead head) {
        AsciiString via = head.fields().first(FieldName.VIA); // one line: ViaSignature has joined all
        return new ClientPreamble(
                exchange.record.client, exchange.record.connection.local(), via == null ? "" : via.toString());
    }

    private static StreamKind kind(RequestHead head) {
        return !head.isConnect()
                ? StreamKind.EXCHANGE
                : head.protocol() == null ? StreamKind.TUNNEL : StreamKind.UPGRADE;
    }

    /**
     * A connection was made for the current attempt. It may have begun earlier, but counts from the attempt's begin only.
     */
    @Override
    public void onDialed(long nanos) {
        exchange.record.dialNanos = Math.min(nanos, exchange.loop.wheel.nanoTime() - exchange.record.attemptNanos);
    }

    @Override
    public void onOpened(Attempt from, ClientStream stream, DialedPeer peer) {
        exchange.record.hop = peer;
        if (exchange.state.on(Event.OPENED) != Action.SEND_REQUEST) {
            return;
        }
        exchange.record.requestedNanos =
                from.isOpenedAtOnce() ? exchange.record.attemptNanos : exchange.loop.wheel.nanoTime();
        owner.response().attach(stream);
        owner.deadlines()
                .awaitHead(
                        upstream.settings().responseHeadersMillis(),
                        policy.waiting().silentMillis(),
                        exchange.record.requestedNanos);
        owner.request().sendTo(from, stream, policy.bufferBytes());
        if (hedge != null && current == from && !from.isOver()) {
            hedge.onSent();
        }
    }

    @Override
    public void onWritable() {
        owner.request().credit();
    }

    @Override
    public void onHead(ResponseHead head, boolean last) {
        if (head.status() == 101) {
            onBroken(Failure.of(Cause.UPSTREAM_PROTOCOL_ERROR, "switched protocols without being asked"));
        } else if (head.isInterim()) {
            owner.deadlines().isNotSilent();
            owner.response().onInterim(head, owner.request().hasBegun());
        } else {
            onAnswered(head, last);
            if (!isLeftToHedge(head) && !isRepeated(head)) {
                endHedge(head.status());
                beforeForwarding(head);
                owner.response().onHead(head, last);
                onHeard(exchange.record.respondedNanos);
            }
        }
    }

    @Override
    public void onTrailers(Fields trailers) {
        onAnswerEnded(trailers);
        owner.response().onTrailers(trailers);
    }

    /** Makes another attempt if the retry policy says so for this status; returns whether it does. */
    private boolean isRepeated(ResponseHead head) {
        int status = head.status();
        // An upstream that ignores an upgrade has processed a plain request, which the client did not send.
        if (!retries.isFailure(status) || !isReplayable() || exchange.isUpgradeRefused()) {
            return false;
        }
        long delay = retries.afterStatus(retryAfterMillis(head));
        if (delay == Retries.NONE) {
            Cause refusal = retries.refusal();
            if (refusal != null) {
                exchange.record.cause = refusal;
                exchange.record.detail = "the last attempt was answered with " + status;
            }
            return false;
        }
        onHeard(exchange.loop.wheel.nanoTime());
        tellEnd(status, null, true);
        retry(delay, Attempt.ABANDONED);
        return true;
    }

    /**
     * Returns how long to wait. Retry-After holds for the same endpoint only, but for all if it is about the client (429).
     */
    private long retryAfterMillis(ResponseHead head) {
        return head.status() == TOO_MANY_REQUESTS || !isElsewhere()
                ? RetryAfter.millis(head.fields(), exchange.loop.wheel.wallMillis())
                : 0;
    }

    @Override
    public void onFailed(Failure reported) {
        Failure failure = Attempt.exact(reported, exchange.state.isResponded());
        judge(failure);
        if (!goOnWithHedge(0, failure)) {
            retryOrFail(failure);
        }
    }

    /**
     * Makes another attempt, or fails the exchange. Called after {@link #judge}, which affects the choice of the next
     * endpoint.
     */
    private void retryOrFail(Failure failure) {
        boolean replayable = isReplayable();
        long delay = replayable ? delayAfter(failure) : Retries.NONE;
        if (delay != Retries.NONE) {
            again(delay, failure);
        } else if (replayable && retries.refusal() == Cause.RETRY_BUDGET && failure.retry() != RetrySafety.ALWAYS) {
            tellEnd(0, failure, false);
            owner.fail(new Failure(
                    Cause.RETRY_BUDGET,
                    failure.status(),
                    failure.retry(),
                    false,
                    "too many retries of " + upstream + " after "
                            + failure.cause().label() + ": " + failure.detail()));
        } else {
            owner.fail(failure);
        }
    }

    private void again(long delay, Failure failure) {
        lastFailure = failure;
        leave(failure);
        tellEnd(0, failure, true);
        retry(delay, failure);
    }

    /**
     * No head has arrived within the limit for silence: leaves the endpoint if it answers no requests and another is left.
     */
    void onSilent() {
        boolean hedged = hedge != null && hedge.isOut();
        if (exchange.state.phase() != Phase.REQUESTED || !isReplayable() || !(hedged ? isUnheard() : isSilent())) {
            return;
        }
        long delay = hedged
                ? 0
                : retries.afterSilence(EndpointChoice.isAnyHeardSince(upstream, exchange.record.requestedNanos));
        if (delay == Retries.NONE) {
            return;
        }
        Failure failure = Failure.of(
                Cause.UPSTREAM_TIMEOUT,
                RetrySafety.IF_IDEMPOTENT,
                "no answer to any request in " + policy.waiting().silentMillis() + " ms");
        judge(failure);
        abandonCurrent(failure);
        if (!goOnWithHedge(0, failure)) {
            onTaken();
            again(delay, failure);
        }
    }

    /** The current attempt is over because of a timeout or a protocol error. */
    void onBroken(Failure reported) {
        boolean unsent = reported.cause() == Cause.UPSTREAM_TIMEOUT && exchange.state.phase() == Phase.CONNECTING;
        Failure failure = unsent
                ? Failure.of(reported.cause(), RetrySafety.ALWAYS, "no connection: " + reported.detail())
                : reported;
        judge(failure); // first: it asks the stream whether it takes data
        abandonCurrent(failure);
        if (!goOnWithHedge(0, failure)) {
            onTaken();
            retryOrFail(failure);
        }
    }

    private void onTaken() {
        if (hedge != null && exchange.state.phase() == Phase.REQUESTED) {
            hedge.onTaken();
        }
    }

    // ---- the attempt beside the current one

    @Override
    public void onHedgeBegun(Endpoint at) {
        setTried(at);
        owner.routing().onAttempt();
        tellEndpoint(at);
    }

    @Override
    public void onHedgeMoved(Endpoint to) {
        setTried(to);
        tellEndpoint(to);
    }

    @Override
    public boolean isRetriable(int status) {
        return retries.isFailure(status);
    }

    @Override
    public Response response() {
        return owner.response();
    }

    /** The current attempt has an answer that will be forwarded. */
    private void endHedge(int status) {
        if (hedge != null) {
            hedge.giveUp();
            if (status < SERVER_ERROR) { // what fails fast would make others look slow
                hedge.onTaken();
            }
        }
    }

    /** An error that would be repeated is not forwarded while the hedge may be answered well. */
    private boolean isLeftToHedge(ResponseHead head) {
        if (hedge == null || !hedge.isOut() || !retries.isFailure(head.status())) {
            return false;
        }
        onHeard(exchange.loop.wheel.nanoTime());
        return goOnWithHedge(head.status(), null);
    }

    /** The current attempt has ended in vain: its hedge, if there is one, takes its place, and no other is made. */
    private boolean goOnWithHedge(int status, @Nullable Failure failure) {
        Attempt next = hedge == null ? null : hedge.running();
        if (hedge == null || next == null) {
            return false;
        }
        hedge.onTaken();
        if (failure != null) {
            lastFailure = failure;
            leave(failure);
        }
        tellEnd(status, failure, true);
        Attempt failed = current;
        ClientStream stream = hedge.stream();
        takeOver(hedge, next);
        if (stream == null) {
            exchange.state.on(Event.RETRY);
            exchange.state.on(Event.BACKED_OFF); // the request is sent when there is a stream, as it always is
        } else {
            owner.response().attach(stream);
        }
        boolean sent = stream != null;
        owner.deadlines()
                .replaceAttempt(
                        route.timeouts().backendRequestMillis(),
                        exchange.record.attemptNanos,
                        sent ? upstream.settings().responseHeadersMillis() : 0,
                        sent ? policy.waiting().silentMillis() : 0,
                        exchange.record.requestedNanos);
        if (failed != null) {
            failed.abandon(failure == null ? Attempt.ABANDONED : failure);
        }
        return true;
    }

    @Override
    public void onHedgeAnswered(Attempt from, ClientStream stream, ResponseHead head, boolean last) {
        if (hedge == null) {
            return;
        }
        hedge.onTaken();
        timeAnswer(); // or a slow endpoint would never look slow
        tellEnd(0, null, true);
        Attempt slower = current;
        takeOver(hedge, from);
        owner.response().attach(stream);
        owner.deadlines()
                .replaceAttempt(
                        route.timeouts().backendRequestMillis(),
                        exchange.record.attemptNanos,
                        0,
                        0,
                        exchange.record.requestedNanos);
        if (slower != null) {
            slower.abandon(Attempt.ABANDONED);
        }
        if (!from.isOver()) {
            onHead(head, last);
        }
    }

    private void takeOver(Hedge by, Attempt next) {
        current = next;
        next.adopt(this);
        endUnreported = true;
        Endpoint at = by.takeOver();
        if (at != null) {
            begin(at);
        }
    }

    /** The time of the whole exchange is over, and with it the current attempt. */
    void onTimeout(Failure failure) {
        if (current != null) {
            judge(failure);
        }
    }

    private void judge(Failure failure) {
        judge(failure, failure.cause() == Cause.UPSTREAM_TIMEOUT && (hasWholeRequest() || hasTakenNothing()));
    }

    /** Whether the endpoint has the whole request; for a tunnel, that is the head. */
    private boolean hasWholeRequest() {
        return exchange.state.isRequestEnded() || exchange.head.isConnect();
    }

    /** Whether the endpoint has stopped reading. If it still reads, the request is just too large for the time limit. */
    private boolean hasTakenNothing() {
        return owner.request().isStalled() && !owner.deadlines().isSpentInMotion();
    }

    /** Whether the request can be sent again: no final head was forwarded, and the whole body so far is held or kept. */
    private boolean isReplayable() {
        return exchange.state.isRetriable() && owner.request().isReplayable();
    }

    private long delayAfter(Failure failure) {
        boolean elsewhere = isElsewhere();
        boolean timedOut = failure.cause() == Cause.UPSTREAM_TIMEOUT || failure.cause() == Cause.CONNECT_TIMEOUT;
        if (timedOut && !elsewhere && route.timeouts().backendRequestMillis() == 0) {
            return Retries.NONE; // waiting at the same endpoint again would double the time
        }
        boolean sent = exchange.state.phase() == Phase.REQUESTED;
        return retries.afterFailure(failure, new Retries.Tried(sent, elsewhere, wasFailing()));
    }

    private void retry(long delayMillis, Failure failure) {
        Attempt failed = current;
        current = null;
        owner.deadlines().attemptOver();
        if (hedge != null) {
            hedge.giveUp();
        }
        exchange.state.on(Event.RETRY);
        if (failed != null) {
            failed.abandon(failure);
        }
        if (exchange.state.phase() != Phase.BACKING_OFF) {
            return; // the exchange ended inside the call
        }
        if (delayMillis > 0) {
            owner.deadlines().backOff(delayMillis);
        } else {
            owner.onBackedOff();
        }
    }

    /** The exchange has succeeded. */
    void finish() {
        if (current != null) {
            current.finish();
        }
    }

    /** Ends the current attempt without a failure, and drops the rest of its response. */
    void drop() {
        if (current != null) {
            current.drop(exchange.loop.wheel);
        }
    }

    /** Cancels the current attempt and its hedge. */
    void abandon(Failure failure) {
        if (hedge != null) {
            hedge.giveUp();
        }
        abandonCurrent(failure);
    }

    private void abandonCurrent(Failure failure) {
        if (current != null) {
            current.abandon(failure);
        }
    }

    /** Reports the end of the current attempt to the observer, once. If no other attempt follows, the hedge ends, too. */
    void tellEnd(int status, @Nullable Failure failure, boolean again) {
        if (hedge != null && !again) {
            hedge.giveUp();
        }
        if (endUnreported) {
            endUnreported = false;
            onServed();
            if (exchange.record.attemptKind == AttemptKind.HEDGE) {
                exchange.record.hedge = hedgeResult(failure, again);
            }
            exchange.loop.observer.onAttemptEnded(exchange.record, status, failure, again);
            if (again) {
                exchange.record.tryAgain(status, failure);
            }
        }
    }

    private HedgeResult hedgeResult(@Nullable Failure failure, boolean again) {
        if (exchange.state.isResponded()) {
            return HedgeResult.WON;
        }
        return again || EndpointMeters.isFailed(0, failure) ? HedgeResult.FAILED : HedgeResult.LOST;
    }
}
