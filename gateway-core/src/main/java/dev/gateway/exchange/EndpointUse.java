package dev.gateway.exchange;

import dev.gateway.config.route.RetryConfig;
import dev.gateway.exchange.ExchangeState.Phase;
import dev.gateway.exchange.attempt.EndpointBlame;
import dev.gateway.exchange.attempt.EndpointChoice;
import dev.gateway.exchange.attempt.Retries;
import dev.gateway.exchange.attempt.Session;
import dev.gateway.exchange.reply.GrpcStatus;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.SessionResult;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.SourceAddress;
import dev.gateway.upstream.BalancerContext;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.stream.EndpointAuthority;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Endpoint selection of one request: selects the endpoint of each attempt, takes retries from the budget, and reports
 * successes and failures to the upstream. {@link Attempts} and {@link SideRequest} begin their attempts by it; a base class, so
 * that an exchange allocates no further object.
 */
abstract class EndpointUse implements BalancerContext, Retries.Limits {
    /**
     * After this number of attempts in a row on closed connections, the next is at the same endpoint: its pool has no more.
     */
    private static final int MAX_STALE = 2;

    private static final long MAX_TIMED_BODY = 64 << 10;
    private static final int SWITCHING_PROTOCOLS = 101;

    /** How long a connection is silent before that is found. */
    private static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(10);

    final ExchangeContext exchange;
    final Upstream upstream;
    private final @Nullable Session session; // null if the upstream has none
    private final boolean tellsEndpoint; // the Host of the request is the endpoint's, not the client's
    private @Nullable Endpoint endpoint; // of the current attempt
    private long tried; // one bit for each endpoint, by its index, for the first 64
    private @Nullable BitSet triedBeyond; // the others, by their index
    private int stale; // attempts in a row that failed because the kept connection was closed
    private boolean refused; // the endpoint refused the stream of the last attempt, which failed
    private boolean unconnected; // no connection could be made for an attempt
    private boolean connecting; // ... for the last attempt
    private long connectingNanos; // when the first such attempt in a row began
    private boolean failedByStatus; // the endpoint answered this attempt with an error
    private boolean answeredWell; // the head was good; the upstream's health does not count the success yet
    private boolean awaitsGrpcStatus; // the response is that of a gRPC call, whose status comes in the trailers
    private boolean wasFailing; // the endpoint's last request had failed when this attempt began

    EndpointUse(ExchangeContext exchange, Upstream upstream, boolean tellsEndpoint) {
        this.exchange = exchange;
        this.upstream = upstream;
        this.tellsEndpoint = tellsEndpoint;
        this.session = upstream.sessions() == null ? null : Session.of(upstream, exchange.head, exchange.record);
    }

    // ---- the choice of the endpoint

    /** Chooses an endpoint, preferably one that no attempt has tried; null if there is none to choose. */
    final @Nullable Endpoint choose() {
        boolean unprocessed = stale > 0 || refused;
        if (unprocessed && endpoint != null && upstream.host(endpoint).isChosen() && staysWhereItWas()) {
            return endpoint;
        }
        Endpoint kept = session == null ? null : session.endpoint();
        boolean untouched = endpoint == null || (unprocessed && endpoint.equals(kept));
        if (kept != null && untouched && upstream.host(kept).takesSessions()) {
            return kept;
        }
        Endpoint chosen = EndpointChoice.choose(upstream, this);
        Endpoint spare =
                unconnected && (chosen == null || isTried(chosen)) ? EndpointChoice.spare(upstream, this) : null;
        return spare == null ? chosen : spare;
    }

    /** Whether the next attempt stays at the endpoint although there are others, if it did not process the request. */
    private boolean staysWhereItWas() {
        return stale >= MAX_STALE || upstream.balancer().keeps(this);
    }

    /** Returns an endpoint for an attempt beside the current one, or null if no healthy endpoint is untried. */
    final @Nullable Endpoint another() {
        Endpoint chosen = EndpointChoice.choose(upstream, this);
        return chosen != null && EndpointChoice.isFresh(upstream, this, chosen) ? chosen : null;
    }

    /** Whether the client's session names an endpoint: others do not have its state. */
    final boolean isInSession() {
        return session != null && session.endpoint() != null;
    }

    /** An attempt begins at the chosen endpoint. */
    final void begin(Endpoint chosen) {
        goTo(chosen);
        wasFailing = upstream.host(chosen).isFailing();
        failedByStatus = awaitsGrpcStatus = answeredWell = false;
    }

    /** Whether the endpoint of the current attempt is one that requests may wait for: another one does not count against limits. */
    final boolean isAtUsedEndpoint() {
        return endpoint != null && upstream.host(endpoint).isUsed();
    }

    /** The current attempt is at this endpoint. */
    final void goTo(Endpoint chosen) {
        endpoint = chosen;
        setTried(chosen);
    }

    /** An attempt is at this endpoint, so later attempts prefer others. */
    final void setTried(Endpoint chosen) {
        int index = chosen.index();
        if (index >= Long.SIZE) {
            triedBeyond = triedBeyond == null ? new BitSet() : triedBeyond;
            triedBeyond.set(index);
        } else if (index >= 0) {
            tried |= 1L << index;
        }
    }

    /** The next attempt is chosen as the first one was. */
    final void beginAfresh() {
        endpoint = null;
        tried = 0;
        triedBeyond = null;
        stale = 0;
        refused = unconnected = connecting = false;
    }

    /** Only these endpoints count as tried from now on. */
    final void forgetTried(Predicate<Endpoint> but) {
        tried = 0;
        triedBeyond = null;
        for (Host host : upstream.hosts()) {
            if (but.test(host.endpoint())) {
                setTried(host.endpoint());
            }
        }
    }

    /** The current attempt has failed, and another one follows. */
    final void leave(Failure failure) {
        boolean sent = exchange.state.phase() == Phase.REQUESTED;
        stale = failure.stale() ? stale + 1 : 0;
        refused = sent && failure.retry() == RetrySafety.ALWAYS;
        boolean again = isUnconnected(failure);
        if (again && !connecting) {
            connectingNanos = exchange.record.attemptNanos;
        }
        connecting = again;
        unconnected |= again;
    }

    /**
     * Whether the request goes to an endpoint that it has not tried, in service or ejected: no connection could be made,
     * and there is time left for it. Any method may, because nothing was sent.
     */
    final boolean mayConnectElsewhere(Failure failure) {
        if (!isUnconnected(failure)) {
            return false;
        }
        long spent = TimeUnit.NANOSECONDS.toMillis(exchange.loop.wheel.nanoTime() - connectingSince());
        long most = upstream.settings().connectMillis();
        return (most == 0 || spent < most)
                && (EndpointChoice.hasUntried(upstream, this) || EndpointChoice.spare(upstream, this) != null);
    }

    /** Returns when the first of the attempts began that have failed in a row because no connection could be made. */
    final long connectingSince() {
        return connecting ? connectingNanos : exchange.record.attemptNanos;
    }

    /** Whether the current attempt fails because no connection could be made, and not for want of room. */
    final boolean isUnconnected(Failure failure) {
        if (exchange.state.phase() != Phase.CONNECTING || failure.retry() != RetrySafety.ALWAYS) {
            return false;
        }
        return switch (failure.cause()) {
            case CONNECT_FAILED, CONNECT_TIMEOUT, DNS_FAILED, TLS_FAILED, UPSTREAM_TIMEOUT -> true;
            default -> false;
        };
    }

    @Override
    public final RequestHead head() {
        return exchange.head;
    }

    @Override
    public final SourceAddress client() {
        return exchange.record.client;
    }

    @Override
    public final @Nullable Endpoint previous() {
        return endpoint;
    }

    @Override
    public final boolean isTried(Endpoint asked) {
        int index = asked.index();
        if (index < 0) { // a request named it, so it has no index of its own
            return asked.equals(endpoint);
        }
        return index < Long.SIZE ? (tried & (1L << index)) != 0 : triedBeyond != null && triedBeyond.get(index);
    }

    /**
     * Whether the next attempt would go to another endpoint. If no connection could be made, only one counts that the request
     * has not tried.
     */
    final boolean isElsewhereAfter(Failure failure) {
        return isUnconnected(failure) ? EndpointChoice.hasUntried(upstream, this) : isElsewhere();
    }

    private boolean isElsewhere() {
        return endpoint == null || upstream.health().hasOther(endpoint);
    }

    /** Whether the endpoint's last request had failed when the current attempt began. */
    final boolean wasFailing() {
        return wasFailing;
    }

    /** Whether the endpoint has answered no request since it got this one, and another endpoint was not tried. */
    final boolean isSilent() {
        return isUnheard() && EndpointChoice.hasUntried(upstream, this);
    }

    /** Whether an endpoint that is found not to answer is best left: there is one in service that may answer. */
    final boolean isBetterElsewhere() {
        boolean isOut = endpoint != null && !upstream.host(endpoint).isChosen();
        return EndpointChoice.hasUntried(upstream, this) || (isOut && isElsewhere());
    }

    /**
     * Whether only the connection of the current attempt does not answer: the endpoint is in service and has answered others
     * meanwhile. Several machines may share its address, as behind a Service of Kubernetes, so another connection may do better.
     */
    final boolean isBetterOnOtherConnection() {
        Host host = endpoint == null ? null : upstream.host(endpoint);
        return host != null && host.isInService() && host.isHeardSince(exchange.loop.wheel.nanoTime() - SILENT_NANOS);
    }

    /** Whether the endpoint has answered no request since it got this one. */
    final boolean isUnheard() {
        return endpoint != null && !upstream.host(endpoint).isHeardSince(exchange.record.requestedNanos);
    }

    // ---- attempts

    /**
     * Begins an attempt: writes it into the record, tells the observer, and has the head name the endpoint. {@link
     * Attempt#open} must follow.
     *
     * @param nanos when it begins
     */
    final Attempt begin(Endpoint chosen, long nanos, Attempt.Caller caller, Attempt.Sink sink) {
        ExchangeRecord record = exchange.record;
        record.setEndpoint(chosen, chosen.index());
        record.hop = null;
        record.attemptNanos = nanos;
        record.dialNanos = 0;
        record.requestedNanos = 0;
        exchange.loop.observer.onAttemptBegun(record);
        tellEndpoint(chosen);
        return new Attempt(caller, sink);
    }

    /** The chosen endpoint has no room, so the attempt that the record shows moves to another one. */
    final void move(Endpoint to) {
        ExchangeRecord record = exchange.record;
        record.setEndpoint(to, to.index());
        exchange.loop.observer.onAttemptMoved(record);
        tellEndpoint(to);
    }

    /** A connection was made for the attempt. It may have begun earlier, but counts from the attempt's begin only. */
    final void dialed(long nanos) {
        exchange.record.dialNanos = Math.min(nanos, exchange.loop.wheel.nanoTime() - exchange.record.attemptNanos);
    }

    private void tellEndpoint(Endpoint asked) {
        if (tellsEndpoint) {
            exchange.head.setAuthority(EndpointAuthority.of(asked, upstream.settings()));
        }
    }

    /** Whether endpoints are told their own host instead of the client's. */
    final boolean tellsEndpoint() {
        return tellsEndpoint;
    }

    /** Returns the failure if the upstream has switched protocols, for which no request asks in this way; else null. */
    static @Nullable Failure unaskedSwitch(ResponseHead head) {
        return head.status() == SWITCHING_PROTOCOLS
                ? Failure.of(Cause.UPSTREAM_PROTOCOL_ERROR, "switched protocols without being asked")
                : null;
    }

    // ---- retries

    @Override
    public final boolean tryTakeRetry(RetryConfig.Budget budget) {
        return upstream.retryBudget()
                .tryTake(exchange.loop.wheel.nanoTime(), budget.percent(), budget.minRetriesPerSecond());
    }

    @Override
    public final long random(long most) {
        return exchange.loop.jitter.applyAsLong(most);
    }

    // ---- reports to the upstream

    /** The final head of the response has arrived. */
    final void onAnswered(ResponseHead head, boolean last) {
        stale = 0;
        refused = connecting = false;
        timeAnswer();
        boolean call = upstream.health().detectsOutliers() && GrpcStatus.isCall(head);
        awaitsGrpcStatus = call && !last && !GrpcStatus.isTold(head.fields());
        if (!awaitsGrpcStatus) {
            onAnswered(call ? GrpcStatus.toHttp(head.fields()) : head.status());
        }
    }

    /**
     * Reports the latency so far if the balancer uses it; not for large requests, whose time depends on the client.
     */
    final void timeAnswer() {
        boolean small = exchange.head.contentLength() < MAX_TIMED_BODY && exchange.state.isRequestEnded();
        if (small && endpoint != null && upstream.balancer().timesAnswers()) {
            long now = exchange.loop.wheel.nanoTime();
            upstream.host(endpoint).latency().add(now - exchange.record.requestedNanos, now);
        }
    }

    private void onAnswered(int status) {
        if (endpoint != null) {
            failedByStatus = upstream.health().onAnswered(endpoint, status);
            answeredWell = !failedByStatus;
            if (exchange.head.isConnect()) {
                onServed(); // a tunnel may be open for days, and its end says nothing about the endpoint
            }
        }
    }

    /** The response has ended with trailers. */
    final void onAnswerEnded(Fields trailers) {
        if (awaitsGrpcStatus) {
            awaitsGrpcStatus = false;
            onAnswered(GrpcStatus.toHttp(trailers));
        }
    }

    /** The response will be forwarded: there is no further attempt. */
    final void beforeForwarding(ResponseHead head) {
        if (session != null && endpoint != null) {
            SessionResult result = session.onAnswered(endpoint, head);
            if (result != null) {
                exchange.loop.observer.onSession(exchange.record, result);
            }
        }
    }

    /**
     * The endpoint is not silent. Reported even if this route has no limit for silence, because other routes may have one.
     */
    final void onHeard(long nanos) {
        if (endpoint != null && nanos != 0) {
            upstream.host(endpoint).onHeard(nanos);
        }
    }

    /** The response has ended, and not by a failure of the endpoint. */
    final void onServed() {
        if (answeredWell && endpoint != null) {
            answeredWell = false;
            upstream.health().onServed(endpoint);
        }
    }

    /**
     * Reports the failure if the endpoint had the request and is to blame.
     *
     * @param silent whether the gateway waited for the endpoint, in case of a timeout
     */
    final void judge(Failure failure, boolean silent) {
        if (endpoint == null || failedByStatus || !exchange.state.isRequested() || exchange.state.isTunnel()) {
            return;
        }
        EndpointBlame.Finding finding = EndpointBlame.of(failure, silent && !exchange.state.isResponded());
        answeredWell &= finding != EndpointBlame.Finding.ANSWERED_BADLY && finding != EndpointBlame.Finding.BROKEN_OFF;
        EndpointBlame.tell(
                upstream.health(), endpoint, finding, exchange.record.requestedNanos, exchange.loop.wheel.nanoTime());
    }
}
