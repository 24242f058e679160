package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Phase;
import dev.gateway.exchange.attempt.ConnectionLogin;
import dev.gateway.exchange.attempt.Retries;
import dev.gateway.exchange.route.Route;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.AttemptKind;
import dev.gateway.observe.ExchangeRecord.HedgeResult;
import dev.gateway.observe.counts.EndpointMeters;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.Failure;
import dev.gateway.stream.LoginPins;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import org.jspecify.annotations.Nullable;

/**
 * Attempts of a hedged request: one after another, and at most once a {@link Hedge} beside the current one. Either of the two
 * may take the place of the other. Made only for requests that the rule hedges, so that other requests pay nothing.
 */
final class HedgedAttempts extends Attempts {
    private final Hedge hedge;
    private final boolean free; // no session ties the request to an endpoint

    private HedgedAttempts(
            Exchange owner, Route route, Upstream upstream, Route.Hedging hedging) {
        super(owner, route, upstream);
        this.hedge = new Hedge(exchange, upstream, hedging, this);
        this.free = !isInSession();
        if (free) {
            upstream.hedgeBudget().onRequest(exchange.record.startNanos);
        }
    }

    /** Makes the attempts of an exchange: hedged ones only if the rule hedges such a request. */
    static Attempts of(Exchange owner, Route route, Upstream upstream) {
        Route.Hedging hedging = route.forwarding().hedging();
        return hedging != null && isHedged(owner, hedging)
                ? new HedgedAttempts(owner, route, upstream, hedging)
                : new Attempts(owner, route, upstream);
    }

    /** Whether two endpoints may process the request, and it has no body. */
    private static boolean isHedged(Exchange exchange, Route.Hedging hedging) {
        LoginPins logins = exchange.server.logins();
        return hedging.methods().contains(exchange.head.routedMethod())
                && (logins == null || logins.isEmpty()) // a hedge would be on a connection without the login
                && !ConnectionLogin.isTried(exchange.head.fields())
                && exchange.record.kind == ExchangeRecord.Kind.HTTP
                && exchange.head.wish() == null
                && exchange.request.isNone();
    }

    // ---- the hedge

    @Override
    void onSent() {
        if (free) {
            hedge.onSent();
        }
    }

    void onHedgeBegun(Endpoint at) {
        setTried(at);
        owner.routing.onAttempt();
        tellEndpoint(at);
    }

    void onHedgeMoved(Endpoint to) {
        setTried(to);
        tellEndpoint(to);
    }

    boolean isRetriable(int status) {
        return retries.isFailure(status);
    }

    Response response() {
        return owner.response;
    }

    void onDefect(RuntimeException defect) {
        owner.onDefect(defect);
    }

    void onHedgeAnswered(Attempt from, ClientStream stream, ResponseHead head, boolean last) {
        hedge.onTaken();
        timeAnswer(); // else a slow endpoint would never look slow
        tellEnd(0, null, true);
        Attempt slower = current;
        takeOver(from);
        owner.response.attach(stream);
        replaceLimits(false);
        if (slower != null) {
            slower.abandon(Attempt.ABANDONED);
        }
        if (!from.isOver()) {
            onHead(head, last);
        }
    }

    // ---- the current attempt

    @Override
    void onLeft() {
        if (free && exchange.state.phase() == Phase.REQUESTED) {
            hedge.onTaken();
        }
    }

    @Override
    long delayAfterSilence() {
        if (!hedge.isOut()) {
            return super.delayAfterSilence();
        }
        return isUnheard() && retries.leavesSilent() ? 0 : Retries.NONE;
    }

    @Override
    long delayWhenUnresponsive() {
        return hedge.isOut() ? 0 : super.delayWhenUnresponsive();
    }

    @Override
    boolean isLeftToOther(ResponseHead head) {
        if (!hedge.isOut() || !retries.isFailure(head.status())) {
            return false;
        }
        onHeard(exchange.loop.wheel.nanoTime());
        onRetryAfter(previous(), head);
        return goOnWithOther(head.status(), null);
    }

    @Override
    boolean goOnWithOther(int status, @Nullable Failure failure) {
        Attempt next = hedge.running();
        if (next == null) {
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
        takeOver(next);
        if (stream == null) {
            exchange.state.on(Event.RETRY);
            exchange.state.on(Event.BACKED_OFF); // the attempt sends the request when it has a stream, like any other
        } else {
            owner.response.attach(stream);
        }
        replaceLimits(stream != null);
        if (failed != null) {
            failed.abandon(failure == null ? Attempt.ABANDONED : failure);
        }
        return true;
    }

    private void takeOver(Attempt next) {
        current = next;
        next.adopt(this);
        endUnreported = true;
        Endpoint at = hedge.takeOver();
        if (at != null) {
            begin(at);
        }
    }

    /** The time limits are those of the hedge from now on. */
    private void replaceLimits(boolean awaitsHead) {
        owner.deadlines
                .replaceAttempt(
                        route.timeouts().backendRequestMillis(),
                        exchange.record.attemptNanos,
                        awaitsHead ? headMillis : 0,
                        awaitsHead ? policy.silentMillis() : 0,
                        exchange.record.requestedNanos);
    }

    @Override
    void onAccepted(int status) {
        hedge.giveUp();
        if (free && status < Hedge.SERVER_ERROR) { // errors that come fast would make other answers look slow
            hedge.onTaken();
        }
    }

    @Override
    void giveUpOther() {
        hedge.giveUp();
    }

    @Override
    void beforeEnd(int status, @Nullable Failure failure, boolean again) {
        if (exchange.record.attemptKind == AttemptKind.HEDGE) {
            exchange.record.setHedge(result(status, failure, again));
        }
    }

    /** An error is no gain, even if it is forwarded because no other attempt is left. */
    private HedgeResult result(int status, @Nullable Failure failure, boolean again) {
        if (exchange.state.isResponded()) {
            return exchange.record.isRetriable || status >= Hedge.SERVER_ERROR ? HedgeResult.FAILED : HedgeResult.WON;
        }
        return again || EndpointMeters.isFailed(0, failure) ? HedgeResult.FAILED : HedgeResult.LOST;
    }
}
