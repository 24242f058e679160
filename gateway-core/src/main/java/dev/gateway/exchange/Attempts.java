package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Phase;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeRecord;
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
 * The upstream side of an exchange: one {@link Attempt} after another, as {@link Retries} allows, until a response is
 * forwarded or the last failure is the exchange's. Made when every filter has proceeded.
 */
final class Attempts extends EndpointUse implements Attempt.Owner, Retries.Owner {
    private static final int TOO_MANY_REQUESTS = 429;

    private final Owner owner;
    private final Route route;
    private final Route.Retry policy;
    private final Retries retries;
    private final boolean tellsEndpoint; // the upstream is told the endpoint's host, not the client's
    private @Nullable Attempt current;
    private boolean endUnreported; // the observer does not know yet that this attempt has ended
    private @Nullable Failure lastFailure; // of the attempt before

    /** The exchange whose upstream it is. */
    interface Owner {
        /** Returns the time limits, some of which are each attempt's. */
        Deadlines deadlines();

        /** Returns where the request has come by. */
        RequestRouting routing();

        /** Returns what each attempt sends after the head. */
        RequestBody request();

        /** Returns what takes the response of the attempt that gets one. */
        Response response();

        /** It is time for the next attempt. */
        void onBackedOff();

        /** No attempt is left, or none may be made. */
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
        // A host that a filter chose is the more exact wish; without any (HTTP/1.0), upstreams need one all the same.
        AsciiString authority = head.authority();
        this.tellsEndpoint = !owner.routing().isProxied()
                && (authority.isEmpty() || (!route.forwarding().preserveHost() && authority.equals(record.authority)));
        HopByHop.stripCredentials(head.fields());
        record.upstream = upstream.name();
        if (policy.attempts() > 0) {
            upstream.retryBudget().onRequest(record.startNanos);
        }
    }

    /** Begins an attempt; the state is {@link Phase#CONNECTING}. */
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
        // The clock is read where time may have passed: not on the straight way from head to kept connection.
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

    /** The endpoint that was chosen has no room, and another one is asked. */
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
        AsciiString via = head.fields().first(FieldName.VIA); // one line, as the signing code has made it
        return new ClientPreamble(
                exchange.record.client, exchange.record.connection.local(), via == null ? "" : via.toString());
    }

    private static StreamKind kind(RequestHead head) {
        return !head.isConnect()
                ? StreamKind.EXCHANGE
                : head.protocol() == null ? StreamKind.TUNNEL : StreamKind.UPGRADE;
    }

    /** The current attempt waited for its connection to be made, but not for longer than it lasts. */
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
            if (!isRepeated(head)) {
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

    /** Whether the policy takes the status for a failure, and another attempt is made. */
    private boolean isRepeated(ResponseHead head) {
        int status = head.status();
        // An upstream that ignores a wish to upgrade has made another request of it, which nobody sent.
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

    /** An endpoint speaks for itself, except of too many requests: these are the client's. */
    private long retryAfterMillis(ResponseHead head) {
        return head.status() == TOO_MANY_REQUESTS || !isElsewhere()
                ? RetryAfter.millis(head.fields(), exchange.loop.wheel.wallMillis())
                : 0;
    }

    @Override
    public void onFailed(Failure reported) {
        Failure failure = Attempt.exact(reported, exchange.state.isResponded());
        judge(failure);
        retryOrFail(failure);
    }

    /** Another attempt is made, or the exchange fails; the endpoint is judged already, as that decides who is next. */
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

    /** No head has come for as long as an endpoint may be silent: leaves it if it has answered nobody, and another may. */
    void onSilent() {
        if (exchange.state.phase() != Phase.REQUESTED || !isReplayable() || !isSilent()) {
            return;
        }
        long delay = retries.afterSilence(EndpointChoice.isAnyHeardSince(upstream, exchange.record.requestedNanos));
        if (delay == Retries.NONE) {
            return;
        }
        Failure failure = Failure.of(
                Cause.UPSTREAM_TIMEOUT,
                RetrySafety.IF_IDEMPOTENT,
                "no answer to any request in " + policy.waiting().silentMillis() + " ms");
        judge(failure);
        abandon(failure);
        again(delay, failure);
    }

    /** The current attempt must not go on. */
    void onBroken(Failure reported) {
        boolean unsent = reported.cause() == Cause.UPSTREAM_TIMEOUT && exchange.state.phase() == Phase.CONNECTING;
        Failure failure = unsent
                ? Failure.of(reported.cause(), RetrySafety.ALWAYS, "no connection: " + reported.detail())
                : reported;
        judge(failure); // while the stream still tells whether it takes anything
        abandon(failure);
        retryOrFail(failure);
    }

    /** The exchange fails, and with it the current attempt. */
    void onTimeout(Failure failure) {
        if (current != null) {
            judge(failure);
        }
    }

    private void judge(Failure failure) {
        judge(failure, failure.cause() == Cause.UPSTREAM_TIMEOUT && (hasWholeRequest() || hasTakenNothing()));
    }

    /** Of a tunnel there is nothing to wait for but its head. */
    private boolean hasWholeRequest() {
        return exchange.state.isRequestEnded() || exchange.head.isConnect();
    }

    /** A whole request can take too long, however steadily it is taken: that tells nothing. */
    private boolean hasTakenNothing() {
        return owner.request().isStalled() && !owner.deadlines().isSpentInMotion();
    }

    /** Nothing final was forwarded, and what has come of the body is held or kept. */
    private boolean isReplayable() {
        return exchange.state.isRetriable() && owner.request().isReplayable();
    }

    private long delayAfter(Failure failure) {
        boolean elsewhere = isElsewhere();
        boolean timedOut = failure.cause() == Cause.UPSTREAM_TIMEOUT || failure.cause() == Cause.CONNECT_TIMEOUT;
        if (timedOut && !elsewhere && route.timeouts().backendRequestMillis() == 0) {
            return Retries.NONE; // to wait there once more would double the time
        }
        boolean sent = exchange.state.phase() == Phase.REQUESTED;
        return retries.afterFailure(failure, new Retries.Tried(sent, elsewhere, wasFailing()));
    }

    private void retry(long delayMillis, Failure failure) {
        Attempt failed = current;
        current = null;
        owner.deadlines().attemptOver();
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

    /** All went well. */
    void finish() {
        if (current != null) {
            current.finish();
        }
    }

    /** Gives the current attempt up. */
    void abandon(Failure failure) {
        if (current != null) {
            current.abandon(failure);
        }
    }

    /** Tells the observer of the current attempt's end, once. */
    void tellEnd(int status, @Nullable Failure failure, boolean again) {
        if (endUnreported) {
            endUnreported = false;
            onServed();
            exchange.loop.observer.onAttemptEnded(exchange.record, status, failure, again);
            if (again) {
                exchange.record.tryAgain(status, failure);
            }
        }
    }
}
