package dev.gateway.health;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.Scheme;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.ActiveCheck;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.EndpointAuthority;
import dev.gateway.upstream.StreamKind;
import dev.gateway.upstream.StreamOpener;
import dev.gateway.upstream.Upstream;
import io.netty.util.AsciiString;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Asks one endpoint again and again whether it is well, and tells its health when that has changed. The first answer
 * decides by itself. Confined to the event loop of its {@link HealthChecks}.
 */
final class EndpointCheck extends Timer implements Probe.Owner {
    private static final String USER_AGENT = "gateway-health-check";
    private static final long MAX_FIRST_MILLIS = 1000;
    private static final double JITTER = 0.1;

    private final Upstream upstream;
    private final Endpoint endpoint;
    private final ActiveCheck policy;
    private final UpstreamObserver observer;
    private final StreamOpener opener;
    private final TimerWheel wheel;
    private @Nullable Probe probe; // while an answer is awaited
    private State state = State.UNKNOWN;
    private int contrary; // answers in a row that say otherwise
    private boolean again; // the question was not looked at: its connection was about to be closed

    /** What the answers so far amount to. */
    private enum State {
        /** There has been no answer. */
        UNKNOWN,
        HEALTHY,
        UNHEALTHY
    }

    EndpointCheck(
            Upstream upstream, Endpoint endpoint, UpstreamObserver observer, StreamOpener opener, TimerWheel wheel) {
        this.upstream = upstream;
        this.endpoint = endpoint;
        this.policy = Objects.requireNonNull(upstream.health().activeCheck());
        this.observer = observer;
        this.opener = opener;
        this.wheel = wheel;
    }

    /** Begins, soon but not at the same time as all others. */
    void start() {
        wheel.arm(this, (long) (Math.min(policy.intervalMillis(), MAX_FIRST_MILLIS) * random()));
    }

    /** Ends it; nothing is told any more. */
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
        boolean tls = upstream.settings().tls() != null;
        String host = policy.host();
        Fields fields = new Fields();
        fields.add(FieldName.USER_AGENT, USER_AGENT);
        Probe asked = new Probe(
                this,
                new RequestHead(
                        Method.GET,
                        Scheme.of(tls),
                        host == null ? EndpointAuthority.of(endpoint, upstream.settings()) : new AsciiString(host),
                        new AsciiString(policy.path()),
                        fields,
                        RequestHead.UNKNOWN_LENGTH));
        probe = asked;
        wheel.arm(asked, policy.timeoutMillis());
        asked.began(opener.open(upstream, endpoint, StreamKind.CHECK, null, asked, asked));
    }

    @Override
    public void onStatus(int status) {
        onAnswer(policy.expects(status) ? null : "answered " + status);
    }

    @Override
    public void onFailed(Failure failure) {
        boolean unseen = failure.stale() || (isAsked() && failure.retry() == RetrySafety.ALWAYS);
        if (unseen && !again) {
            again = true;
            ask();
            return;
        }
        if (failure.cause() == Cause.DRAIN || failure.cause() == Cause.OVERLOAD) {
            next(); // which tells of the gateway, not of the endpoint
        } else {
            onAnswer(failure.detail());
        }
    }

    @Override
    public void onTimeout() {
        onAnswer("no answer in " + policy.timeoutMillis() + " ms");
    }

    /** Whether the question could be asked at all. */
    private boolean isAsked() {
        return probe != null && probe.hasStream();
    }

    private void onAnswer(@Nullable String failure) {
        boolean good = failure == null;
        observer.onChecked(good);
        State told = good ? State.HEALTHY : State.UNHEALTHY;
        contrary = state == told ? 0 : contrary + 1;
        int threshold = good ? policy.healthyThreshold() : policy.unhealthyThreshold();
        if (contrary > 0 && (state == State.UNKNOWN || contrary >= threshold)) {
            state = told;
            contrary = 0;
            upstream.health().onChecked(endpoint, failure);
        } else if (state == State.UNHEALTHY && !good) {
            upstream.health().onChecked(endpoint, failure); // the reason may be another
        }
        next();
    }

    private void next() {
        probe = null;
        again = false;
        double factor = 1 + JITTER * (2 * random() - 1);
        wheel.arm(this, Math.max(1, (long) (policy.intervalMillis() * factor)));
    }
}
