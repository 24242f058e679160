package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Pending;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.ExchangeRecord.Side;
import dev.gateway.route.Route;
import dev.gateway.route.Router;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Identity;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request and its response: its life from the door to the record. It is what the downstream connection tells of the
 * client; {@link Attempts} is the side of the upstream, {@link RequestBody} and {@link Response} are the two ways in
 * between. Made by {@link ExchangeHandler}, confined to its event loop. {@link ExchangeState} says what an event means.
 * Events may arrive inside calls, so the state is always changed before anybody is called.
 */
final class Exchange implements StreamEvents {
    private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

    /** What streams are told that are given up although nothing failed. */
    static final Failure ABANDONED = Failure.of(Cause.CLIENT_CLOSED, "not needed any more");

    private static final Fields NO_FIELDS = new Fields();

    final ExchangeHandler handler;
    final ServerStream server;
    final RequestHead head;
    final ExchangeRecord record;
    final ExchangeState state = new ExchangeState();
    final Deadlines deadlines;
    final RequestBody request;
    final Response response;
    private final Tenure tenure;
    private final ExchangeSettings settings;
    private boolean proxied; // it goes where the client wants it to, not where a route of ours leads
    private @Nullable FilterChain filters;
    private @Nullable Route route;
    private @Nullable Attempts attempts;

    Exchange(ExchangeHandler handler, Tenure tenure, ServerStream server, RequestHead head) {
        this.handler = handler;
        this.tenure = tenure;
        this.settings = tenure.settings;
        this.server = server;
        this.head = head;
        this.record = handler.record(server, head);
        this.deadlines = new Deadlines(this, handler.wheel);
        this.request = new RequestBody(this, settings.maxRequestBodyBytes(record.connection.listener()));
        this.response = new Response(this);
    }

    // ---- the way to the upstream

    void begin(boolean last) {
        if (last) {
            request.completeAtOnce();
        }
        handler.observer.onBegun(record);
        try {
            admit();
        } catch (RuntimeException e) {
            onDefect(e);
        }
    }

    private void admit() {
        int listener = record.connection.listener();
        Failure refusal = Admission.check(head, settings, listener, handler.active());
        if (refusal != null) {
            fail(refusal);
            return;
        }
        Router.Match match = match(listener);
        if (Admission.isLastHop(head) || (match == null && head.path().contentEquals("*"))) {
            state.on(Event.REPLIED);
            record.status = 200;
            record.sentBytes = handler.replies.sendOptions(server, head, settings);
            complete(null);
            return;
        }
        if (match == null) {
            fail(Failure.of(Cause.NO_ROUTE, "no route matches"));
            return;
        }
        Route found = match.route();
        route = found;
        record.route = found.name();
        record.requestId = proxied
                ? Admission.prepareProxied(head, record.path, record.connection, settings, handler.requestIds)
                : Admission.prepare(head, record.connection, settings, handler.requestIds);
        Failure noUpgrade = Admission.checkUpgrade(head, found.upgrades());
        if (noUpgrade != null) {
            fail(noUpgrade);
            return;
        }
        if (isUpgradeRefused()) {
            onUpgradeRefused();
        }
        deadlines.begin(found.timeouts().requestMillis(), found.timeouts().streamIdleMillis(), record.startNanos);
        if (found.filters().isEmpty()) {
            onFiltersProceeded();
        } else {
            filters = new FilterChain(record.connection, match, head, this);
            filters.run();
        }
    }

    /** Finds the route of the request: one of the listener's own, or the one for what clients name themselves. */
    private Router.@Nullable Match match(int listener) {
        Router.Match own =
                Admission.isTunnel(head) ? null : settings.router(listener).match(head);
        Router tunnels = settings.tunnels(listener);
        boolean named = Admission.isTunnel(head)
                || (head.isAbsoluteForm() && !head.path().contentEquals("*"));
        if (own != null || tunnels == null || !named) {
            return own;
        }
        Router.Match match = tunnels.match(head);
        proxied = match != null;
        return match;
    }

    /** Whether a wish to upgrade has been refused, here or by the upstream, since this was asked last. */
    boolean isUpgradeRefused() {
        return record.kind != Kind.HTTP && !head.isConnect();
    }

    /** What is left is a request that its head was all of. */
    void onUpgradeRefused() {
        record.kind = Kind.HTTP;
        request.completeAtOnce();
    }

    void onIdentity(Identity identity) {
        record.identity = identity.name();
    }

    Executor loop() {
        return handler.wheel.loop();
    }

    void onFilterWaits() {
        state.on(Event.FILTER_WAITS);
    }

    void onFilterReplied(Verdict.Reply reply) {
        if (state.on(Event.REPLIED) == Action.NOTHING) {
            reply.body().release();
            return;
        }
        record.status = reply.head().status();
        record.sentBytes = handler.replies.send(server, head, reply, settings);
        complete(null);
    }

    void onFiltersProceeded() {
        if (route != null && state.on(Event.ROUTED) == Action.OPEN) {
            Route.Target target = route.target();
            if (target == null) {
                fail(Failure.of(Cause.NO_ROUTE, "the route has no upstream, and no filter answered"));
                return;
            }
            attempts = new Attempts(this, route, target.choose());
            if (filters == null || request.passes(filters.inspector())) {
                attempts.open();
            }
        }
    }

    /** Whether the request goes where its client wants it to, not where a route of ours leads. */
    boolean isProxied() {
        return proxied;
    }

    /** Whether the request passes filters. */
    boolean isFiltered() {
        return filters != null;
    }

    /** Lets the filters that the request has passed see, and edit, the final response's head. */
    void showToFilters(ResponseHead response) {
        if (filters != null) {
            filters.onResponse(response);
        }
    }

    // ---- what the client does

    @Override
    public void onData(ByteBuf data, boolean last) {
        request.onData(data, last);
    }

    @Override
    public void onTrailers(Fields trailers) {
        request.onTrailers(trailers);
    }

    @Override
    public void onWritable() {
        if (!state.isDone()) {
            deadlines.touch();
            response.credit();
        }
    }

    @Override
    public void onReadComplete() {
        request.onReadComplete();
    }

    @Override
    public void onReset(Failure failure) {
        if (state.isDone()) {
            return;
        }
        Pending pending = state.pending();
        state.on(Event.CLIENT_GONE);
        undo(pending, failure);
        if (record.respondedNanos == 0) {
            record.status = failure.status();
            if (failure.cause() != Cause.CLIENT_CLOSED) {
                // What the client did wrong, an adapter that still can lets it be told; any other drops the answer.
                record.sentBytes = handler.replies.send(server, head, failure, settings, about(NO_FIELDS));
            }
        }
        complete(failure);
    }

    // ---- tunnels

    /** The response's head has made a tunnel of the exchange. */
    void onTunnel() {
        Route.Tunnel limits =
                route == null ? Route.Tunnel.NONE : route.timeouts().tunnel();
        deadlines.tunnel(limits, record.respondedNanos);
        if (state.isRequestEnded()) {
            onHalfClosed(); // the client had nothing to say, or has said it before
        }
    }

    private void onHalfClosed() {
        if (state.isDone()) {
            return; // ended altogether inside the call that told the other side
        }
        record.endedBy = state.isRequestEnded() ? Side.CLIENT : Side.UPSTREAM;
        deadlines.halfClosed();
    }

    // ---- time

    void onTimeout(Failure failure) {
        fail(failure);
    }

    void onAttemptTimeout(Failure failure) {
        if (attempts != null) {
            attempts.onBroken(failure);
        }
    }

    /** A tunnel has been open for as long as it may. */
    void onTooOld(long millis) {
        fail(Failure.of(Cause.MAX_DURATION, "a tunnel open for " + millis + " ms"));
    }

    void onIdle(long millis) {
        // Before the response's head it is the upstream that owes something.
        Cause cause = record.respondedNanos == 0 ? Cause.UPSTREAM_TIMEOUT : Cause.IDLE_TIMEOUT;
        fail(Failure.of(cause, "no byte in either direction in " + millis + " ms"));
    }

    /** It is time for the next attempt. */
    void onBackedOff() {
        try {
            if (attempts != null && state.on(Event.BACKED_OFF) == Action.OPEN) {
                attempts.open();
            }
        } catch (RuntimeException e) {
            onDefect(e);
        }
    }

    // ---- the end

    /** The exchange cannot succeed: answers the client if that is still possible, else resets its stream. */
    void fail(Failure failure) {
        fail(failure, NO_FIELDS);
    }

    /** The same, with fields that an answer has besides the usual ones. */
    void fail(Failure failure, Fields fields) {
        if (state.isDone()) {
            return;
        }
        Pending pending = state.pending();
        Action action = state.on(Event.FAILED);
        undo(pending, failure);
        if (action == Action.ANSWER) {
            record.status = failure.status();
            record.sentBytes = handler.replies.send(server, head, failure, settings, about(fields));
        } else {
            server.reset(failure);
        }
        complete(failure);
    }

    private LocalReply.About about(Fields fields) {
        return new LocalReply.About(record.requestId, proxied ? record.authority : null, fields);
    }

    /**
     * A filter, router or balancer threw: a defect, which must neither reach the connection, that others may share, nor
     * leave this exchange open.
     */
    void onDefect(RuntimeException defect) {
        LOG.error("failing an exchange of listener {}", record.connection.listenerName(), defect);
        fail(Failure.of(Cause.UNKNOWN, defect.getClass().getName()));
    }

    /** Does what the end of a direction means. */
    void perform(Action action) {
        switch (action) {
            case FINISH -> {
                if (attempts != null) {
                    attempts.finish();
                }
                request.flush();
                response.flush();
                complete(null);
            }
            case FINISH_AND_RESET_UPSTREAM -> {
                if (attempts != null) {
                    attempts.abandon(ABANDONED);
                }
                response.flush();
                complete(null);
            }
            case HALF_CLOSE -> onHalfClosed();
            case NOTHING, OPEN, WAIT, SEND_REQUEST, FORWARD_HEAD, ANSWER, RESET_CLIENT, RECORD -> {}
        }
    }

    private void undo(Pending pending, Failure failure) {
        switch (pending) {
            case FILTERS -> {
                if (filters != null) {
                    filters.cancel();
                }
            }
            case ATTEMPT -> {
                if (attempts != null) {
                    attempts.abandon(failure);
                }
            }
            case BACKOFF, NOTHING -> {}
        }
    }

    private void complete(@Nullable Failure failure) {
        deadlines.cancel();
        record.endNanos = handler.wheel.nanoTime();
        if (attempts != null) {
            attempts.tellEnd(record.respondedNanos == 0 ? 0 : record.status, failure, false);
        }
        if (failure != null) {
            record.cause = failure.cause();
            record.detail = failure.detail();
            record.endedBy = record.endedBy == null ? side(failure.cause()) : record.endedBy;
        }
        request.discard();
        if (filters != null) {
            filters.end();
        }
        handler.completed(record, tenure);
    }

    private static Side side(Cause cause) {
        return switch (cause) {
            case CLIENT_CLOSED, CLIENT_TIMEOUT, CLIENT_PROTOCOL_ERROR -> Side.CLIENT;
            case UPSTREAM_RESET_BEFORE_HEADERS, UPSTREAM_RESET_IN_BODY, UPSTREAM_PROTOCOL_ERROR -> Side.UPSTREAM;
            default -> Side.GATEWAY;
        };
    }

    /** For people who debug. */
    @Override
    public String toString() {
        AsciiString path = record.path;
        return record.method + " " + path + " " + state.phase();
    }
}
