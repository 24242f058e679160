package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Phase;
import dev.gateway.exchange.attempt.ConnectionLogin;
import dev.gateway.exchange.attempt.DueTimes;
import dev.gateway.exchange.attempt.EndpointChoice;
import dev.gateway.exchange.attempt.Retries;
import dev.gateway.exchange.attempt.RetryAfter;
import dev.gateway.exchange.reply.GrpcStatus;
import dev.gateway.exchange.route.Route;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.LoginPins;
import dev.gateway.stream.RetrySafety;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.stream.ClientPreamble;
import dev.gateway.upstream.stream.StreamKind;
import io.netty.util.AsciiString;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The upstream side of an exchange: one {@link Attempt} after another, as {@link Retries} allows. It ends when a response
 * is forwarded, or when the last attempt fails, and with it the exchange. Made when every filter has proceeded. A {@link
 * Hedge} may run beside the current attempt, and take its place.
 */
final class Attempts extends EndpointUse implements Attempt.Caller {
    private static final int TOO_MANY_REQUESTS = 429;
    private static final String NO_LOGIN =
            "a login by NTLM or Negotiate needs a connection of the client's own: HTTP/1.1 on both sides, and no trusted proxy";
    private static final long MOST_DUE_MILLIS = TimeUnit.DAYS.toMillis(1); // longer than any request waits

    final Exchange owner;
    private final Route route;
    private final Route.Retry policy;
    final Retries retries;

    /** How long each attempt waits for a response head, 0 for no limit: as the client of a gRPC call says, else as the upstream. */
    private final long headMillis;

    private final @Nullable Hedge hedge; // null unless the rule hedges such a request

    @Nullable
    Attempt current;

    private boolean endUnreported; // the end of this attempt still has to be reported to the observer

    @Nullable
    Failure lastFailure; // of the previous attempt

    private boolean loginStream; // the stream of the current attempt has its connection for itself
    private @Nullable DueTimes due; // null if no endpoint has asked for a wait
    private @Nullable ConnectWait
            connectWait; // of the connections that fail now; null if the request has not waited for one

    Attempts(Exchange owner, Route route, Upstream upstream) {
        super(owner, upstream, tellsEndpoint(owner, route));
        this.owner = owner;
        ExchangeRecord record = exchange.record;
        this.route = route;
        RequestHead head = exchange.head;
        this.policy = route.forwarding().retry();
        this.retries =
                new Retries(head.routedMethod(), policy, upstream.endpoints().size(), this);
        boolean call = head.isGrpc();
        this.headMillis =
                call ? GrpcStatus.timeoutMillis(head) : upstream.settings().responseHeadersMillis();
        if (call) {
            owner.deadlines.isChosenByClient();
        }
        HopByHop.stripCredentials(head.fields()); // left by a login that nobody checks, or set by a filter
        record.upstream = upstream.name();
        if (policy.config().attempts() > 0) {
            upstream.retryBudget().onRequest(record.startNanos);
        }
        Route.Hedging hedging = route.forwarding().hedging();
        this.hedge = hedging != null && Hedge.isWanted(owner, hedging) ? new Hedge(owner, this, hedging) : null;
    }

    /** If a filter has set the host, that one counts. Without any host (HTTP/1.0), the upstream still needs one. */
    private static boolean tellsEndpoint(Exchange owner, Route route) {
        AsciiString authority = owner.head.authority();
        return !owner.routing.isProxied()
                && (authority.isEmpty()
                        || (!route.forwarding().preserveHost() && authority.equals(owner.record.authority)));
    }

    /** Begins an attempt in the state {@link Phase#CONNECTING}. */
    void open() {
        RequestHead head = exchange.head;
        ExchangeRecord record = exchange.record;
        beginAnotherRound();
        Endpoint chosen = choose();
        if (chosen == null) {
            owner.fail(
                    lastFailure != null
                            ? lastFailure
                            : Failure.of(Cause.NO_HEALTHY_ENDPOINT, upstream.whyNoEndpoint()));
            return;
        }
        record.countAttempt();
        // Reads the clock only if time may have passed: not for a first attempt without filters.
        boolean straight = record.attempts == 1 && !owner.routing.isFiltered();
        endUnreported = true;
        begin(chosen);
        owner.routing.onAttempt();
        Attempt begun =
                begin(chosen, straight ? record.startNanos : exchange.loop.wheel.nanoTime(), this, owner.response);
        owner.deadlines.attempt(route.timeouts().backendRequestMillis(), record.attemptNanos);
        current = begun;
        StreamKind kind = kind(head);
        begun.open(
                exchange.loop.opener, upstream, chosen, kind, head, kind == StreamKind.TUNNEL ? preamble(head) : null);
    }

    @Override
    public ConnectionInfo connection() {
        return exchange.record.connection;
    }

    /** A trusted proxy may send requests of several users on one connection, and so do clients of a forward proxy. */
    @Override
    public @Nullable LoginPins logins() {
        return exchange.record.fromProxy || owner.routing.isProxied() ? null : exchange.server.logins();
    }

    @Override
    public void onMoved(Endpoint to) {
        goTo(to);
        move(to);
    }

    @Override
    public boolean takesEjected() {
        return true;
    }

    @Override
    public long leftMillis() {
        return owner.deadlines.leftMillis(exchange.state.isRequestEnded());
    }

    private ClientPreamble preamble(RequestHead head) {
        AsciiString via = head.fields().first(FieldName.VIA); // one line: ViaSignature has joined all
        return new ClientPreamble(
                exchange.record.client, exchange.record.connection.local(), via == null ? "" : via.toString());
    }

    private static StreamKind kind(RequestHead head) {
        if (!head.isConnect()) {
            return head.wish() == null ? StreamKind.EXCHANGE : StreamKind.SWITCH;
        }
        return head.protocol() == null ? StreamKind.TUNNEL : StreamKind.UPGRADE;
    }

    @Override
    public void onDialed(long nanos) {
        dialed(nanos);
    }

    @Override
    public void onOpened(Attempt from, ClientStream stream, DialedPeer peer) {
        exchange.record.hop = peer;
        if (!exchange.tryChargeStream(stream)) {
            owner.fail(Failure.of(Cause.OVERLOAD, "no memory is left for an upstream connection"));
            return;
        }
        if (exchange.state.on(Event.OPENED) != Action.SEND_REQUEST) {
            return;
        }
        exchange.record.requestedNanos =
                from.isOpenedAtOnce() ? exchange.record.attemptNanos : exchange.loop.wheel.nanoTime();
        exchange.signFor(peer);
        loginStream = stream.takesLogins();
        owner.response.attach(stream);
        owner.deadlines.awaitHead(headMillis, policy.silentMillis(), exchange.record.requestedNanos);
        owner.request.sendTo(from, stream, policy.bufferBytes());
        if (hedge != null && current == from && !from.isOver()) {
            hedge.onSent();
        }
        if (connectWait != null && connectWait.onConnected()) {
            connectWait = null; // a later series of failed connections has a wait of its own
        }
    }

    @Override
    public void onWritable() {
        owner.request.credit();
    }

    @Override
    public void onHead(ResponseHead head, boolean last) {
        Failure switched = unaskedSwitch(head);
        if (switched != null) {
            onBroken(switched);
        } else if (head.isInterim()) {
            owner.deadlines.isNotSilent();
            owner.response.onInterim(head, owner.request.hasBegun());
        } else {
            onAnswered(head, last);
            if (ConnectionLogin.isUnderWay(head) && !takesLogins()) {
                owner.fail(Failure.of(Cause.UPSTREAM_PROTOCOL_ERROR, NO_LOGIN));
            } else if ((hedge == null || !hedge.takesOverAfter(head)) && !isRepeated(head)) {
                if (hedge != null) {
                    hedge.onAccepted(head.status());
                }
                owner.response.onHead(head, last);
                onHeard(exchange.record.respondedNanos);
            }
        }
    }

    @Override
    public void onTrailers(Fields trailers) {
        onAnswerEnded(trailers);
        owner.response.onTrailers(trailers);
    }

    private boolean takesLogins() {
        return loginStream && logins() != null;
    }

    /** Makes another attempt if the retry policy says so for this status; returns whether it does. */
    private boolean isRepeated(ResponseHead head) {
        int status = head.status();
        // An upstream that ignores an upgrade has processed a plain request, which the client did not send.
        if (!retries.isFailure(status) || exchange.isUpgradeRefused()) {
            return false;
        }
        exchange.record.isRetriable = true; // even if it is forwarded: as a retry, it has not helped
        if (!isReplayable()) {
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

    /**
     * Returns how long to wait: until an endpoint may be asked. Retry-After holds for its endpoint only, but for all if it is
     * about the client (429).
     */
    private long retryAfterMillis(ResponseHead head) {
        onRetryAfter(previous(), head);
        DueTimes asked = due;
        long wait = asked == null || EndpointChoice.hasUntried(upstream, this)
                ? 0
                : asked.waitMillis(upstream.hosts(), exchange.loop.wheel.nanoTime());
        return head.status() == TOO_MANY_REQUESTS ? Math.max(wait, askedMillis(head)) : wait;
    }

    /** An endpoint has answered with a status that is a failure, and may have said when to ask it again. */
    final void onRetryAfter(@Nullable Endpoint by, ResponseHead head) {
        long millis = policy.config().waiting().retryAfter() ? askedMillis(head) : 0;
        if (by != null && millis > 0) {
            DueTimes times = due == null ? new DueTimes() : due;
            due = times;
            times.put(by, exchange.loop.wheel.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis));
        }
    }

    private long askedMillis(ResponseHead head) {
        return Math.min(MOST_DUE_MILLIS, RetryAfter.millis(head.fields(), exchange.loop.wheel.wallMillis()));
    }

    /** Once every endpoint was tried, all count as untried but those that ask to be left alone. */
    private void beginAnotherRound() {
        DueTimes asked = due;
        if (asked != null && !EndpointChoice.hasUntried(upstream, this)) {
            long now = exchange.loop.wheel.nanoTime();
            forgetTried(endpoint -> !asked.isDue(endpoint, now));
        }
    }

    @Override
    public void onFailed(Failure reported) {
        Failure failure = Attempt.exact(reported, exchange.state.isResponded());
        // An upstream of gRPC resets the call when the client's time is over, and may be sooner than our timer.
        Failure timeUp = failure.isReset() ? owner.deadlines.clientsTimeUp() : null;
        if (timeUp != null) {
            owner.fail(timeUp);
            return;
        }
        judge(failure);
        if (!goOnWithHedge(failure)) {
            retryOrFail(failure);
        }
    }

    /**
     * Makes another attempt, or fails the exchange. Called after {@link #judge}, which affects the choice of the next
     * endpoint.
     */
    private void retryOrFail(Failure failure) {
        boolean replayable = isReplayable();
        if (replayable && waitsToConnect(failure)) {
            return;
        }
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
        tellAgain(failure);
        retry(delay, failure);
    }

    private void tellAgain(Failure failure) {
        lastFailure = failure;
        leave(failure);
        tellEnd(0, failure, true);
    }

    /**
     * Lets the request wait until an endpoint can be reached, if none can be reached now and the retry policy has a
     * {@code connectWait}. A request does not wait for an endpoint that it names itself.
     *
     * @return whether it waits
     */
    private boolean waitsToConnect(Failure failure) {
        long most = policy.connectMillis();
        Endpoint at = previous();
        boolean named = at == null || at.index() == Endpoint.NAMED_INDEX;
        if (most == 0 || named || !mayPass(failure) || mayConnectElsewhere(failure)) {
            return false;
        }
        ConnectWait wait = connectWait;
        if (wait == null) {
            wait = new ConnectWait(exchange, upstream, this, connectingSince(), most);
            connectWait = wait;
        }
        if (!wait.tryBegin(leftMillis())) {
            return false;
        }
        tellAgain(failure);
        if (backOff(failure)) {
            wait.join();
        }
        return true;
    }

    /** Whether no connection could be made, for a reason that may pass. A wrong certificate does not. */
    private boolean mayPass(Failure failure) {
        return isUnconnected(failure)
                && switch (failure.cause()) {
                    case CONNECT_FAILED, CONNECT_TIMEOUT, DNS_FAILED -> true;
                    default -> false;
                };
    }

    void onConnectTurn() {
        beginAfresh();
        owner.onBackedOff();
    }

    /** No endpoint could be reached in time. What follows is what the policy says of failed connections, at the same endpoint. */
    void onConnectWaitOver() {
        Failure failure = lastFailure;
        if (failure == null) {
            return; // there is one: it waits after a failure
        }
        Retries.Tried alone = new Retries.Tried(false, false, wasFailing());
        long delay = failure.cause() == Cause.CONNECT_TIMEOUT ? Retries.NONE : retries.afterFailure(failure, alone);
        if (delay == Retries.NONE) {
            owner.fail(failure);
        } else {
            backOffFor(delay);
        }
    }

    /** The request has ended. */
    void endWait() {
        if (connectWait != null) {
            connectWait.end();
        }
    }

    /**
     * No head has arrived within the limit for silence: leaves the endpoint if it answers no requests and another is left.
     */
    final void onSilent() {
        if (exchange.state.phase() != Phase.REQUESTED || !isReplayable()) {
            return;
        }
        long delay = delayAfterSilence();
        if (delay == Retries.NONE) {
            return;
        }
        Failure failure = Failure.of(
                Cause.UPSTREAM_TIMEOUT,
                RetrySafety.IF_IDEMPOTENT,
                "no answer to any request in " + policy.silentMillis() + " ms");
        judge(failure);
        leaveSilent(delay, failure);
    }

    private void leaveSilent(long delay, Failure failure) {
        abandonCurrent(failure);
        if (!goOnWithHedge(failure)) {
            onLeft();
            again(delay, failure);
        }
    }

    /**
     * Checks or other requests have found that the endpoint does not answer, or this connection to it: goes to another one at
     * once. What cannot be sent again waits on, or fails if the upstream says so. The endpoint was judged already.
     */
    @Override
    public void onUnresponsive(String why) {
        if (exchange.state.phase() != Phase.REQUESTED) {
            return;
        }
        Failure failure = Attempt.unresponsive(why);
        if (!isReplayable() || !retries.leavesSilent()) {
            if (upstream.health().closesOnFailure()) {
                owner.fail(failure);
            }
            return;
        }
        long delay = delayWhenUnresponsive();
        if (delay != Retries.NONE) {
            leaveSilent(delay, failure);
        }
    }

    /** Returns how long to wait before the next attempt if the endpoint was found not to answer, or {@link Retries#NONE}. */
    private long delayWhenUnresponsive() {
        if (hedge != null && hedge.isOut()) {
            return 0;
        }
        return isBetterElsewhere() || isBetterOnOtherConnection() ? retries.whenUnresponsive() : Retries.NONE;
    }

    /** Returns how long to wait before the next attempt if the endpoint is silent, or {@link Retries#NONE}. */
    private long delayAfterSilence() {
        if (hedge != null && hedge.isOut()) {
            return isUnheard() && retries.leavesSilent() ? 0 : Retries.NONE;
        }
        return isSilent()
                ? retries.afterSilence(EndpointChoice.isAnyHeardSince(upstream, exchange.record.requestedNanos))
                : Retries.NONE;
    }

    /** The current attempt is over because of a timeout or a protocol error. */
    void onBroken(Failure reported) {
        boolean unsent = reported.cause() == Cause.UPSTREAM_TIMEOUT && exchange.state.phase() == Phase.CONNECTING;
        Failure failure = unsent
                ? Failure.of(reported.cause(), RetrySafety.ALWAYS, "no connection: " + reported.detail())
                : reported;
        judge(failure); // first: it asks the stream whether it takes data
        abandonCurrent(failure);
        if (!goOnWithHedge(failure)) {
            onLeft();
            retryOrFail(failure);
        }
    }

    // ---- the hedge

    /** The current attempt was left because it takes too long. */
    private void onLeft() {
        if (hedge != null) {
            hedge.onLeft();
        }
    }

    /** The current attempt has failed: the hedge takes its place if it still runs. Returns whether it does. */
    private boolean goOnWithHedge(Failure failure) {
        return hedge != null && hedge.goOn(0, failure);
    }

    private void giveUpHedge() {
        if (hedge != null) {
            hedge.giveUp();
        }
    }

    /** The hedge becomes the current attempt, at this endpoint. */
    void replace(Attempt next, @Nullable Endpoint at) {
        current = next;
        next.adopt(this);
        endUnreported = true;
        if (at != null) {
            begin(at);
        }
    }

    /** The current attempt has failed, and the hedge takes its place. */
    void fallBack(int status, @Nullable Failure failure) {
        if (failure != null) {
            lastFailure = failure;
            leave(failure);
        }
        tellEnd(status, failure, true);
    }

    /** The time limits are those of an attempt that began while another one ran. */
    void replaceLimits(boolean awaitsHead) {
        owner.deadlines.replaceAttempt(
                route.timeouts().backendRequestMillis(),
                exchange.record.attemptNanos,
                awaitsHead ? headMillis : 0,
                awaitsHead ? policy.silentMillis() : 0,
                exchange.record.requestedNanos);
    }

    // ---- the end

    /** The time of the whole exchange is over, and with it the current attempt. */
    void onTimeout(Failure failure) {
        if (current != null) {
            judge(failure);
        }
    }

    private void judge(Failure failure) {
        judge(failure, failure.cause() == Cause.UPSTREAM_TIMEOUT && (hasWholeRequest() || hasTakenNothing()));
    }

    /** Whether the endpoint has the whole request; for a tunnel, that is the head. */
    private boolean hasWholeRequest() {
        return exchange.state.isRequestEnded() || exchange.head.isConnect();
    }

    /** Whether the endpoint has stopped reading. If it still reads, the request is just too large for the time limit. */
    private boolean hasTakenNothing() {
        return owner.request.isStalled() && !owner.deadlines.isSpentInMotion();
    }

    /** Whether the request can be sent again: no final head was forwarded, and the whole body so far is held or kept. */
    private boolean isReplayable() {
        return exchange.state.isRetriable() && owner.request.isReplayable();
    }

    private long delayAfter(Failure failure) {
        if (mayConnectElsewhere(failure)) {
            retries.takeOther();
            return 0;
        }
        boolean elsewhere = isElsewhereAfter(failure);
        boolean timedOut = failure.cause() == Cause.UPSTREAM_TIMEOUT || failure.cause() == Cause.CONNECT_TIMEOUT;
        if (timedOut && !elsewhere && route.timeouts().backendRequestMillis() == 0) {
            return Retries.NONE; // waiting at the same endpoint again would double the time
        }
        boolean sent = exchange.state.phase() == Phase.REQUESTED;
        return retries.afterFailure(failure, new Retries.Tried(sent, elsewhere, wasFailing()));
    }

    private void retry(long delayMillis, Failure failure) {
        if (backOff(failure)) {
            backOffFor(delayMillis);
        }
    }

    /** Ends the current attempt, after which another one follows; returns false if the exchange has ended inside the call. */
    private boolean backOff(Failure failure) {
        Attempt failed = current;
        current = null;
        owner.deadlines.attemptOver();
        giveUpHedge();
        exchange.state.on(Event.RETRY);
        if (failed != null) {
            failed.abandon(failure);
        }
        return exchange.state.phase() == Phase.BACKING_OFF;
    }

    private void backOffFor(long delayMillis) {
        if (delayMillis > 0) {
            owner.deadlines.backOff(delayMillis);
        } else {
            owner.onBackedOff();
        }
    }

    /** The exchange has succeeded. */
    void finish() {
        if (current != null) {
            current.finish();
        }
    }

    /** Ends the current attempt without a failure, and drops the rest of its response. */
    void drop() {
        if (current != null) {
            current.drop(exchange.loop.wheel);
        }
    }

    /** Ends the tunnel of the current attempt in order. */
    void close(Failure failure) {
        giveUpHedge();
        if (current != null) {
            current.close(failure);
        }
    }

    /** Cancels all attempts. */
    void abandon(Failure failure) {
        giveUpHedge();
        abandonCurrent(failure);
    }

    private void abandonCurrent(Failure failure) {
        if (current != null) {
            current.abandon(failure);
        }
    }

    /** Reports the end of the current attempt to the observer, once. */
    final void tellEnd(int status, @Nullable Failure failure, boolean again) {
        if (!again) {
            giveUpHedge();
        }
        if (endUnreported) {
            endUnreported = false;
            onServed();
            if (hedge != null) {
                hedge.beforeEnd(status, failure, again);
            }
            exchange.loop.observer.onAttemptEnded(exchange.record, status, failure, again);
            if (again && !isRepeated(failure)) {
                exchange.record.tryAgain(status, failure);
            }
        }
    }

    /** Whether no connection could be made again, after a wait: the log has that once. */
    private boolean isRepeated(@Nullable Failure failure) {
        return failure != null && connectWait != null && connectWait.isInVain() && isUnconnected(failure);
    }
}
