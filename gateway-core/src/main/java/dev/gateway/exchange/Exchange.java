package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Pending;
import dev.gateway.exchange.ExchangeState.Phase;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.route.Route;
import dev.gateway.route.Router;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Identity;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.upstream.Demand;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request and its response: joins a {@link ServerStream} to the {@link ClientStream} of its current {@link Attempt}.
 * It is what the downstream connection tells of the client; attempts tell it of the upstream. Made by {@link
 * ExchangeHandler}, confined to its event loop. {@link ExchangeState} says what an event means; here it is done. Events
 * may arrive inside calls, so the state is always changed before anybody is called.
 */
final class Exchange implements StreamEvents {
    private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

    /** What streams are told that are given up although nothing failed. */
    static final Failure ABANDONED = Failure.of(Cause.CLIENT_CLOSED, "not needed any more");

    private final ExchangeHandler handler;
    private final ExchangeSettings settings;
    private final ServerStream server;
    private final RequestHead head;
    private final ExchangeRecord record;
    private final ExchangeState state = new ExchangeState();
    private final Deadlines deadlines;
    private final Relay requestRelay = new Relay();
    private final Relay responseRelay = new Relay();
    private final long maxBodyBytes;

    private @Nullable FilterChain filters;
    private @Nullable Route route;
    private @Nullable Retries retries;
    private @Nullable Upstream upstream;
    private @Nullable Endpoint endpoint;
    private @Nullable Attempt attempt;
    private boolean attempting; // the observer has not been told of this attempt's end
    private @Nullable Failure lastFailure; // of the attempt before

    // The request's body until a stream takes it. No credit is given for it, so the adapter's watermark bounds it.
    private @Nullable ArrayDeque<ByteBuf> held;
    private @Nullable Fields heldTrailers;
    private boolean tellsEndpoint; // the upstream is told the endpoint's host, not the client's
    private boolean requestComplete; // the client has sent all
    private boolean bodySent; // some of the body is gone upstream, so that no other attempt can send it
    private boolean reading; // downstream's read-complete will come

    Exchange(ExchangeHandler handler, ExchangeSettings settings, ServerStream server, RequestHead head) {
        this.handler = handler;
        this.settings = settings;
        this.server = server;
        this.head = head;
        this.record = handler.record(server, head);
        this.deadlines = new Deadlines(this, handler.wheel);
        this.maxBodyBytes = settings.maxRequestBodyBytes(record.connection.listener());
    }

    // ---- the way to the upstream

    void begin(boolean last) {
        reading = true;
        requestComplete = last;
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
        Router.Match match = settings.router(listener).match(head);
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
        record.requestId = Admission.prepare(head, record.connection, settings, handler.requestIds);
        deadlines.begin(found.timeouts().requestMillis(), found.timeouts().streamIdleMillis(), record.startNanos);
        if (found.filters().isEmpty()) {
            onFiltersProceeded();
        } else {
            filters = new FilterChain(record.connection, match, head, this);
            filters.run();
        }
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
        if (state.on(Event.ROUTED) == Action.OPEN) {
            Route.Target target = route().target();
            if (target == null) {
                fail(Failure.of(Cause.NO_ROUTE, "the route has no upstream, and no filter answered"));
                return;
            }
            upstream = target.choose();
            record.upstream = upstream.name();
            // A host that a filter chose is the more exact wish; without any (HTTP/1.0), upstreams need one all the
            // same.
            AsciiString authority = head.authority();
            HopByHop.stripCredentials(head.fields());
            tellsEndpoint = authority.isEmpty() || (!route().preserveHost() && authority.equals(record.authority));
            retries = new Retries(head.method(), route().retry());
            open(upstream);
        }
    }

    private void open(Upstream target) {
        Endpoint chosen = target.balancer().choose(head, endpoint);
        if (chosen == null) {
            fail(
                    lastFailure != null
                            ? lastFailure
                            : Failure.of(Cause.NO_HEALTHY_ENDPOINT, "no endpoint of " + target + " may be used"));
            return;
        }
        endpoint = chosen;
        record.endpoint = chosen;
        record.attempts++;
        // The clock is read where time may have passed: not on the straight way from head to kept connection.
        boolean straight = record.attempts == 1 && filters == null;
        record.attemptNanos = straight ? record.startNanos : handler.wheel.nanoTime();
        attempting = true;
        handler.observer.onAttemptBegun(record);
        if (tellsEndpoint) {
            head.setAuthority(EndpointAuthority.of(chosen, target.settings()));
        }
        deadlines.attempt(route().timeouts().backendRequestMillis(), record.attemptNanos);
        Attempt begun = new Attempt(this);
        attempt = begun;
        begun.open(handler.opener, target, chosen, demand(), record.connection);
    }

    private Demand demand() {
        return !head.isConnect() ? Demand.EXCHANGE : head.protocol() == null ? Demand.TUNNEL : Demand.UPGRADE;
    }

    void onOpened(ClientStream stream) {
        Attempt mine = attempt;
        if (state.on(Event.OPENED) != Action.SEND_REQUEST || mine == null) {
            return;
        }
        record.requestedNanos = mine.isOpenedAtOnce() ? record.attemptNanos : handler.wheel.nanoTime();
        requestRelay.join(server, stream);
        responseRelay.join(stream, server);
        long headMillis = upstream == null ? 0 : upstream.settings().responseHeadersMillis();
        deadlines.awaitHead(headMillis, record.requestedNanos);
        boolean bodyless = requestComplete && heldTrailers == null && (held == null || held.isEmpty());
        if (bodyless) {
            state.on(Event.REQUEST_ENDED);
        }
        requestRelay.wrote();
        stream.head(head, bodyless);
        if (!bodyless) {
            sendHeld(mine);
        }
        if (!reading && attempt == mine && !mine.isOver()) {
            requestRelay.flush();
        }
    }

    private void sendHeld(Attempt mine) {
        while (held != null && !held.isEmpty() && attempt == mine && !mine.isOver()) {
            ByteBuf data = held.poll();
            sendData(data, requestComplete && heldTrailers == null && held.isEmpty());
        }
        Fields trailers = heldTrailers;
        if (trailers != null && attempt == mine && !mine.isOver()) {
            heldTrailers = null;
            sendTrailers(trailers);
        }
    }

    // ---- what the client does

    @Override
    public void onData(ByteBuf data, boolean last) {
        reading = true;
        requestComplete |= last;
        int length = data.readableBytes();
        record.receivedBytes += length;
        switch (state.intake()) {
            case HOLD -> {
                if (held == null) {
                    held = new ArrayDeque<>(4);
                }
                held.add(data);
                deadlines.touch();
            }
            case FORWARD -> {
                deadlines.touch();
                sendData(data, last);
            }
            case DISCARD -> {
                data.release();
                return;
            }
        }
        if (maxBodyBytes > 0 && record.receivedBytes > maxBodyBytes) {
            fail(Failure.of(Cause.BODY_TOO_LARGE, "a body of more than " + maxBodyBytes + " bytes"));
        }
    }

    private void sendData(ByteBuf data, boolean last) {
        bodySent |= data.isReadable();
        Action action = last ? state.on(Event.REQUEST_ENDED) : Action.NOTHING;
        requestRelay.data(data, last);
        perform(action);
    }

    @Override
    public void onTrailers(Fields trailers) {
        reading = true;
        requestComplete = true;
        HopByHop.stripTrailers(trailers);
        switch (state.intake()) {
            case HOLD -> heldTrailers = trailers;
            case FORWARD -> sendTrailers(trailers);
            case DISCARD -> {}
        }
    }

    private void sendTrailers(Fields trailers) {
        bodySent = true;
        Action action = state.on(Event.REQUEST_ENDED);
        requestRelay.trailers(trailers);
        perform(action);
    }

    @Override
    public void onWritable() {
        if (!state.isDone()) {
            deadlines.touch();
            responseRelay.credit();
        }
    }

    @Override
    public void onReadComplete() {
        reading = false;
        requestRelay.flush();
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
                record.sentBytes = handler.replies.send(server, head, failure, settings, record.requestId);
            }
        }
        complete(failure);
    }

    // ---- what the upstream does

    void onResponseHead(ResponseHead response, boolean last) {
        if (response.isInterim()) {
            onInterim(response);
            return;
        }
        if (retries != null && isReplayable() && retries.isFailure(response.status())) {
            long delay = retries.afterStatus();
            if (delay != Retries.NONE) {
                endAttempt(response.status(), null, true);
                retry(delay, ABANDONED);
                return;
            }
            record.cause = Cause.RETRY_LIMIT;
            record.detail = "the last attempt was answered with " + response.status();
        }
        deadlines.headCame();
        HopByHop.stripResponse(response.fields());
        try {
            if (filters != null) {
                filters.onResponse(response);
            }
        } catch (RuntimeException e) {
            onDefect(e);
            return;
        }
        boolean tunnel = head.isConnect() && response.status() < 300;
        if (state.on(tunnel ? Event.TUNNEL_HEAD : Event.RESPONSE_HEAD) != Action.FORWARD_HEAD) {
            return;
        }
        record.status = response.status();
        record.respondedNanos = handler.wheel.nanoTime();
        Action action = last ? state.on(Event.RESPONSE_ENDED) : Action.NOTHING;
        responseRelay.wrote();
        server.head(response, last);
        perform(action);
    }

    private void onInterim(ResponseHead response) {
        if (response.status() == 101) {
            onAttemptBroken(Failure.of(Cause.UPSTREAM_PROTOCOL_ERROR, "switched protocols without being asked"));
        } else if (state.phase() == Phase.REQUESTED) {
            deadlines.touch();
            HopByHop.stripResponse(response.fields());
            responseRelay.wrote();
            server.head(response, false);
        }
    }

    void onResponseData(ByteBuf data, boolean last) {
        deadlines.touch();
        Action action = last ? state.on(Event.RESPONSE_ENDED) : Action.NOTHING;
        responseRelay.data(data, last);
        perform(action);
    }

    void onResponseTrailers(Fields trailers) {
        HopByHop.stripTrailers(trailers);
        Action action = state.on(Event.RESPONSE_ENDED);
        responseRelay.trailers(trailers);
        perform(action);
    }

    void onUpstreamWritable() {
        requestRelay.credit();
    }

    void onUpstreamReadComplete() {
        responseRelay.flush();
    }

    /** The current attempt failed, and nothing of it is left. */
    void onAttemptFailed(Failure reported) {
        Failure failure = inPhase(reported);
        long delay = isReplayable() ? delayAfter(failure) : Retries.NONE;
        if (delay == Retries.NONE) {
            fail(failure);
        } else {
            lastFailure = failure;
            endAttempt(0, failure, true);
            retry(delay, failure);
        }
    }

    /** The current attempt must not go on. */
    private void onAttemptBroken(Failure failure) {
        if (attempt != null) {
            attempt.abandon(failure);
        }
        onAttemptFailed(failure);
    }

    private static Failure withCause(Failure failure, Cause cause) {
        return new Failure(cause, cause.status(), failure.retry(), failure.stale(), failure.detail());
    }

    /** An adapter need not know how far the response has come: a reset gets its exact cause here. */
    private Failure inPhase(Failure failure) {
        boolean responding = record.respondedNanos != 0;
        return switch (failure.cause()) {
            case UPSTREAM_RESET_BEFORE_HEADERS ->
                responding ? withCause(failure, Cause.UPSTREAM_RESET_IN_BODY) : failure;
            case UPSTREAM_RESET_IN_BODY ->
                responding ? failure : withCause(failure, Cause.UPSTREAM_RESET_BEFORE_HEADERS);
            default -> failure;
        };
    }

    /** Nothing final was forwarded, and nothing of the body has been handed to a stream: what there is of it, is held. */
    private boolean isReplayable() {
        return state.isRetriable() && !bodySent;
    }

    private long delayAfter(Failure failure) {
        if (retries == null || upstream == null) {
            return Retries.NONE;
        }
        boolean sent = state.phase() == Phase.REQUESTED;
        boolean elsewhere = upstream.endpoints().size() > 1;
        return retries.afterFailure(failure, sent, elsewhere);
    }

    private void retry(long delayMillis, Failure failure) {
        Attempt failed = attempt;
        attempt = null;
        deadlines.attemptOver();
        state.on(Event.RETRY);
        if (failed != null) {
            failed.abandon(failure);
        }
        if (state.phase() != Phase.BACKING_OFF) {
            return; // the exchange ended inside the call
        }
        if (delayMillis > 0) {
            deadlines.backOff(delayMillis);
        } else {
            onBackedOff();
        }
    }

    void onBackedOff() {
        try {
            if (upstream != null && state.on(Event.BACKED_OFF) == Action.OPEN) {
                open(upstream);
            }
        } catch (RuntimeException e) {
            onDefect(e);
        }
    }

    // ---- time

    void onTimeout(Failure failure) {
        fail(failure);
    }

    void onAttemptTimeout(Failure failure) {
        onAttemptBroken(failure);
    }

    void onIdle(long millis) {
        // Before the response's head it is the upstream that owes something.
        Cause cause = record.respondedNanos == 0 ? Cause.UPSTREAM_TIMEOUT : Cause.IDLE_TIMEOUT;
        fail(Failure.of(cause, "no byte in either direction in " + millis + " ms"));
    }

    // ---- the end

    /** The exchange cannot succeed: answers the client if that is still possible, else resets its stream. */
    void fail(Failure failure) {
        if (state.isDone()) {
            return;
        }
        Pending pending = state.pending();
        Action action = state.on(Event.FAILED);
        undo(pending, failure);
        if (action == Action.ANSWER) {
            record.status = failure.status();
            record.sentBytes = handler.replies.send(server, head, failure, settings, record.requestId);
        } else {
            server.reset(failure);
        }
        complete(failure);
    }

    /**
     * A filter, router or balancer threw: a defect, which must neither reach the connection, that others may share, nor
     * leave this exchange open.
     */
    void onDefect(RuntimeException defect) {
        LOG.error("failing an exchange of listener {}", record.connection.listenerName(), defect);
        fail(Failure.of(Cause.UNKNOWN, defect.getClass().getName()));
    }

    private void perform(Action action) {
        switch (action) {
            case FINISH -> {
                if (attempt != null) {
                    attempt.finish();
                }
                responseRelay.flush();
                complete(null);
            }
            case FINISH_AND_RESET_UPSTREAM -> {
                if (attempt != null) {
                    attempt.abandon(ABANDONED);
                }
                responseRelay.flush();
                complete(null);
            }
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
                if (attempt != null) {
                    attempt.abandon(failure);
                }
            }
            case BACKOFF, NOTHING -> {}
        }
    }

    private void complete(@Nullable Failure failure) {
        deadlines.cancel();
        record.endNanos = handler.wheel.nanoTime();
        endAttempt(record.respondedNanos == 0 ? 0 : record.status, failure, false);
        if (failure != null) {
            record.cause = failure.cause();
            record.detail = failure.detail();
        }
        if (held != null) {
            for (ByteBuf data = held.poll(); data != null; data = held.poll()) {
                data.release();
            }
        }
        heldTrailers = null;
        record.sentBytes += responseRelay.bytes();
        if (filters != null) {
            filters.end();
        }
        handler.completed(record);
    }

    /** Tells the observer, once for each attempt. */
    private void endAttempt(int status, @Nullable Failure failure, boolean again) {
        if (attempting) {
            attempting = false;
            handler.observer.onAttemptEnded(record, status, failure, again);
        }
    }

    private Route route() {
        if (route == null) {
            throw new IllegalStateException("not routed");
        }
        return route;
    }

    /** For people who debug. */
    @Override
    public String toString() {
        AsciiString path = record.path;
        return record.method + " " + path + " " + state.phase();
    }
}
