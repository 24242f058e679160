package dev.gateway.exchange;

import dev.gateway.config.route.RetryConfig;
import dev.gateway.config.route.RetryConfig.On;
import dev.gateway.config.value.Position;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Phase;
import dev.gateway.exchange.attempt.Retries;
import dev.gateway.exchange.body.HeldBody;
import dev.gateway.exchange.route.Route;
import dev.gateway.filter.UpstreamCall;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.ResponseHead;
import dev.gateway.overload.memory.ChargedBuffer;
import dev.gateway.overload.memory.Cost;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.time.Timer;
import dev.gateway.upstream.Upstream;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request of a filter's own, made in attempts like a client's. Confined to the event loop of the exchange that it is made
 * for, whose {@link FilterChain} ends it in time.
 */
final class FilterCall extends SideRequest implements UpstreamCall {
    /** What rules have by default, but without a wait: the filter's client waits already. */
    private static final Route.Retry POLICY = new Route.Retry(new RetryConfig(
            Position.NOWHERE,
            1,
            new RetryConfig.When(EnumSet.allOf(On.class), Set.of(), List.of("GET", "HEAD", "OPTIONS")),
            new RetryConfig.Waiting(Duration.ZERO, false, Duration.ZERO, Duration.ZERO),
            0,
            new RetryConfig.Budget(Position.NOWHERE, 20, 10)));

    /** More than an auth server has to say to a client or an upstream. It is kept while the request waits. */
    private static final int MOST_HEAD_BYTES = 32 * 1024;

    private final ExchangeContext caller;
    private final Request request;
    private final Callback callback;
    private final Consumer<Throwable> defects;
    private final Retries retries;
    private final HeldBody body;
    private final TimeLimit timeLimit = new TimeLimit();
    private @Nullable ResponseHead answer;
    private @Nullable Failure lastFailure; // of the attempt before
    private long received; // bytes of the answer's body

    /** The time that there is for the whole call. */
    private final class TimeLimit extends Timer {
        @Override
        protected void onExpired() {
            onTimeOver();
        }
    }

    private void onTimeOver() {
        Failure failure = Failure.of(Cause.UPSTREAM_TIMEOUT, "no whole answer in " + request.timeoutMillis() + " ms");
        judge(failure, true);
        fail(failure);
    }

    /**
     * Makes a call that has not begun.
     *
     * @param defects takes what the callback throws
     */
    FilterCall(
            ExchangeContext caller,
            Upstream upstream,
            Request request,
            Callback callback,
            Consumer<Throwable> defects) {
        super(context(caller, caller.record.connection, upstream, request.head()), upstream);
        this.caller = caller;
        this.request = request;
        this.callback = callback;
        this.defects = defects;
        this.retries = new Retries(
                request.isSafe() ? Method.GET : request.head().method(),
                POLICY,
                upstream.endpoints().size(),
                this);
        this.body = new HeldBody(this, exchange.held);
    }

    /** Begins it; it may be over when this returns. */
    void begin() {
        upstream.retryBudget().onRequest(exchange.record.startNanos);
        exchange.loop.wheel.arm(timeLimit, request.timeoutMillis());
        long bytes = Cost.CALL + request.head().heldBytes() + request.body().readableBytes();
        if (!exchange.held.tryAdd(bytes)
                || !exchange.loop.gate.admits(upstream.waiting(), caller.held.bytes() + bytes)) {
            fail(Failure.of(Cause.OVERLOAD, "no memory is left for requests that wait for " + upstream));
            return;
        }
        exchange.held.waitFor(upstream.waiting());
        caller.held.waitFor(upstream.waiting());
        exchange.state.on(Event.ROUTED);
        open();
    }

    @Override
    Failure noEndpoint() {
        return lastFailure != null ? lastFailure : super.noEndpoint();
    }

    // ---- what becomes of an attempt

    @Override
    public void onOpened(Attempt from, ClientStream opened, DialedPeer peer) {
        boolean bodyless = !request.body().isReadable();
        sendHead(opened, peer, bodyless);
        if (!bodyless && !from.isOver()) {
            exchange.state.on(Event.REQUEST_ENDED);
            opened.data(request.body().retainedDuplicate(), true);
        }
        if (!from.isOver()) {
            opened.flush();
        }
    }

    @Override
    public void onWritable() {}

    @Override
    void onFinalHead(ResponseHead head, boolean last) {
        if (retries.isFailure(head.status()) && retries.afterStatus(0) != Retries.NONE) {
            tellEnd(head.status(), null, true);
            retry(Attempt.ABANDONED);
            return;
        }
        answer = head; // first: the status may be a refusal, although nothing else of the answer can be used
        if (head.fields().wireLength() > MOST_HEAD_BYTES) {
            fail(Failure.of(
                    Cause.UPSTREAM_PROTOCOL_ERROR,
                    "the answer's head has more than " + MOST_HEAD_BYTES / 1024 + " KiB"));
            return;
        }
        if (!exchange.held.tryAdd(head.fields().heldBytes())) {
            fail(Failure.of(Cause.OVERLOAD, "no memory is left for an answer of " + upstream));
            return;
        }
        exchange.state.on(Event.RESPONSE_HEAD);
        if (last) {
            complete(true, null);
        }
    }

    @Override
    public void onData(ByteBuf data, boolean last) {
        int bytes = data.readableBytes();
        received += bytes;
        if (received > request.maxBodyBytes()) {
            data.release();
            complete(false, null);
            return;
        }
        if (bytes == 0) {
            data.release();
        } else if (!body.tryAdd(data)) {
            data.release();
            fail(Failure.of(Cause.OVERLOAD, "no memory is left for an answer of " + upstream));
            return;
        } else if (stream != null) {
            stream.consumed(bytes);
        }
        if (last && !isDone()) {
            complete(true, null);
        }
    }

    @Override
    public void onTrailers(Fields trailers) {
        onAnswerEnded(trailers);
        complete(true, trailers);
    }

    @Override
    public void flush() {}

    @Override
    public void onFailed(Failure reported) {
        Failure failure = Attempt.exact(reported, exchange.state.isResponded());
        if (failure.isReset() && leftMillis() <= 0) {
            onTimeOver(); // a server of gRPC resets the call when the time is over, and may be sooner than our timer
            return;
        }
        judge(failure, failure.cause() == Cause.UPSTREAM_TIMEOUT);
        if (!isRepeatedAfter(failure)) {
            fail(failure);
            return;
        }
        lastFailure = failure;
        leave(failure);
        tellEnd(0, failure, true);
        retry(failure);
    }

    @Override
    public void onUnresponsive(String why) {
        if (exchange.state.phase() != Phase.REQUESTED) {
            return;
        }
        Failure failure = Attempt.unresponsive(why);
        if (!retries.leavesSilent()) {
            if (upstream.health().closesOnFailure()) {
                fail(failure);
            }
        } else if (isBetterElsewhere() && retries.whenUnresponsive() != Retries.NONE) {
            lastFailure = failure;
            leave(failure);
            tellEnd(0, failure, true);
            retry(failure);
        }
    }

    @Override
    public boolean takesEjected() {
        return true;
    }

    private boolean isRepeatedAfter(Failure failure) {
        if (exchange.state.isRetriable() && mayConnectElsewhere(failure)) {
            retries.takeOther();
            return true;
        }
        boolean elsewhere = isElsewhereAfter(failure);
        if (!exchange.state.isRetriable() || (failure.cause() == Cause.CONNECT_TIMEOUT && !elsewhere)) {
            return false;
        }
        boolean sent = exchange.state.phase() == Phase.REQUESTED;
        return retries.afterFailure(failure, new Retries.Tried(sent, elsewhere, wasFailing())) != Retries.NONE;
    }

    private void retry(Failure failure) {
        Attempt failed = current;
        current = null;
        stream = null;
        exchange.state.on(Event.RETRY);
        if (failed != null) {
            failed.abandon(failure);
        }
        if (exchange.state.phase() == Phase.BACKING_OFF) { // else it was cancelled inside the call
            exchange.state.on(Event.BACKED_OFF);
            open();
        }
    }

    @Override
    public long leftMillis() {
        long spent = exchange.loop.wheel.nanoTime() - exchange.record.startNanos;
        return request.timeoutMillis() - TimeUnit.NANOSECONDS.toMillis(spent);
    }

    // ---- the end

    private void complete(boolean whole, @Nullable Fields trailers) {
        ResponseHead head = answer;
        if (head == null) {
            onFailed(Failure.of(Cause.UPSTREAM_PROTOCOL_ERROR, "a body without a head"));
            return;
        }
        ByteBuf all = whole ? takeBody() : null;
        if (whole && current != null) {
            current.finish();
        }
        end(null);
        tell(() -> callback.onAnswer(new Answer(head, all == null ? Unpooled.EMPTY_BUFFER : all, whole, trailers)));
    }

    /** Returns the body, which stays charged until it is released: its receiver may send it to the client. */
    private @Nullable ByteBuf takeBody() {
        body.merged();
        ByteBuf all = body.poll();
        return all == null
                ? null
                : ChargedBuffer.of(all, exchange.record.connection.account(), exchange.loop.wheel.loop());
    }

    @Override
    public void fail(Failure failure) {
        if (!isDone()) {
            end(failure);
            int status = answer == null ? 0 : answer.status();
            tell(() -> callback.onFailure(failure, status));
        }
    }

    @Override
    public void cancel() {
        if (!isDone()) {
            end(Attempt.ABANDONED);
        }
    }

    private void end(@Nullable Failure failure) {
        exchange.state.on(Event.FAILED); // however it ends: no response of it goes anywhere
        timeLimit.cancel();
        body.discard();
        request.body().release();
        exchange.held.release();
        caller.held.waitsNoMore();
        if (current != null) {
            current.abandon(failure == null ? Attempt.ABANDONED : failure);
        }
        tellEnd(answer == null ? 0 : answer.status(), failure, false);
    }

    private void tell(Runnable outcome) {
        try {
            outcome.run();
        } catch (RuntimeException e) {
            defects.accept(e);
        }
    }
}
