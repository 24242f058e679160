package dev.gateway.upstream.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.ActiveCheck;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.testing.Buffers;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.CheckValues;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.Health.State;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamValues;
import dev.gateway.upstream.stream.ClientPreamble;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What answers make of an endpoint, with an upstream that the test plays and a clock that it moves. */
class EndpointCheckTest {
    private static final Endpoint ENDPOINT = new Endpoint(0, "app.test", 9000, 1);
    private static final long INTERVAL = 1000;
    private static final long UNHEALTHY_INTERVAL = 200;
    private static final long TIMEOUT = 300;

    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final List<Asked> asked = new ArrayList<>();
    private long now = 1;
    private final TimerWheel wheel = new TimerWheel(loop.eventLoop(), () -> now);
    private final Upstream upstream = upstream();
    private int good;
    private int bad;
    private final HealthChecks checks = new HealthChecks(this::open, wheel, checked -> new UpstreamObserver() {
        @Override
        public void onChecked(boolean well) {
            if (well) {
                good++;
            } else {
                bad++;
            }
        }
    });

    @BeforeEach
    void start() {
        loop.freezeTime();
        checks.start(upstream);
        for (long waited = 0; asked.isEmpty() && waited < INTERVAL + 30; waited += 10) {
            pass(10);
        }
        assertThat(asked).as("the first question comes soon").hasSize(1);
    }

    @AfterEach
    void nothingIsLeftBehind() {
        checks.close();
        int before = asked.size();
        pass(10 * INTERVAL);
        assertThat(asked).hasSize(before);
        assertThat(asked).allSatisfy(each -> assertThat(each.isOver()).isTrue());
        assertThat(loop.runScheduledPendingTasks()).as("timers still armed").isEqualTo(-1);
        loop.finishAndReleaseAll();
    }

    @Test
    void theFirstAnswerDecidesByItself() {
        answer(503);
        assertThat(state()).isEqualTo(State.UNHEALTHY);
        assertThat(failedCheck()).isEqualTo("answered 503");
    }

    @Test
    void theFirstAnswerDoesNotDecideIfTheEndpointWasCheckedBefore() {
        answer(200);
        upstream.update(List.of(new EndpointSpec("app.test", 9000, 1, "app.test", "b", EndpointSpec.STATIC)));
        answerAll(503, 503);
        assertThat(state()).isEqualTo(State.HEALTHY);
        answerAll(503);
        assertThat(state()).isEqualTo(State.UNHEALTHY);
        Upstream next = upstream();
        next.health().inherit(upstream.health());
        assertThat(next.health().wasChecked(ENDPOINT)).as("by other settings").isFalse();
    }

    /** A server of gRPC knows the time from the call, and may be sooner than the gateway's timer. */
    @Test
    void aResetWhenTheTimeIsOverIsNoAnswerInTime() {
        now += TimeUnit.MILLISECONDS.toNanos(TIMEOUT);
        Asked each = last();
        each.opened();
        each.answered = true;
        each.events.onReset(Failure.of(Cause.UPSTREAM_RESET_BEFORE_HEADERS, "reset: CANCEL"));
        assertThat(failedCheck()).isEqualTo("no answer in 300 ms");
    }

    @Test
    void theReasonIsThatOfTheLastBadAnswer() {
        answer(503);
        answerAll(500);
        assertThat(state()).isEqualTo(State.UNHEALTHY);
        assertThat(failedCheck()).isEqualTo("answered 500");
    }

    @Test
    void laterAsManyAnswersInARowAsThePolicySays() {
        answer(200); // three bad ones make it unhealthy, two good ones healthy
        answerAll(500, 500, 200, 500, 500);
        assertThat(state()).isEqualTo(State.HEALTHY);
        answerAll(500);
        assertThat(state()).isEqualTo(State.UNHEALTHY);
        answerAll(200, 500, 200);
        assertThat(state()).isEqualTo(State.UNHEALTHY);
        answerAll(204);
        assertThat(state()).isEqualTo(State.HEALTHY);
        assertThat(List.of(good, bad)).as("each is counted").containsExactly(5, 6);
    }

    @Test
    void theNextQuestionComesAnIntervalAfterTheAnswer() {
        pass(TIMEOUT / 2);
        answer(200);
        pass(INTERVAL * 8 / 10);
        assertThat(asked).hasSize(1);
        pass(INTERVAL * 4 / 10);
        assertThat(asked).hasSize(2);
        pass(TIMEOUT / 2);
        assertThat(asked).as("one at a time").hasSize(2);
    }

    @Test
    void whoIsNotWellIsAskedAtAnIntervalOfItsOwn() {
        answer(503);
        pass(UNHEALTHY_INTERVAL * 8 / 10);
        assertThat(asked).hasSize(1);
        pass(UNHEALTHY_INTERVAL * 4 / 10);
        assertThat(asked).hasSize(2);
        answer(200);
        pass(UNHEALTHY_INTERVAL * 12 / 10);
        assertThat(asked).as("one good answer is not enough").hasSize(3);
        answer(200);
        assertThat(state()).isEqualTo(State.HEALTHY);
        pass(INTERVAL * 8 / 10);
        assertThat(asked).hasSize(3);
        pass(INTERVAL * 4 / 10);
        assertThat(asked).hasSize(4);
        answer(500);
        pass(INTERVAL * 8 / 10);
        assertThat(asked).as("one bad answer does not make it unhealthy").hasSize(4);
    }

    @Test
    void interimAnswersAreNoneAndBodiesAreReadToTheirEnd() {
        last().opened();
        last().events.onHead(response(103), false);
        last().events.onHead(response(503), false);
        last().events.onData(bytes(100), false);
        assertThat(last().consumed).isEqualTo(100);
        assertThat(state()).as("not yet").isEqualTo(State.HEALTHY);
        last().events.onData(bytes(5), true);
        last().answered = true;
        assertThat(state()).isEqualTo(State.UNHEALTHY);
        assertThat(last().reset).isFalse();
    }

    @Test
    void aBodyWithoutEndIsNotWaitedFor() {
        last().opened();
        last().events.onHead(response(503), false);
        for (int i = 0; i < 17; i++) {
            last().events.onData(bytes(65536), false);
        }
        assertThat(last().reset).isTrue();
        assertThat(state()).isEqualTo(State.UNHEALTHY);
    }

    @Test
    void anAnswerMayEndWithTrailers() {
        last().opened();
        last().events.onHead(response(503), false);
        last().events.onTrailers(new Fields());
        last().answered = true;
        assertThat(state()).isEqualTo(State.UNHEALTHY);
    }

    @Test
    void noAnswerInTimeIsABadOne() {
        last().opened();
        pass(TIMEOUT + 30);
        assertThat(last().reset).isTrue();
        assertThat(failedCheck()).isEqualTo("no answer in 300 ms");
        last().events.onHead(response(200), true); // too late to matter
        assertThat(state()).isEqualTo(State.UNHEALTHY);
    }

    @Test
    void noAnswerAndNoConnectionMeanSilenceAndABadAnswerDoesNot() {
        List<String> silent = new ArrayList<>();
        upstream.health().onUnresponsive((host, why) -> silent.add(why));
        answer(503);
        next();
        last().failed(Failure.of(Cause.TLS_FAILED, "expired"));
        assertThat(silent).isEmpty();
        next();
        last().failed(Failure.of(Cause.CONNECT_FAILED, "refused"));
        next();
        pass(TIMEOUT + 30);
        assertThat(silent).containsExactly("refused", "no answer in 300 ms");
    }

    @Test
    void whoAnswersRequestsIsNotSilentWhateverItsChecksSay() {
        List<String> silent = new ArrayList<>();
        upstream.health().onUnresponsive((host, why) -> silent.add(why));
        pass(TIMEOUT / 2);
        upstream.hosts().get(0).onHeard(now);
        pass(TIMEOUT);
        assertThat(failedCheck()).isEqualTo("no answer in 300 ms");
        assertThat(silent).isEmpty();
    }

    @Test
    void soIsNoConnectionInTime() {
        pass(TIMEOUT + 30);
        assertThat(last().cancelled).isTrue();
        assertThat(state()).isEqualTo(State.UNHEALTHY);
    }

    @ParameterizedTest
    @EnumSource(names = {"DRAIN", "OVERLOAD", "PENDING_OVERFLOW"})
    void whatTellsOfTheGatewayTellsNothingOfTheEndpoint(Cause cause) {
        last().failed(Failure.of(cause, "the upstream has been removed, or has no room"));
        assertThat(state()).isEqualTo(State.HEALTHY);
        assertThat(good + bad).isZero();
        next();
        answer(503);
        assertThat(state()).as("still the first answer").isEqualTo(State.UNHEALTHY);
    }

    @Test
    void whoCannotBeReachedIsNotWell() {
        last().failed(Failure.of(Cause.CONNECT_FAILED, RetrySafety.ALWAYS, "app.test:9000: refused"));
        assertThat(failedCheck()).isEqualTo("app.test:9000: refused");
    }

    @Test
    void whoBreaksItsAnswerOffIsNotWell() {
        last().opened();
        last().events.onHead(response(200), false);
        last().reset = true; // by the other side
        last().events.onReset(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "closed"));
        assertThat(failedCheck()).isEqualTo("closed");
    }

    @Test
    void onAKeptConnectionThatHadBeenClosedItIsAskedAgainAtOnceButOnce() {
        Failure stale = new Failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, 502, RetrySafety.ALWAYS, true, "closed");
        last().opened();
        last().reset = true;
        last().events.onReset(stale);
        assertThat(asked).hasSize(2);
        assertThat(state()).isEqualTo(State.HEALTHY);
        last().opened();
        last().reset = true;
        last().events.onReset(stale);
        assertThat(asked).hasSize(2);
        assertThat(state()).isEqualTo(State.UNHEALTHY);
    }

    @Test
    void soIsOneThatTheEndpointHasNotLookedAt() {
        last().opened();
        last().reset = true;
        last().events.onReset(Failure.of(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS, "going away"));
        assertThat(asked).hasSize(2);
        assertThat(state()).isEqualTo(State.HEALTHY);
    }

    @Test
    void aStoppedCheckGivesItsQuestionUp() {
        checks.stop(upstream);
        loop.runPendingTasks();
        assertThat(last().cancelled).isTrue();
        last().opened(); // which came nevertheless
        assertThat(last().reset).isTrue();
    }

    // ---- what tests are made of

    private void answerAll(int... statuses) {
        for (int status : statuses) {
            next();
            answer(status);
        }
    }

    private void next() {
        int before = asked.size();
        for (long waited = 0; asked.size() == before && waited < INTERVAL * 12 / 10; waited += 10) {
            pass(10);
        }
        assertThat(asked).hasSize(before + 1);
    }

    private void answer(int status) {
        last().opened();
        last().events.onHead(response(status), true);
        last().answered = true;
    }

    private static ResponseHead response(int status) {
        return new ResponseHead(status, null, new Fields(), 0);
    }

    private static ByteBuf bytes(int count) {
        return Buffers.of(new byte[count]);
    }

    private Asked last() {
        return asked.get(asked.size() - 1);
    }

    private State state() {
        return upstream.health().report(ENDPOINT).state();
    }

    private @Nullable String failedCheck() {
        return upstream.health().report(ENDPOINT).failedCheck();
    }

    private void pass(long millis) {
        for (long i = 0; i < millis; i += 10) {
            now += TimeUnit.MILLISECONDS.toNanos(10);
            loop.advanceTimeBy(10, TimeUnit.MILLISECONDS);
            loop.runPendingTasks();
            loop.runScheduledPendingTasks();
        }
    }

    private static Upstream upstream() {
        List<Endpoint> endpoints = List.of(ENDPOINT);
        ActiveCheck policy = CheckValues.check(CheckValues.HTTP, INTERVAL, UNHEALTHY_INTERVAL, TIMEOUT, 2, 3);
        return new Upstream(
                "app",
                new Health(endpoints, RoundRobin::new, null, policy, System::nanoTime),
                UpstreamValues.builder().maxConnections(1).build());
    }

    private StreamOpener.Opening open(
            Upstream of,
            Endpoint endpoint,
            StreamKind demand,
            @Nullable ClientPreamble preamble,
            ResponseEvents events,
            StreamOpener.Callback callback) {
        assertThat(endpoint.isSameAddress(ENDPOINT)).isTrue();
        assertThat(demand).isEqualTo(StreamKind.CHECK);
        Asked question = new Asked(events, callback);
        asked.add(question);
        return question;
    }

    /** One question: its opening, and the stream that it gets. */
    private static final class Asked implements StreamOpener.Opening, ClientStream {
        private final ResponseEvents events;
        private final StreamOpener.Callback callback;
        private @Nullable RequestHead head;
        private int consumed;
        private boolean answered;
        private boolean cancelled;
        private boolean reset;

        private Asked(ResponseEvents events, StreamOpener.Callback callback) {
            this.events = events;
            this.callback = callback;
        }

        private void opened() {
            callback.onOpened(this, new DialedPeer("192.0.2.1:9000", ""));
            assertThat(reset || Objects.requireNonNull(head).path().contentEquals("/healthz"))
                    .isTrue();
        }

        private void failed(Failure failure) {
            answered = true;
            callback.onOpenFailed(failure);
        }

        private boolean isOver() {
            return answered || cancelled || reset;
        }

        @Override
        public void cancel() {
            cancelled = true;
        }

        @Override
        public void head(RequestHead sent, boolean last) {
            assertThat(last).isTrue();
            head = sent;
        }

        @Override
        public void reset(Failure failure) {
            reset = true;
        }

        @Override
        public void consumed(int bytes) {
            consumed += bytes;
        }

        @Override
        public void flush() {}

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public void data(ByteBuf data, boolean last) {
            throw new AssertionError("a question has no body");
        }

        @Override
        public void trailers(Fields trailers) {
            throw new AssertionError("a question has no trailers");
        }
    }
}
