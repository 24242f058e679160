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
import dev.gateway.route.Route;
import dev.gateway.route.Router;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ViaSignature;
import dev.gateway.trace.Trace;
import dev.gateway.trace.TraceSettings;
import dev.gateway.upstream.Upstream;
import org.jspecify.annotations.Nullable;

/**
 * Routes a request, from its head to its upstream: what is checked, which route it takes, which filters it passes.
 * Part of an exchange, which it fails if the way ends here.
 */
final class RequestRouting implements FilterChain.Owner {
    private final ExchangeContext exchange;
    private final Owner owner;
    private final OddNames.Policy oddNames;
    private boolean proxied; // it goes where the client wants it to, not where a route of ours leads
    private @Nullable Route route;
    private @Nullable FilterChain filters;

    /** The exchange whose request it is. */
    interface Owner {
        /** Returns the time limits, which begin when the route is known. */
        Deadlines deadlines();

        /** The request is taken for one that does not want to upgrade. */
        void onUpgradeRefused();

        /** The request goes to this upstream. */
        void sendTo(Upstream upstream, Route route);

        /** The request has been answered with a status and that many bytes of body, and nothing has failed. */
        void completeAnswered(int status, int bytes);

        /** The request ends here, for that reason. */
        void fail(Failure failure);

        /** The same, with fields that an answer has besides the usual ones. */
        void fail(Failure failure, Fields fields);

        /** A filter threw. */
        void onDefect(Throwable defect);
    }

    RequestRouting(ExchangeContext exchange, Owner owner) {
        this.exchange = exchange;
        this.owner = owner;
        this.oddNames =
                exchange.settings().trust(exchange.record.connection.listener()).oddNames();
    }

    void enter() {
        RequestHead head = exchange.head;
        ExchangeRecord record = exchange.record;
        ExchangeSettings settings = exchange.settings();
        LoopServices loop = exchange.loop;
        int listener = record.connection.listener();
        record.requestId = RequestChecks.requestId(head.fields(), record.fromProxy, settings, loop.requestIds);
        Failure refusal = RequestChecks.check(head, settings, listener);
        if (refusal == null && !RequestChecks.isTunnel(head)) {
            refusal = loop.oddNames.check(head.fields(), oddNames, record);
        }
        if (refusal != null) {
            owner.fail(refusal);
            return;
        }
        Router.Match match = match(listener);
        if (RequestChecks.isLastHop(head) || (match == null && head.path().contentEquals("*"))) {
            exchange.state.on(Event.REPLIED);
            owner.completeAnswered(200, loop.replies.sendOptions(exchange.server, head, settings));
            return;
        }
        if (match == null) {
            owner.fail(Failure.of(Cause.NO_ROUTE, "no route matches"));
            return;
        }
        Route found = match.route();
        route = found;
        record.route = found.name();
        record.logPolicy = found.logPolicy();
        if (match.insteadOf() != null) {
            loop.readings.tell(head, found, match.insteadOf(), record);
        }
        if (match.isDeceptive()) {
            owner.fail(Failure.of(
                    Cause.CLIENT_PROTOCOL_ERROR,
                    "an upstream may read the path as one of route " + found.name() + ", which guards it"));
            return;
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
            loop.traces.forward(head.fields(), record.trace, traces);
        }
        Failure noUpgrade = RequestChecks.checkUpgrade(head, found.upgrades());
        if (noUpgrade != null) {
            owner.fail(noUpgrade);
            return;
        }
        if (exchange.isUpgradeRefused()) {
            owner.onUpgradeRefused();
        }
        Route.Timeouts timeouts = found.timeouts();
        owner.deadlines().begin(timeouts.requestMillis(), timeouts.streamIdleMillis(), record.startNanos);
        if (found.filters().isEmpty()) {
            onFiltersProceeded();
        } else {
            FilterChain chain = new FilterChain(match, exchange, this);
            filters = chain;
            chain.run();
        }
    }

    /** Refuses a request that has taken the same route before, and signs any other. */
    private boolean isLoop(@Nullable ViaSignature signature) {
        if (signature == null) {
            return false;
        }
        Fields fields = exchange.head.fields();
        boolean back = signature.isIn(fields);
        if (back) {
            owner.fail(Failure.of(
                    Cause.LOOP_DETECTED, "forwarding loop: the request already took this route, as " + signature));
        } else {
            signature.sign(fields, exchange.record.connection.version());
        }
        return back;
    }

    /** Finds the route of the request: one of the listener's own, or the one for what clients name themselves. */
    private Router.@Nullable Match match(int listener) {
        RequestHead head = exchange.head;
        ExchangeSettings settings = exchange.settings();
        Router.Match own =
                RequestChecks.isTunnel(head) ? null : settings.router(listener).match(head);
        if (own != null && RequestChecks.takeOut(head, exchange.record, settings.trust(listener))) {
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

    @Override
    public void onFilterWaits() {
        exchange.state.on(Event.FILTER_WAITS);
    }

    @Override
    public void onFilterReplied(Verdict.Reply reply) {
        if (exchange.state.on(Event.REPLIED) == Action.NOTHING) {
            reply.body().release();
            return;
        }
        int status = reply.head().status();
        LocalReply replies = exchange.loop.replies;
        owner.completeAnswered(status, replies.send(exchange.server, exchange.head, reply, exchange.settings()));
    }

    @Override
    public void onFilterRefused(Verdict.Refuse refusal) {
        owner.fail(refusal.failure(), refusal.fields());
    }

    @Override
    public void onDefect(Throwable defect) {
        owner.onDefect(defect);
    }

    @Override
    public void onFiltersProceeded() {
        if (route != null && exchange.state.on(Event.ROUTED) == Action.OPEN) {
            Route.Target target = route.forwarding().target();
            if (target == null) {
                owner.fail(Failure.of(Cause.NO_ROUTE, "the route has no upstream, and no filter answered"));
            } else {
                owner.sendTo(target.choose(filters == null ? null : filters.identity()), route);
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
        TraceSettings traces = exchange.settings().traces();
        Trace trace = exchange.record.trace;
        if (trace != null && trace.isRecorded() && traces != null) {
            exchange.loop.traces.attempt(proxied ? null : exchange.head.fields(), trace, traces);
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
    Route.TunnelTimeouts tunnelLimits() {
        return route == null ? Route.TunnelTimeouts.NONE : route.timeouts().tunnel();
    }

    /**
     * Lets the filters that the request has passed see, and edit, the final response's head.
     *
     * @return false if one threw, which has ended the exchange; so it is for trailers
     */
    boolean onResponse(ResponseHead response) {
        if (filters != null) {
            try {
                filters.onResponse(response);
            } catch (RuntimeException e) {
                owner.onDefect(e);
                return false;
            }
        }
        return true;
    }

    /** Returns the fields of the answer to a failure, with those that filters add. */
    Fields onFailure(Fields fields) {
        return filters == null ? fields : filters.onFailure(fields);
    }

    /** Lets the filters that the request has passed edit its trailers. */
    boolean onRequestTrailers(Fields trailers) {
        if (filters != null) {
            try {
                filters.onRequestTrailers(trailers);
            } catch (RuntimeException e) {
                owner.onDefect(e);
                return false;
            }
        }
        return true;
    }

    /** Lets the filters that the request has passed edit the response's trailers. */
    boolean onResponseTrailers(Fields trailers) {
        if (filters != null) {
            try {
                filters.onResponseTrailers(trailers);
            } catch (RuntimeException e) {
                owner.onDefect(e);
                return false;
            }
        }
        return true;
    }

    /** Checks the names of a request's trailers; returns why it is refused, or null. */
    @Nullable
    Failure checkTrailers(Fields trailers) {
        return exchange.loop.oddNames.check(trailers, oddNames, exchange.record);
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
