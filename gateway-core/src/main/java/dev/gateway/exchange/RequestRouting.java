package dev.gateway.exchange;

import dev.gateway.config.listener.ListenerConfig.HeadersWithUnderscores;
import dev.gateway.config.observe.TracingConfig;
import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.reply.GrpcStatus;
import dev.gateway.exchange.reply.LocalReply;
import dev.gateway.exchange.request.RequestChecks;
import dev.gateway.exchange.route.Route;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.settings.ExchangeSettings;
import dev.gateway.exchange.settings.ListenerRoutes;
import dev.gateway.exchange.settings.RequestIdSettings;
import dev.gateway.filter.BodyInspector;
import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.filter.MirrorTarget;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.ProxyFields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import dev.gateway.message.path.PathForm;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.trace.Trace;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ViaSignature;
import dev.gateway.upstream.Upstream;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Routes a request: checks its head, finds its route, runs the filters, and chooses the upstream. Part of an exchange,
 * which it fails or answers if the request goes no further.
 */
final class RequestRouting implements FilterChain.Decisions {
    private static final Logger log = LoggerFactory.getLogger(RequestRouting.class);
    private static final int FIRST_ERROR = 400;
    private static final int FIRST_WITHOUT_TUNNEL = 300; // a 2xx answer to CONNECT opens one
    private static final String USE_CONNECT = "use CONNECT for https://";
    private static final String USE_PROXY_FORMS = "this is a proxy for http:// and CONNECT";

    private final Exchange exchange;
    private final HeadersWithUnderscores oddNames;
    private final RequestIdSettings requestIds;
    private boolean proxied; // the client has chosen the destination, by CONNECT or an absolute URI
    private @Nullable Route route;
    private @Nullable FilterChain filters;

    RequestRouting(Exchange exchange) {
        this.exchange = exchange;
        this.oddNames = exchange.settings().trust().oddNames();
        this.requestIds = exchange.settings().requestIds();
    }

    /**
     * Begins with the routes of all listeners, which it does not keep.
     *
     * @return the upstream that the request goes to, null if it goes no further, or if filters run
     */
    @Nullable
    Upstream enter(ListenerRoutes routes) {
        RequestHead head = exchange.head;
        ExchangeRecord record = exchange.record;
        ExchangeSettings settings = exchange.settings();
        LoopServices loop = exchange.loop;
        int listener = record.connection.listener();
        record.requestId = RequestChecks.requestId(head.fields(), record.fromProxy, settings, loop.requestIds);
        Failure refusal = RequestChecks.check(head, settings);
        if (refusal == null && !RequestChecks.isTunnel(head)) {
            refusal = loop.oddNames.check(head.fields(), oddNames, record);
        }
        if (refusal != null) {
            exchange.fail(refusal);
            return null;
        }
        Router.Match match = match(routes, listener);
        if (RequestChecks.isLastHop(head) || (match == null && head.path().contentEquals("*"))) {
            exchange.state.on(Event.REPLIED);
            exchange.answer(200, null, () -> loop.replies.sendOptions(exchange.server, head, settings));
            return null;
        }
        if (match == null) {
            exchange.fail(noRoute(settings.offersTunnels()));
            return null;
        }
        Route found = match.route();
        route = found;
        record.route = found.name();
        record.logPolicy = found.logPolicy();
        if (match.insteadOf() != null && !match.isUnclear()) {
            loop.readings.tell(head, found, match.insteadOf(), record);
        }
        if (match.isDeceptive()) {
            exchange.fail(Failure.of(
                    Cause.CLIENT_PROTOCOL_ERROR,
                    match.isUnclear()
                            ? "upstreams may read the path in too many ways to tell which route guards it"
                            : "an upstream may read the path as one of route " + found.name() + ", which guards it"));
            return null;
        }
        if (proxied) {
            RequestChecks.prepareProxied(head, record.path);
        } else {
            Failure odd = forwardPath(found, routes.router(listener));
            if (odd != null) {
                exchange.fail(odd);
                return null;
            }
            RequestChecks.prepare(head, record, settings);
            if (isLoop(found.signature())) {
                return null;
            }
        }
        TracingConfig traces = settings.traces();
        if (record.trace != null && traces != null && !proxied) {
            loop.traces.forward(head.fields(), record.trace, traces);
        }
        Failure noUpgrade = RequestChecks.checkUpgrade(head, found.upgrades());
        if (noUpgrade != null) {
            exchange.fail(noUpgrade);
            return null;
        }
        if (exchange.isUpgradeRefused()) {
            exchange.onUpgradeRefused();
        } else if (RequestChecks.isWebSocketOnly(head) && exchange.request.isNone()) {
            head.wishFor(null);
            head.upgradeTo(RequestChecks.WEBSOCKET); // so that it may go to an HTTP/2 upstream
            exchange.onUpgradeAsked();
        }
        Route.Timeouts timeouts = found.timeouts();
        exchange.deadlines.begin(timeouts.requestMillis(), timeouts.streamIdleMillis(), record.startNanos);
        if (found.filters().isEmpty()) {
            return target(found);
        }
        FilterChain chain = new FilterChain(match, exchange, this);
        filters = chain;
        chain.run();
        return null;
    }

    /**
     * Returns why a request without a route fails.
     *
     * @param proxy whether the listener is a forward proxy, which its client may use in a way that is not offered
     */
    private Failure noRoute(boolean proxy) {
        RequestHead head = exchange.head;
        if (proxy && head.isAbsoluteForm() && head.scheme().equals(Scheme.HTTPS)) {
            // Not 404, which would look like the destination's.
            return Failure.of(Cause.NO_ROUTE, 501, "an https URI without CONNECT")
                    .advising(USE_CONNECT);
        }
        Failure none = Failure.of(Cause.NO_ROUTE, "no route matches");
        return proxy ? none.advising(USE_PROXY_FORMS) : none;
    }

    /**
     * Refuses what has taken this route before. Signs other requests, at the latest before they go to a listener of this
     * gateway.
     */
    private boolean isLoop(@Nullable ViaSignature signature) {
        if (signature == null) {
            return false;
        }
        exchange.signature = signature;
        Fields fields = exchange.head.fields();
        boolean back = signature.isIn(fields);
        if (back) {
            exchange.fail(Failure.of(
                    Cause.LOOP_DETECTED, "forwarding loop: the request already took this route, as " + signature));
        } else if (exchange.settings().signsAll()) {
            signature.sign(fields, exchange.record.connection.version());
        }
        return back;
    }

    /**
     * Has the upstream told the path in the form that the rule wants.
     *
     * @return why the gateway refuses the request, or null
     */
    private @Nullable Failure forwardPath(Route found, Router router) {
        RequestHead head = exchange.head;
        PathForm form = found.forwarding().path();
        AsciiString written = exchange.record.path;
        AsciiString normal = head.path();
        if (form == PathForm.NORMAL || written.equals(normal)) {
            return null;
        }
        List<AsciiString> readings = form.of(written, normal);
        if (readings.isEmpty()) {
            return Failure.of(
                    Cause.CLIENT_PROTOCOL_ERROR,
                    "an upstream may resolve the path otherwise than rules and filters did");
        }
        for (AsciiString reading : readings) {
            head.setPath(reading);
            Router.Match match = router.match(head);
            if (match == null || match.isReading() || !match.route().name().equals(found.name())) {
                return Failure.of(
                        Cause.CLIENT_PROTOCOL_ERROR,
                        "an upstream may read the unchanged path as one that does not lead to route " + found.name());
            }
        }
        head.setPath(normal);
        head.setForwardedPath(readings.get(0));
        return null;
    }

    /** Finds the route of the request: one of the listener's routes, or the one for destinations that clients choose. */
    private Router.@Nullable Match match(ListenerRoutes routes, int listener) {
        RequestHead head = exchange.head;
        Router.Match own =
                RequestChecks.isTunnel(head) ? null : routes.router(listener).match(head);
        if (own != null && RequestChecks.takeOut(head, exchange.record, exchange.settings())) {
            own = routes.router(listener).match(head); // again, since removed fields must not select a route
        }
        Router tunnels = routes.tunnels(listener);
        boolean named = RequestChecks.isTunnel(head)
                || (head.isAbsoluteForm() && head.scheme().equals(Scheme.HTTP));
        if (own != null || tunnels == null || !named) {
            return own;
        }
        Router.Match match = tunnels.match(head);
        proxied = match != null;
        return match;
    }

    // ---- decisions of the filters

    @Override
    public void onFilterWaits() {
        exchange.state.on(Event.FILTER_WAITS);
        Failure noRoom = exchange.chargeHead();
        if (noRoom != null) {
            exchange.fail(noRoom);
        }
    }

    @Override
    public void onFilterReplied(Verdict.Reply reply) {
        if (exchange.head.isConnect() && reply.head().status() < FIRST_WITHOUT_TUNNEL && !forgetUpgrade()) {
            reply.body().release();
            Failure refusal = reply.refusal();
            exchange.fail(
                    refusal != null
                            ? Failure.of(refusal.cause(), refusal.detail())
                            : Failure.of(
                                    Cause.NO_ROUTE,
                                    501,
                                    "a filter answers " + reply.head().status() + " itself"));
            return;
        }
        if (!exchange.state.isDone() && isSuccessWithoutRoom(reply)) {
            reply.body().release();
            exchange.fail(Failure.of(Cause.OVERLOAD, "no memory is left for the reply of a filter"));
            return;
        }
        if (exchange.state.on(Event.REPLIED) == Action.NOTHING) {
            reply.body().release();
            return;
        }
        exchange.answer(reply.head().status(), reply.refusal(), () -> send(reply));
    }

    /** Whether the reply is no error, and so is of no use without its body, for which there is no memory. */
    private boolean isSuccessWithoutRoom(Verdict.Reply reply) {
        return reply.head().status() < FIRST_ERROR
                && reply.body().isReadable()
                && !exchange.server.hasRoomFor(reply.body());
    }

    /** Makes an upgrade an ordinary request: a filter answers, not the protocol that was asked for. */
    private boolean forgetUpgrade() {
        boolean forgotten = exchange.head.refuseUpgrade();
        if (forgotten) {
            exchange.onUpgradeRefused();
        }
        return forgotten;
    }

    /** Sends the reply. An error without a body gets the body that filters or the listener choose. */
    private int send(Verdict.Reply reply) {
        LocalReply replies = exchange.loop.replies;
        int status = reply.head().status();
        Failure refusal = reply.refusal();
        ErrorAnswer answer = answer(status, refusal == null ? null : refusal.cause(), false);
        ErrorBody chosen = status < 400 || reply.body().isReadable() ? ErrorBody.UNCHANGED : errorBody(answer);
        if (chosen instanceof ErrorBody.Unchanged) {
            return replies.send(exchange.server, exchange.head, reply, exchange.settings());
        }
        reply.body().release();
        return replies.sendInstead(exchange.server, reply.head(), answer, chosen, exchange.settings());
    }

    @Override
    public void onFilterRefused(Verdict.Refuse refusal) {
        exchange.fail(refusal.failure(), refusal.fields());
    }

    @Override
    public void limitRequestBody(long maxBytes, String by) {
        exchange.request.limit(maxBytes, by);
    }

    @Override
    public void onDefect(Throwable defect) {
        exchange.onDefect(defect);
    }

    @Override
    public void onFiltersProceeded() {
        Route found = route;
        Upstream upstream = found == null ? null : target(found);
        if (upstream != null) {
            exchange.sendTo(upstream);
        }
    }

    /** Returns the upstream that the request goes to; null if it goes no further. */
    private @Nullable Upstream target(Route found) {
        if (exchange.state.on(Event.ROUTED) != Action.OPEN) {
            return null;
        }
        Route.Target target = found.forwarding().target();
        if (target == null) {
            exchange.fail(Failure.of(Cause.NO_ROUTE, "the route has no upstream, and no filter answered"));
            return null;
        }
        return target.choose(filters == null ? null : filters.identity(), exchange.head);
    }

    // ---- for other parts, once the route is known

    /** Returns the route. */
    Route route() {
        return Objects.requireNonNull(route, "the route is not known yet");
    }

    /** Whether the client has chosen the destination, by CONNECT or an absolute URI. */
    boolean isProxied() {
        return proxied;
    }

    /** An attempt is about to send the request: sets its trace fields. */
    void onAttempt() {
        TracingConfig traces = exchange.settings().traces();
        Trace trace = exchange.record.trace;
        if (trace != null && trace.isRecorded() && traces != null) {
            exchange.loop.traces.attempt(proxied ? null : exchange.head.fields(), trace, traces);
        }
    }

    /** Whether the request passes filters. */
    boolean isFiltered() {
        return filters != null;
    }

    /** Returns the inspector of the first bytes of the request, null for none. */
    @Nullable
    BodyInspector inspector() {
        return filters == null ? null : filters.inspector();
    }

    /** Returns where copies of the request go, null for nowhere. */
    @Nullable
    List<MirrorTarget> mirrors() {
        return filters == null ? null : filters.mirrors();
    }

    /** Returns the transform of the request's body, null for none. */
    @Nullable
    BodyTransform requestBody() {
        return filters == null ? null : filters.requestBody();
    }

    /**
     * Returns the transform of the response's body, null for none. Also null if a filter threw an exception, which has
     * ended the exchange.
     *
     * @param last whether the response has no body
     */
    @Nullable
    BodyTransform responseBody(ResponseHead response, boolean last) {
        if (filters == null) {
            return null;
        }
        try {
            return filters.responseBody(response, last);
        } catch (RuntimeException e) {
            exchange.onDefect(e);
            return null;
        }
    }

    /** Returns the limits of the tunnel that the exchange may become. */
    TunnelTimeouts tunnelLimits() {
        return route == null ? TunnelTimeouts.NONE : route.timeouts().tunnel();
    }

    /**
     * Lets the filters that the request has passed edit the final response's head.
     *
     * @return false if a filter threw an exception, which has ended the exchange. The methods for trailers do the same
     */
    boolean onResponse(ResponseHead response) {
        if (filters != null) {
            try {
                filters.onResponse(response);
            } catch (RuntimeException e) {
                exchange.onDefect(e);
                return false;
            }
        }
        return true;
    }

    /**
     * Returns what the answer to a failure says besides its cause.
     *
     * @param fields further fields of the answer, to which filters add
     */
    LocalReply.About about(Failure failure, Fields fields) {
        return new LocalReply.About(
                exchange.record.requestId,
                proxied ? exchange.record.authority : null,
                filters == null ? fields : filters.onFailure(fields),
                errorBody(answer(failure.status(), failure.cause(), false)));
    }

    /** Describes an error that an upstream or a filter has answered; the exchange has not failed. */
    ErrorAnswer answer(int status, boolean upstream) {
        return answer(status, null, upstream);
    }

    private ErrorAnswer answer(int status, @Nullable Cause cause, boolean upstream) {
        return new ErrorAnswer(status, cause, upstream, exchange.head, exchange.record.requestId);
    }

    /**
     * Returns the body of an error: the choice of the filters that the request has passed, else that of its listener. An
     * error of a destination that the client has named keeps its body.
     */
    ErrorBody errorBody(ErrorAnswer answer) {
        if (GrpcStatus.isForPrograms(answer.request()) || (answer.upstream() && proxied)) {
            return ErrorBody.UNCHANGED;
        }
        try {
            ErrorBody chosen = filters == null ? ErrorBody.UNCHANGED : filters.errorBody(answer);
            return chosen instanceof ErrorBody.Unchanged ? exchange.settings().errorBody(answer) : chosen;
        } catch (RuntimeException e) {
            log.error("A filter failed at the body of an error", e); // whose answer has to be sent all the same
            return ErrorBody.UNCHANGED;
        }
    }

    /** Lets the filters that the request has passed take fields out of an interim head. */
    boolean onInterim(ResponseHead head) {
        if (filters != null) {
            try {
                filters.onInterim(head);
            } catch (RuntimeException e) {
                exchange.onDefect(e);
                return false;
            }
        }
        return true;
    }

    /** Lets the filters that the request has passed edit its trailers. */
    boolean onRequestTrailers(Fields trailers) {
        if (filters != null) {
            try {
                filters.onRequestTrailers(trailers);
            } catch (RuntimeException e) {
                exchange.onDefect(e);
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
                exchange.onDefect(e);
                return false;
            }
        }
        return true;
    }

    /**
     * Takes out of a request's trailers what only its head may say, and checks the names of the others.
     *
     * @return why the gateway refuses the request, or null
     */
    @Nullable
    Failure checkTrailers(Fields trailers) {
        HopByHop.stripTrailers(trailers);
        ProxyFields.removeAll(trailers);
        requestIds.removeFrom(trailers);
        return exchange.loop.oddNames.check(trailers, oddNames, exchange.record);
    }

    /** Cancels a filter that answers later. */
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
