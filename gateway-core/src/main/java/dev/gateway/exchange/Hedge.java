package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Phase;
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
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
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
    static final int SERVER_ERROR = 500;

    private final ExchangeContext exchange;
    private final Upstream upstream;
    private final Route.Hedging policy;
    private final HedgedAttempts attempts;
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

    Hedge(ExchangeContext exchange, Upstream upstream, Route.Hedging policy, HedgedAttempts attempts) {
        this.exchange = exchange;
        this.upstream = upstream;
        this.policy = policy;
        this.attempts = attempts;
    }

    /** The current attempt has sent the request: from now on the delay counts. */
    void onSent() {
        if (progress != Progress.NONE) {
            return;
        }
        long millis = policy.delay().millis(exchange.loop.wheel.nanoTime());
        if (millis != HedgeDelay.UNKNOWN) {
            exchange.loop.wheel.arm(this, millis);
        }
    }

    /** The current attempt has its answer, or it is left: its time so far counts for the percentile. */
    void onTaken() {
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
            attempts.onDefect(e);
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
        other.swap(record);
        record.setEndpoint(chosen, chosen.index());
        record.attemptNanos = now;
        attempts.onHedgeBegun(chosen);
        exchange.loop.observer.onAttemptBegun(record);
        other.swap(record);
        Attempt begun = new Attempt(this, attempts.response());
        attempt = begun;
        begun.open(exchange.loop.opener, upstream, chosen, StreamKind.EXCHANGE, exchange.head, null);
    }

    /** Whether it runs and may still get an answer. */
    boolean isOut() {
        return progress == Progress.OPENING || progress == Progress.SENT;
    }

    /** Returns the attempt if it may still get an answer, else null. */
    @Nullable
    Attempt running() {
        return isOut() ? attempt : null;
    }

    /** Returns its stream, null if it has none yet. */
    @Nullable
    ClientStream stream() {
        return stream;
    }

    /** It becomes the current attempt, and the record shows it from now on; returns its endpoint. */
    @Nullable
    Endpoint takeOver() {
        progress = Progress.OVER;
        other.swap(exchange.record);
        return endpoint;
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
        ExchangeRecord record = exchange.record;
        other.swap(record);
        record.setEndpoint(to, to.index());
        exchange.loop.observer.onAttemptMoved(record);
        other.swap(record);
        attempts.onHedgeMoved(to);
    }

    @Override
    public void onDialed(long nanos) {
        ExchangeRecord record = exchange.record;
        other.swap(record);
        record.dialNanos = Math.min(nanos, exchange.loop.wheel.nanoTime() - record.attemptNanos);
        other.swap(record);
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
            Failure failure = EndpointUse.unresponsive(why);
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
        if (head.status() == 101) {
            Failure failure = Failure.of(Cause.UPSTREAM_PROTOCOL_ERROR, "switched protocols without being asked");
            judge(failure);
            end(HedgeResult.FAILED, 0, failure);
            running.abandon(failure);
        } else if (!head.isInterim() && (head.status() >= SERVER_ERROR || attempts.isRetriable(head.status()))) {
            onError(head);
            running.abandon(Attempt.ABANDONED);
        } else if (!head.isInterim()) {
            attempts.onHedgeAnswered(running, from, head, last);
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
