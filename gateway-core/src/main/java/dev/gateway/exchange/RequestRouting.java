package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.filter.BodyInspector;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Fields;
import dev.gateway.message.OddNames;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.overload.Cost;
import dev.gateway.route.Route;
import dev.gateway.route.Router;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Identity;
import dev.gateway.stream.ViaSignature;
import dev.gateway.trace.TraceSettings;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Routes a request, from its head to its upstream: what is checked, which route it takes, which filters it passes.
 * Part of its {@link Exchange}, which it fails if the way ends here.
 */
final class RequestRouting {
    private final Exchange exchange;
    private ExchangeSettings settings;
    private final RequestHead head;
    private final ExchangeRecord record;
    private final OddNames.Policy oddNames;
    private boolean proxied; // it goes where the client wants it to, not where a route of ours leads
    private @Nullable Route route;
    private @Nullable FilterChain filters;

    RequestRouting(Exchange exchange, ExchangeSettings settings) {
        this.exchange = exchange;
        this.settings = settings;
        this.head = exchange.head;
        this.record = exchange.record;
        this.oddNames = settings.trust(record.connection.listener()).oddNames();
    }

    void enter() {
        int listener = record.connection.listener();
        ExchangeHandler handler = exchange.handler;
        if (!handler.gate.admitsRequests() || !exchange.held.tryAdd(Cost.EXCHANGE + head.heldBytes())) {
            exchange.turnAway(Failure.of(Cause.OVERLOAD, "no memory is left for another request"));
            return;
        }
        record.requestId = RequestChecks.requestId(head.fields(), record.fromProxy, settings, handler.requestIds);
        Failure refusal = RequestChecks.check(head, settings, listener);
        if (refusal == null && !RequestChecks.isTunnel(head)) {
            refusal = handler.oddNames.check(head.fields(), oddNames, record);
        }
        if (refusal != null) {
            exchange.fail(refusal);
            return;
        }
        Router.Match match = match(listener);
        if (RequestChecks.isLastHop(head) || (match == null && head.path().contentEquals("*"))) {
            exchange.state.on(Event.REPLIED);
            exchange.completeAnswered(200, handler.replies.sendOptions(exchange.server, head, settings));
            return;
        }
        if (match == null) {
            exchange.fail(Failure.of(Cause.NO_ROUTE, "no route matches"));
            return;
        }
        Route found = match.route();
        route = found;
        record.route = found.name();
        record.logPolicy = found.logPolicy();
        if (match.insteadOf() != null) {
            handler.readings.tell(head, found, match.insteadOf(), record);
        }
        if (proxied) {
            RequestChecks.prepareProxied(head, record.path);
        } else {
            RequestChecks.prepare(head, record.connection, settings, record.requestId);
            if (isLoop(found.signature())) {
                return;
            }
        }
        TraceSettings traces = settings.traces();
        if (record.trace != null && traces != null && !proxied) {
            exchange.handler.traces.forward(head.fields(), record.trace, traces);
        }
        Failure noUpgrade = RequestChecks.checkUpgrade(head, found.upgrades());
        if (noUpgrade != null) {
            exchange.fail(noUpgrade);
            return;
        }
        if (exchange.isUpgradeRefused()) {
            exchange.onUpgradeRefused();
        }
        Route.Timeouts timeouts = found.timeouts();
        exchange.deadlines.begin(timeouts.requestMillis(), timeouts.streamIdleMillis(), record.startNanos);
        if (found.filters().isEmpty()) {
            onFiltersProceeded();
        } else {
            FilterChain chain = new FilterChain(match, exchange);
            filters = chain;
            chain.run();
        }
    }

    /** Refuses a request that has taken the same route before, and signs any other. */
    private boolean isLoop(@Nullable ViaSignature signature) {
        if (signature == null) {
            return false;
        }
        boolean back = signature.isIn(head.fields());
        if (back) {
            exchange.fail(Failure.of(Cause.LOOP_DETECTED, "it has taken this route before, as " + signature));
        } else {
            signature.sign(head.fields(), record.connection.version());
        }
        return back;
    }

    /** Finds the route of the request: one of the listener's own, or the one for what clients name themselves. */
    private Router.@Nullable Match match(int listener) {
        Router.Match own =
                RequestChecks.isTunnel(head) ? null : settings.router(listener).match(head);
        if (own != null && RequestChecks.takeOut(head, record, settings.trust(listener))) {
            own = settings.router(listener).match(head); // nobody chooses a route by what is not believed
        }
        Router tunnels = settings.tunnels(listener);
        boolean named = RequestChecks.isTunnel(head)
                || (head.isAbsoluteForm() && !head.path().contentEquals("*"));
        if (own != null || tunnels == null || !named) {
            return own;
        }
        Router.Match match = tunnels.match(head);
        proxied = match != null;
        return match;
    }

    // ---- what the filters decide

    void onIdentity(Identity identity) {
        record.identity = identity.name();
    }

    Executor loop() {
        return exchange.handler.wheel.loop();
    }

    void onFilterWaits() {
        exchange.state.on(Event.FILTER_WAITS);
    }

    void onFilterReplied(Verdict.Reply reply) {
        if (exchange.state.on(Event.REPLIED) == Action.NOTHING) {
            reply.body().release();
            return;
        }
        int status = reply.head().status();
        exchange.completeAnswered(status, exchange.handler.replies.send(exchange.server, head, reply, settings));
    }

    void onFiltersProceeded() {
        if (route != null && exchange.state.on(Event.ROUTED) == Action.OPEN) {
            Route.Target target = route.target();
            if (target == null) {
                exchange.fail(Failure.of(Cause.NO_ROUTE, "the route has no upstream, and no filter answered"));
            } else {
                exchange.sendTo(target.choose(filters == null ? null : filters.identity()), route);
            }
        }
    }

    // ---- what is known once it has been passed

    /** Whether the request goes where its client wants it to, not where a route of ours leads. */
    boolean isProxied() {
        return proxied;
    }

    /** The request is about to be sent again, or for the first time, as an attempt of its own. */
    void onAttempt() {
        TraceSettings traces = settings.traces();
        if (record.trace != null && record.trace.isRecorded() && traces != null) {
            exchange.handler.traces.attempt(proxied ? null : head.fields(), record.trace, traces);
        }
    }

    /** Whether the request passes filters. */
    boolean isFiltered() {
        return filters != null;
    }

    /** Returns what looks at the first bytes of the request, null if nothing does. */
    @Nullable
    BodyInspector inspector() {
        return filters == null ? null : filters.inspector();
    }

    /** Returns the limits of the tunnel that the exchange may become. */
    Route.Tunnel tunnelLimits() {
        return route == null ? Route.Tunnel.NONE : route.timeouts().tunnel();
    }

    /** Lets the filters that the request has passed see, and edit, the final response's head. */
    void onResponse(ResponseHead response) {
        if (filters != null) {
            filters.onResponse(response);
        }
    }

    /** Lets the filters that the request has passed edit its trailers. */
    void onRequestTrailers(Fields trailers) {
        if (filters != null) {
            filters.onRequestTrailers(trailers);
        }
    }

    /** Lets the filters that the request has passed edit the response's trailers. */
    void onResponseTrailers(Fields trailers) {
        if (filters != null) {
            filters.onResponseTrailers(trailers);
        }
    }

    /** Checks the names of a request's trailers; returns why it is refused, or null. */
    @Nullable
    Failure checkTrailers(Fields trailers) {
        return exchange.handler.oddNames.check(trailers, oddNames, record);
    }

    /** The response's head has been sent, so no route is looked for any more. */
    void onResponded() {
        settings = settings.afterHead();
    }

    /** Nothing is waited for any more. */
    void cancel() {
        if (filters != null) {
            filters.cancel();
        }
    }

    /** The exchange is over. */
    void end() {
        if (filters != null) {
            filters.end();
        }
    }
}
