package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Phase;
import dev.gateway.exchange.attempt.ConnectionLogin;
import dev.gateway.exchange.attempt.EndpointBlame;
import dev.gateway.exchange.attempt.Retries;
import dev.gateway.exchange.route.HedgeDelay;
import dev.gateway.exchange.route.Route;
import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.AttemptKind;
import dev.gateway.observe.ExchangeRecord.HedgeResult;
import dev.gateway.observe.OtherAttempt;
import dev.gateway.observe.counts.EndpointMeters;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.LoginPins;
import dev.gateway.time.Timer;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.stream.StreamKind;
import org.jspecify.annotations.Nullable;

/**
 * Hedged request: a second attempt of a request without a body, at another endpoint. It begins when the current attempt has
 * waited for its response head as long as the rule says, at most once in an exchange. While both run, the exchange gets no
 * events of this one.
 *
 * <ul>
 *   <li>A good answer makes it the current attempt, and the other one is given up.
 *   <li>A server error, or a status that is a failure for {@link Retries}, ends it: the other one may get a better answer.
 *   <li>When the current attempt fails, this one takes its place, and no further attempt is made.
 * </ul>
 *
 * Made only where the rule hedges. Confined to the event loop.
 */
final class Hedge extends Timer implements Attempt.Caller {
    private static final int SERVER_ERROR = 500;

    private final Exchange exchange;
    private final Attempts attempts;
    private final Upstream upstream;
    private final Route.Hedging policy;
    private final boolean free; // no session ties the request to an endpoint
    private final OtherAttempt other = new OtherAttempt();
    private Progress progress = Progress.NONE;
    private @Nullable Attempt attempt;
    private @Nullable ClientStream stream;
    private @Nullable Endpoint endpoint;
    private long sentNanos; // when its request was sent

    private enum Progress {
        /** None was made; the timer may be armed. */
        NONE,
        /** It waits for its stream. */
        OPENING,
        /** It waits for its stream, but at an endpoint that already had the request: it will be given up. */
        ASTRAY,
        /** The request's head was sent. */
        SENT,
        /** It has ended, or is the current attempt. */
        OVER
    }

    Hedge(Exchange exchange, Attempts attempts, Route.Hedging policy) {
        this.exchange = exchange;
        this.attempts = attempts;
        this.upstream = attempts.upstream;
        this.policy = policy;
        this.free = !attempts.isInSession();
        if (free) {
            upstream.hedgeBudget().onRequest(exchange.record.startNanos);
        }
    }

    /** Whether such a request is hedged: two endpoints may process it, and it has no body. */
    static boolean isWanted(Exchange exchange, Route.Hedging policy) {
        LoginPins logins = exchange.server.logins();
        return policy.methods().contains(exchange.head.routedMethod())
                && (logins == null || logins.isEmpty()) // a hedge would be on a connection without the login
                && !ConnectionLogin.isTried(exchange.head.fields())
                && exchange.record.kind == ExchangeRecord.Kind.HTTP
                && exchange.head.wish() == null
                && exchange.request.isNone();
    }

    /** The current attempt has sent the request: from now on the delay counts. */
    void onSent() {
        if (!free || progress != Progress.NONE) {
            return;
        }
        long millis = policy.delay().millis(exchange.loop.wheel.nanoTime());
        if (millis != HedgeDelay.UNKNOWN) {
            exchange.loop.wheel.arm(this, millis);
        }
    }

    /** The current attempt was left because it takes too long. */
    void onLeft() {
        if (free && exchange.state.phase() == Phase.REQUESTED) {
            onTaken();
        }
    }

    /** The response of the current attempt will be forwarded. */
    void onAccepted(int status) {
        giveUp();
        if (free && status < SERVER_ERROR) { // errors that come fast would make other answers look slow
            onTaken();
        }
    }

    /** The current attempt has its answer, or it is left: its time so far counts for the percentile. */
    private void onTaken() {
        ExchangeRecord record = exchange.record;
        if (record.attemptKind != AttemptKind.HEDGE && record.requestedNanos != 0) {
            long now = exchange.loop.wheel.nanoTime();
            policy.delay().onAnswered(now - record.requestedNanos, now);
        }
    }

    @Override
    protected void onExpired() {
        try {
            begin();
        } catch (RuntimeException e) {
            exchange.onDefect(e);
        }
    }

    @Override
    public ConnectionInfo connection() {
        return exchange.record.connection;
    }

    private void begin() {
        // While the gateway is short of memory or time, it does no work that may not be needed.
        if (progress != Progress.NONE
                || exchange.state.phase() != Phase.REQUESTED
                || exchange.loop.gate.endsKeepAlive()) {
            return;
        }
        Endpoint chosen = attempts.another();
        if (chosen == null) {
            return;
        }
        long now = exchange.loop.wheel.nanoTime();
        if (!upstream.hedgeBudget().tryTake(now, policy.percent(), 0)) {
            exchange.loop.observer.onHedgeOverBudget(exchange.record);
            return;
        }
        open(chosen, now);
    }

    private void open(Endpoint chosen, long now) {
        progress = Progress.OPENING;
        endpoint = chosen;
        ExchangeRecord record = exchange.record;
        record.attempts++;
        attempts.setTried(chosen);
        other.swap(record);
        exchange.routing.onAttempt();
        Attempt begun = attempts.begin(chosen, now, this, exchange.response);
        other.swap(record);
        attempt = begun;
        begun.open(exchange.loop.opener, upstream, chosen, StreamKind.EXCHANGE, exchange.head, null);
    }

    /** Whether it runs and may still get an answer. */
    boolean isOut() {
        return progress == Progress.OPENING || progress == Progress.SENT;
    }

    /** Takes the place of the current attempt if it may still get a better response than this one; returns whether it does. */
    boolean takesOverAfter(ResponseHead head) {
        if (!isOut() || !attempts.retries.isFailure(head.status())) {
            return false;
        }
        attempts.onHeard(exchange.loop.wheel.nanoTime());
        attempts.onRetryAfter(attempts.previous(), head);
        return goOn(head.status(), null);
    }

    /** The current attempt has failed: this one takes its place if it still runs. Returns whether it does. */
    boolean goOn(int status, @Nullable Failure failure) {
        Attempt running = attempt;
        if (running == null || !isOut()) {
            return false;
        }
        onTaken();
        attempts.fallBack(status, failure);
        Attempt failed = attempts.current;
        ClientStream sentOn = stream;
        takeOver(running);
        if (sentOn == null) {
            exchange.state.on(Event.RETRY);
            exchange.state.on(Event.BACKED_OFF); // the attempt sends the request when it has a stream, like any other
        } else {
            exchange.response.attach(sentOn);
        }
        attempts.replaceLimits(sentOn != null);
        if (failed != null) {
            failed.abandon(failure == null ? Attempt.ABANDONED : failure);
        }
        return true;
    }

    /** It becomes the current attempt, and the record shows it from now on. */
    private void takeOver(Attempt running) {
        progress = Progress.OVER;
        other.swap(exchange.record);
        attempts.replace(running, endpoint);
    }

    /** It got a good answer, so it becomes the current attempt; this head is its first event. */
    private void onGoodAnswer(Attempt running, ClientStream from, ResponseHead head, boolean last) {
        onTaken();
        attempts.timeAnswer(); // else a slow endpoint would never look slow
        attempts.tellEnd(0, null, true);
        Attempt slower = attempts.current;
        takeOver(running);
        exchange.response.attach(from);
        attempts.replaceLimits(false);
        if (slower != null) {
            slower.abandon(Attempt.ABANDONED);
        }
        if (!running.isOver()) {
            attempts.onHead(head, last);
        }
    }

    /** The end of the current attempt is about to be reported. */
    void beforeEnd(int status, @Nullable Failure failure, boolean again) {
        if (exchange.record.attemptKind == AttemptKind.HEDGE) {
            exchange.record.setHedge(result(status, failure, again));
        }
    }

    /** An error is no gain, even if it is forwarded because no other attempt is left. */
    private HedgeResult result(int status, @Nullable Failure failure, boolean again) {
        if (exchange.state.isResponded()) {
            return exchange.record.isRetriable || status >= SERVER_ERROR ? HedgeResult.FAILED : HedgeResult.WON;
        }
        return again || EndpointMeters.isFailed(0, failure) ? HedgeResult.FAILED : HedgeResult.LOST;
    }

    /** Cancels it, or its timer. */
    void giveUp() {
        cancel();
        Attempt running = attempt;
        if (running != null && (isOut() || progress == Progress.ASTRAY)) {
            end(HedgeResult.LOST, 0, null);
            running.abandon(Attempt.ABANDONED);
        }
    }

    private void end(HedgeResult result, int status, @Nullable Failure failure) {
        progress = Progress.OVER;
        ExchangeRecord record = exchange.record;
        record.setHedge(result);
        other.swap(record);
        exchange.loop.observer.onAttemptEnded(record, status, failure, !exchange.state.isDone());
        record.tryAgain(status, failure);
        other.swap(record);
    }

    @Override
    public boolean isTried(Endpoint asked) {
        return attempts.isTried(asked);
    }

    @Override
    public void onMoved(Endpoint to) {
        progress = attempts.isTried(to) ? Progress.ASTRAY : Progress.OPENING;
        endpoint = to;
        other.swap(exchange.record);
        attempts.move(to);
        other.swap(exchange.record);
        attempts.setTried(to);
    }

    @Override
    public void onDialed(long nanos) {
        other.swap(exchange.record);
        attempts.dialed(nanos);
        other.swap(exchange.record);
    }

    @Override
    public void onOpened(Attempt from, ClientStream opened, DialedPeer peer) {
        ExchangeRecord record = exchange.record;
        other.swap(record);
        record.hop = peer;
        sentNanos = exchange.loop.wheel.nanoTime();
        record.requestedNanos = sentNanos;
        other.swap(record);
        if (progress == Progress.ASTRAY) {
            giveUp();
            return;
        }
        progress = Progress.SENT;
        stream = opened;
        exchange.signFor(peer);
        opened.head(exchange.head, true);
        if (!from.isOver()) {
            opened.flush();
        }
    }

    @Override
    public void onFailed(Failure reported) {
        Failure failure = Attempt.exact(reported, false);
        judge(failure);
        end(HedgeResult.FAILED, 0, failure);
    }

    @Override
    public void onUnresponsive(String why) {
        Attempt running = attempt;
        if (progress == Progress.SENT && running != null) {
            Failure failure = Attempt.unresponsive(why);
            end(HedgeResult.FAILED, 0, failure);
            running.abandon(failure);
        }
    }

    private void judge(Failure failure) {
        if (progress == Progress.SENT && endpoint != null) {
            EndpointBlame.tell(
                    upstream.health(),
                    endpoint,
                    EndpointBlame.of(failure, false),
                    sentNanos,
                    exchange.loop.wheel.nanoTime());
        }
    }

    @Override
    public void onHead(ResponseHead head, boolean last) {
        Attempt running = attempt;
        ClientStream from = stream;
        if (running == null || from == null) {
            return;
        }
        Failure failure = EndpointUse.unaskedSwitch(head);
        if (failure != null) {
            judge(failure);
            end(HedgeResult.FAILED, 0, failure);
            running.abandon(failure);
        } else if (!head.isInterim() && (head.status() >= SERVER_ERROR || attempts.retries.isFailure(head.status()))) {
            onError(head);
            running.abandon(Attempt.ABANDONED);
        } else if (!head.isInterim()) {
            onGoodAnswer(running, from, head, last);
        }
    }

    private void onError(ResponseHead head) {
        int status = head.status();
        if (endpoint != null) {
            attempts.onRetryAfter(endpoint, head);
            upstream.health().onAnswered(endpoint, status);
            upstream.host(endpoint).onHeard(exchange.loop.wheel.nanoTime());
        }
        end(HedgeResult.FAILED, status, null);
    }

    /** Never called: it gets no credit beyond the head before it is the current attempt. */
    @Override
    public void onTrailers(Fields trailers) {}

    /** There is no body to write. */
    @Override
    public void onWritable() {}
}
