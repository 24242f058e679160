package dev.gateway.exchange;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Failure;
import dev.gateway.stream.SourceAddress;
import dev.gateway.upstream.BalancerContext;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import org.jspecify.annotations.Nullable;

/**
 * Endpoint selection of one exchange: selects the endpoint of each attempt, and reports successes and failures to the
 * upstream. The part of {@link Attempts} that uses no streams; a base class, so that an exchange allocates no further object.
 */
abstract class EndpointUse implements BalancerContext {
    /** After so many attempts in a row on connections just closed, the next is at the same endpoint: its pool has no more of them. */
    private static final int MAX_STALE = 2;

    private static final long MAX_TIMED_BODY = 64 << 10;

    final ExchangeContext exchange;
    final Upstream upstream;
    private final @Nullable Session session; // null if the upstream has none
    private @Nullable Endpoint endpoint; // of the current attempt
    private long tried; // endpoints, by their index, as far as there are bits
    private int stale; // attempts in a row that met a kept connection just closed
    private boolean failedByStatus; // the endpoint answered this attempt with an error
    private boolean answeredWell; // it answered well so far, and has not been told so
    private boolean awaitsGrpcStatus; // it answers a call of gRPC, and has not told yet how that went
    private boolean wasFailing; // the endpoint's last request had failed when this attempt began

    EndpointUse(ExchangeContext exchange, Upstream upstream) {
        this.exchange = exchange;
        this.upstream = upstream;
        this.session = upstream.sessions() == null ? null : Session.of(upstream, exchange.head, exchange.record);
    }

    // ---- where attempts are made

    /** Chooses an endpoint that no attempt has tried, if the balancer comes to one soon; null if none may be used. */
    final @Nullable Endpoint choose() {
        if (stale >= MAX_STALE && endpoint != null && upstream.host(endpoint).isChosen()) {
            return endpoint;
        }
        Endpoint kept = session == null ? null : session.endpoint();
        boolean untouched = endpoint == null || (stale > 0 && endpoint.equals(kept));
        if (kept != null && untouched && upstream.host(kept).isChosen()) {
            return kept;
        }
        return EndpointChoice.choose(upstream, this);
    }

    /** An attempt begins at the endpoint that was chosen. */
    final void begin(Endpoint chosen) {
        goTo(chosen);
        wasFailing = upstream.host(chosen).isFailing();
        failedByStatus = awaitsGrpcStatus = answeredWell = false;
    }

    /** The current attempt is made at this endpoint. */
    final void goTo(Endpoint chosen) {
        endpoint = chosen;
        tried |= bit(chosen);
    }

    /** The current attempt has failed, and another one follows. */
    final void leave(Failure failure) {
        stale = failure.stale() ? stale + 1 : 0;
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
        return (tried & bit(asked)) != 0 || asked.equals(endpoint); // which may be one too many for the bits
    }

    private static long bit(Endpoint endpoint) {
        return endpoint.index() < 0 || endpoint.index() >= Long.SIZE ? 0 : 1L << endpoint.index();
    }

    /** Whether the next attempt would go to another endpoint. */
    final boolean isElsewhere() {
        return endpoint == null || upstream.health().hasOther(endpoint);
    }

    /** Whether the endpoint's last request had failed when the current attempt began. */
    final boolean wasFailing() {
        return wasFailing;
    }

    /** Whether the endpoint has answered nobody since it got this request, and another has not been tried. */
    final boolean isSilent() {
        return endpoint != null
                && !upstream.host(endpoint).isHeardSince(exchange.record.requestedNanos)
                && EndpointChoice.hasUntried(upstream, this);
    }

    // ---- how endpoints did

    /** The final head of an answer came. */
    final void onAnswered(ResponseHead head, boolean last) {
        stale = 0;
        timeAnswer();
        boolean call = upstream.health().detectsOutliers() && GrpcStatus.isCall(head);
        awaitsGrpcStatus = call && !last && !GrpcStatus.isTold(head.fields());
        if (!awaitsGrpcStatus) {
            onAnswered(call ? GrpcStatus.toHttp(head.fields()) : head.status());
        }
    }

    /** Tells the host how long the answer has taken, if its balancer asks; not what the client has taken to send much. */
    private void timeAnswer() {
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
                onServed(); // a tunnel may be open for days, and says nothing more of its endpoint
            }
        }
    }

    /** The answer has ended with trailers. */
    final void onAnswerEnded(Fields trailers) {
        if (awaitsGrpcStatus) {
            awaitsGrpcStatus = false;
            onAnswered(GrpcStatus.toHttp(trailers));
        }
    }

    /** The head will be forwarded, and no further attempt made. */
    final void beforeForwarding(ResponseHead head) {
        if (session != null && endpoint != null) {
            session.onAnswered(endpoint, head);
        }
    }

    /** The endpoint is not silent; also where nobody is left for silence: other routes may lead to the endpoint. */
    final void onHeard(long nanos) {
        if (endpoint != null && nanos != 0) {
            upstream.host(endpoint).onHeard(nanos);
        }
    }

    /** The answer has ended otherwise than by the endpoint's fault. */
    final void onServed() {
        if (answeredWell && endpoint != null) {
            answeredWell = false;
            upstream.health().onServed(endpoint);
        }
    }

    /**
     * Tells how the endpoint did if it had the request.
     *
     * @param silent whether it still owes an answer if that has taken too long
     */
    final void judge(Failure failure, boolean silent) {
        if (endpoint == null || failedByStatus || !exchange.state.isRequested() || exchange.state.isTunnel()) {
            return;
        }
        EndpointBlame.Finding finding = EndpointBlame.of(failure, silent && !exchange.state.isResponded());
        answeredWell &= finding != EndpointBlame.Finding.ANSWERED_BADLY;
        EndpointBlame.tell(upstream.health(), endpoint, finding);
    }
}
