package dev.gateway.upstream.health;

import dev.gateway.config.upstream.UpstreamConfig.ActiveCheck;
import dev.gateway.config.upstream.UpstreamConfig.GrpcCheck;
import dev.gateway.config.upstream.UpstreamConfig.HttpCheck;
import dev.gateway.config.upstream.UpstreamConfig.TcpCheck;
import dev.gateway.format.Durations;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.stream.StreamOpener;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Checks one endpoint periodically, and reports changes of its state to its upstream's health. The first answer decides
 * without the thresholds, unless the endpoint was checked before. Confined to the event loop of its {@link HealthChecks}.
 */
final class EndpointCheck extends Timer implements Probe.Listener {
    private static final long MAX_FIRST_MILLIS = 1000;
    private static final double JITTER = 0.1;

    private final Upstream upstream;
    private final Endpoint endpoint;
    private final ActiveCheck policy;
    private final long timeoutMillis;
    private final UpstreamObserver observer;
    private final StreamOpener opener;
    private final TimerWheel wheel;
    private @Nullable Probe probe; // the check in progress, null between two checks
    private State state;
    private long askedNanos; // when the check in progress began
    private int contrary; // answers in a row that contradict the state
    private boolean again; // this check is a repetition: the connection was closed before the endpoint saw the request

    /** The state of the endpoint, according to the answers so far. */
    private enum State {
        /** There is no answer yet. */
        UNKNOWN,
        HEALTHY,
        UNHEALTHY
    }

    EndpointCheck(
            Upstream upstream, Endpoint endpoint, UpstreamObserver observer, StreamOpener opener, TimerWheel wheel) {
        this.upstream = upstream;
        this.endpoint = endpoint;
        this.policy = Objects.requireNonNull(upstream.health().activeCheck());
        this.timeoutMillis = Durations.millis(policy.timeout());
        this.observer = observer;
        this.opener = opener;
        this.wheel = wheel;
        this.state = state(upstream.health(), endpoint);
    }

    /** Returns the state at the beginning: what a check before a change of its zone has found. */
    private static State state(Health health, Endpoint endpoint) {
        if (!health.wasChecked(endpoint)) {
            return State.UNKNOWN;
        }
        return health.report(endpoint).failedCheck() == null ? State.HEALTHY : State.UNHEALTHY;
    }

    /** Begins soon, after a random time, so that not all endpoints are checked at the same moment. */
    void start() {
        wheel.arm(this, (long) (Math.min(policy.intervalMillis(true), MAX_FIRST_MILLIS) * random()));
    }

    /** Ends it; it reports nothing any more. */
    void stop() {
        cancel();
        if (probe != null) {
            probe.abandon();
        }
    }

    private static double random() {
        return ThreadLocalRandom.current().nextDouble();
    }

    @Override
    protected void onExpired() {
        ask();
    }

    private void ask() {
        Question question = question();
        Probe asked = new Probe(this, question);
        probe = asked;
        askedNanos = wheel.nanoTime();
        wheel.arm(asked, timeoutMillis);
        asked.began(opener.open(upstream, endpoint, question.kind(), null, asked, asked));
    }

    @Override
    public void onFailed(Failure failure) {
        if (failure.isReset() && wheel.nanoTime() - askedNanos >= TimeUnit.MILLISECONDS.toNanos(timeoutMillis)) {
            onTimeout(); // a server of gRPC resets the call when the time is over, and may be sooner than our timer
            return;
        }
        boolean unseen = failure.stale() || (isAsked() && failure.retry() == RetrySafety.ALWAYS);
        if (unseen && !again) {
            again = true;
            ask();
            return;
        }
        if (failure.cause() == Cause.DRAIN
                || failure.cause() == Cause.OVERLOAD
                || failure.cause() == Cause.PENDING_OVERFLOW) { // no room for its server name
            next(); // these causes are about the gateway, not the endpoint
        } else {
            onResult(failure.detail(), isSilence(failure.cause()));
        }
    }

    @Override
    public void onTimeout() {
        onResult("no answer in " + timeoutMillis + " ms", true);
    }

    /** Whether this failure means that the endpoint does not answer. */
    private static boolean isSilence(Cause cause) {
        return switch (cause) {
            case CONNECT_FAILED, CONNECT_TIMEOUT, UPSTREAM_TIMEOUT, UPSTREAM_RESET_BEFORE_HEADERS -> true;
            default -> false;
        };
    }

    /** Whether the check has a stream, so that its request was sent. */
    private boolean isAsked() {
        return probe != null && probe.hasStream();
    }

    private Question question() {
        if (policy.request() instanceof HttpCheck http) {
            return new HttpQuestion(http, upstream, endpoint);
        } else if (policy.request() instanceof GrpcCheck grpc) {
            return new GrpcQuestion(grpc, timeoutMillis, upstream, endpoint);
        }
        return new TcpQuestion(upstream, endpoint);
    }

    @Override
    public void onAnswered(@Nullable String failure) {
        onResult(failure, false);
    }

    private void onResult(@Nullable String failure, boolean unanswered) {
        boolean silent = unanswered && !upstream.host(endpoint).isHeardSince(askedNanos); // requests may know better
        boolean good = failure == null;
        observer.onChecked(good);
        if (good && !(policy.request() instanceof TcpCheck)) {
            upstream.health().onAnsweredCheck(endpoint); // before it may return: then the log says so in order
        }
        State told = good ? State.HEALTHY : State.UNHEALTHY;
        contrary = state == told ? 0 : contrary + 1;
        int threshold = good ? policy.healthyThreshold() : policy.unhealthyThreshold();
        if (contrary > 0 && (state == State.UNKNOWN || contrary >= threshold)) {
            state = told;
            contrary = 0;
            upstream.health().onChecked(endpoint, failure, silent);
        } else if (state == State.UNHEALTHY && !good) {
            upstream.health().onChecked(endpoint, failure, silent); // the reason may have changed
        }
        next();
    }

    private void next() {
        probe = null;
        again = false;
        double factor = 1 + JITTER * (2 * random() - 1);
        long interval = policy.intervalMillis(state != State.UNHEALTHY);
        wheel.arm(this, Math.max(1, (long) (interval * factor)));
    }
}
