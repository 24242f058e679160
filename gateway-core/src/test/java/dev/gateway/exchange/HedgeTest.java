package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.RetryConfig.On;
import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.Fakes.FakeClientStream;
import dev.gateway.exchange.Fakes.FakeOpening;
import dev.gateway.exchange.route.AnswerTimes;
import dev.gateway.exchange.route.HedgeDelay;
import dev.gateway.exchange.route.RetryValues;
import dev.gateway.exchange.route.Route;
import dev.gateway.message.Method;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeRecord.HedgeResult;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import dev.gateway.overload.Pressure;
import dev.gateway.overload.Resource;
import dev.gateway.stream.Cause;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.StreamEvents;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.OutlierDetection;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A request that takes long, and its second attempt at another endpoint. */
class HedgeTest extends ExchangeRig {
    private static final long DELAY = 100;
    private static final Endpoint THIRD = new Endpoint(2, "app3.test", 9000, 1);

    @BeforeEach
    void hedge() {
        settings.hedging = policy(HedgeDelay.fixed(DELAY), 100);
    }

    private static Route.Hedging policy(HedgeDelay delay, int percent) {
        return new Route.Hedging(delay, percent, Set.of(Method.GET, Method.HEAD));
    }

    private Balancer turns(List<Endpoint> order) {
        return new RoundRobin(new Upstream("turns", order, RoundRobin::new, policy()).hosts());
    }

    private FakeOpening opening(int index) {
        return opener.openings.get(index);
    }

    private FakeClientStream stream(int index) {
        return opening(index).stream;
    }

    private void answer(int index, int status) {
        opening(index).events.onHead(response(status), true);
    }

    /** Sends a request, and has its second attempt begin. */
    private StreamEvents hedged() {
        StreamEvents events = get();
        opener.last().succeed();
        pass(DELAY + 20);
        assertThat(opener.openings).hasSize(2);
        return events;
    }

    // ---- who wins

    @Test
    void aSlowRequestGoesToAnotherEndpointTooAndTheFirstAnswerIsForwarded() {
        get();
        opener.last().succeed();
        pass(DELAY - 10);
        assertThat(opener.openings).hasSize(1);
        pass(30);
        assertThat(opener.openings).extracting(o -> o.endpoint).containsExactly(FIRST, SECOND);
        assertThat(stream(0).reset).as("the first may still be answered").isNull();
        opening(1).succeed();
        assertThat(stream(1).ended).as("its head is all of it").isTrue();
        assertThat(stream(1).unflushed).isZero();
        opening(1).events.onHead(response(200), false);
        assertThat(stream(0).reset).isEqualTo(Attempt.ABANDONED);
        opening(1).events.onData(bytes("quick"), true);
        opening(1).events.onReadComplete();
        assertThat(client.status()).isEqualTo(200);
        assertThat(client.body.toString()).isEqualTo("quick");
        assertThat(client.unflushed).isZero();
        assertThat(record().endpoint).isEqualTo(SECOND);
        assertThat(record().endpointIndex).isEqualTo(1);
        assertThat(record().attempts).isEqualTo(2);
        assertThat(record().cause).isNull();
        assertThat(record().hedge()).isEqualTo(HedgeResult.WON);
        assertThat(Objects.requireNonNull(record().tried))
                .extracting(t -> t.endpoint() + " " + t.status())
                .containsExactly("app.test:9000 0");
        assertThat(records.attempts).containsExactly("0 again", "200");
    }

    @Test
    void theFirstAttemptMayBeQuicker() {
        hedged();
        opening(1).succeed();
        answer(0, 200);
        assertThat(stream(1).reset).isEqualTo(Attempt.ABANDONED);
        assertThat(client.status()).isEqualTo(200);
        assertThat(record().endpoint).isEqualTo(FIRST);
        assertThat(record().hop).isNotNull();
        assertThat(record().attempts).isEqualTo(2);
        assertThat(record().hedge()).isEqualTo(HedgeResult.LOST);
        assertThat(Objects.requireNonNull(record().tried))
                .extracting(t -> t.endpoint().toString())
                .containsExactly("app2.test:9000");
        assertThat(records.attempts).as("the other one continues").containsExactly("0 again", "200");
    }

    @Test
    void theSecondGoesOnIfTheFirstEndpointIsFoundNotToAnswer() {
        retry = RetryValues.of(
                1, RetryValues.ALL, Set.of(503), "GET", RetryValues.waiting(0, true, 0, 0), RetryValues.budget(0, 0));
        hedged();
        opening(1).succeed();
        opening(0).events.onUnresponsive("refused");
        assertThat(stream(0).reset).isNotNull();
        assertThat(opener.openings).as("without a retry").hasSize(2);
        answer(1, 200);
        assertThat(client.status()).isEqualTo(200);
        assertThat(record().endpoint).isEqualTo(SECOND);
        assertThat(records.attempts).containsExactly("upstream_timeout again", "200");
    }

    @Test
    void theFirstGoesOnIfTheSecondEndpointIsFoundNotToAnswer() {
        hedged();
        opening(1).succeed();
        opening(1).events.onUnresponsive("refused");
        assertThat(stream(1).reset).isNotNull();
        assertThat(stream(0).reset).isNull();
        answer(0, 200);
        assertThat(client.status()).isEqualTo(200);
        assertThat(record().hedge()).isEqualTo(HedgeResult.FAILED);
    }

    @Test
    void aSecondAttemptWithoutAStreamIsCancelled() {
        hedged();
        answer(0, 200);
        assertThat(opening(1).cancelled).isTrue();
        assertThat(record().hedge()).isEqualTo(HedgeResult.LOST);
    }

    @Test
    void whatTheSlowerOneSendsLaterIsDropped() {
        hedged();
        opening(1).succeed();
        answer(1, 200);
        opening(0).events.onHead(response(500), false);
        opening(0).events.onData(bytes("late"), true);
        opening(0).events.onReset(failure(Cause.UPSTREAM_RESET_IN_BODY, RetrySafety.NEVER));
        assertThat(client.heads).hasSize(1);
        assertThat(client.body).isEmpty();
    }

    @Test
    void aResponseThatBreaksOffIsNotTakenFromTheOtherOne() {
        hedged();
        opening(1).succeed();
        opening(1).events.onHead(response(200), false);
        opening(1).events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        assertThat(client.reset).isNotNull();
        assertThat(record().cause).isEqualTo(Cause.UPSTREAM_RESET_IN_BODY);
        assertThat(record().hedge()).isEqualTo(HedgeResult.WON);
    }

    @Test
    void itsInformationalResponsesAreDropped() {
        hedged();
        opening(1).succeed();
        opening(1).events.onHead(response(103), false);
        assertThat(client.heads).isEmpty();
        opening(0).events.onHead(response(103), false);
        assertThat(client.heads).hasSize(1);
        answer(1, 200);
        assertThat(client.heads).extracting(ResponseHead::status).containsExactly(103, 200);
    }

    // ---- an answer that is not good

    @ParameterizedTest
    @ValueSource(ints = {429, 500, 503})
    void anErrorDoesNotWinWhileTheFirstMayDoBetter(int status) {
        retry = new Route.Retry(1, Set.of(429), 0);
        hedged();
        opening(1).succeed();
        opening(1).events.onHead(response(status), false);
        assertThat(stream(1).reset).isNotNull();
        assertThat(client.heads).isEmpty();
        answer(0, 200);
        assertThat(client.status()).isEqualTo(200);
        assertThat(record().endpoint).isEqualTo(FIRST);
        assertThat(record().hedge()).isEqualTo(HedgeResult.FAILED);
        assertThat(opener.openings).hasSize(2);
        assertThat(records.attempts).containsExactly(status + " again", "200");
    }

    @Test
    void aRefusalOfTheRequestIsAnAnswer() {
        hedged();
        opening(1).succeed();
        answer(1, 404);
        assertThat(client.status()).isEqualTo(404);
    }

    @Test
    void anErrorOfTheFirstThatWouldBeRepeatedIsLeftForTheSecond() {
        retry = new Route.Retry(1, Set.of(503), 0);
        hedged();
        opening(1).succeed();
        opening(0).events.onHead(response(503), false);
        assertThat(client.heads).isEmpty();
        assertThat(stream(0).reset).isNotNull();
        assertThat(opener.openings).as("no further attempt").hasSize(2);
        answer(1, 200);
        assertThat(client.status()).isEqualTo(200);
        assertThat(record().endpoint).isEqualTo(SECOND);
        assertThat(record().hedge()).isEqualTo(HedgeResult.WON);
        assertThat(records.attempts).containsExactly("503 again", "200");
    }

    @Test
    void anErrorOfTheFirstThatWouldNotBeRepeatedIsForwarded() {
        retry = new Route.Retry(1, Set.of(503), 0);
        hedged();
        opening(1).succeed();
        answer(0, 500);
        assertThat(client.status()).isEqualTo(500);
        assertThat(stream(1).reset).isNotNull();
    }

    @Test
    void theSecondsErrorCountsAtItsEndpoint() {
        outliers = new OutlierDetection(OutlierDetection.Counts.ANY_FAILURE, 5, 1000, 1000, 100);
        hedged();
        opening(1).succeed();
        answer(1, 500);
        assertThat(Objects.requireNonNull(health).report(SECOND).failures()).isEqualTo(1);
        answer(0, 200);
        assertThat(Objects.requireNonNull(health).report(FIRST).failures()).isZero();
    }

    @Test
    void anEndpointThatIsSlowerIsNotBlamed() {
        outliers = new OutlierDetection(OutlierDetection.Counts.ANY_FAILURE, 5, 1000, 1000, 100);
        hedged();
        opening(1).succeed();
        answer(1, 200);
        assertThat(Objects.requireNonNull(health).report(FIRST).failures()).isZero();
    }

    // ---- failures

    @Test
    void ifTheSecondFailsTheFirstIsWaitedFor() {
        outliers = new OutlierDetection(OutlierDetection.Counts.ABSENCE, 5, 1000, 1000, 100);
        retry = new Route.Retry(1, Set.of(503), 0);
        hedged();
        opening(1).succeed();
        opening(1).events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        assertThat(Objects.requireNonNull(health).report(SECOND).failures()).isEqualTo(1);
        pass(1000);
        assertThat(opener.openings).as("there is one second attempt at most").hasSize(2);
        answer(0, 200);
        assertThat(client.status()).isEqualTo(200);
        assertThat(record().hedge()).isEqualTo(HedgeResult.FAILED);
        assertThat(records.attempts).containsExactly("upstream_reset_before_headers again", "200");
    }

    @Test
    void ifTheSecondFindsNoConnectionTheFirstIsWaitedFor() {
        hedged();
        opening(1).fail(failure(Cause.CONNECT_FAILED, RetrySafety.ALWAYS));
        assertThat(opener.openings).hasSize(2);
        answer(0, 200);
        assertThat(record().hedge()).isEqualTo(HedgeResult.FAILED);
    }

    @Test
    void ifTheFirstFailsTheSecondTakesItsPlaceWithoutAFurtherAttempt() {
        hedged();
        opening(1).succeed();
        opening(0).events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.NEVER));
        assertThat(client.heads).isEmpty();
        assertThat(opener.openings).hasSize(2);
        answer(1, 200);
        assertThat(client.status()).isEqualTo(200);
        assertThat(record().cause).isNull();
        assertThat(record().endpoint).isEqualTo(SECOND);
        assertThat(records.attempts).containsExactly("upstream_reset_before_headers again", "200");
    }

    @Test
    void ifTheFirstFailsASecondWithoutAStreamTakesItsPlace() {
        hedged().onReadComplete();
        opening(0).events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        assertThat(opener.openings).hasSize(2);
        opening(1).succeed();
        assertThat(stream(1).head()).isNotNull();
        assertThat(stream(1).ended).isTrue();
        assertThat(stream(1).unflushed).isZero();
        pass(1000);
        assertThat(opener.openings).hasSize(2);
        answer(1, 200);
        assertThat(client.status()).isEqualTo(200);
        assertThat(record().hedge()).isEqualTo(HedgeResult.WON);
    }

    @Test
    void anErrorThatIsForwardedBecauseTheFirstFailedIsNoGain() {
        hedged();
        opening(1).succeed();
        opening(0).events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.NEVER));
        answer(1, 500);
        assertThat(client.status()).isEqualTo(500);
        assertThat(record().hedge()).isEqualTo(HedgeResult.FAILED);
    }

    @Test
    void ifBothFailAnotherAttemptIsOnlyMadeAsThePolicySays() {
        endpoints = List.of(FIRST, SECOND, THIRD);
        balancer = turns(endpoints);
        retry = new Route.Retry(1, Set.of(), 0);
        hedged();
        opening(1).succeed();
        opening(0).events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        opening(1).events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        assertThat(opener.openings).extracting(o -> o.endpoint).containsExactly(FIRST, SECOND, THIRD);
        opening(2).succeed();
        opening(2).events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        assertAnswered(502, Cause.UPSTREAM_RESET_BEFORE_HEADERS);
        assertThat(record().attempts).isEqualTo(3);
        assertThat(record().hedge()).isEqualTo(HedgeResult.FAILED);
    }

    @Test
    void aRetryGoesWhereNeitherOfThemWas() {
        endpoints = List.of(FIRST, SECOND, THIRD);
        balancer = turns(endpoints);
        retry = new Route.Retry(1, Set.of(503), 0);
        hedged();
        opening(1).succeed();
        answer(1, 503);
        answer(0, 503);
        assertThat(opener.last().endpoint).isEqualTo(THIRD);
        opening(2).succeed();
        answer(2, 200);
        assertThat(record().attempts).isEqualTo(3);
    }

    @Test
    void anAttemptThatRetriesIsHedgedToo() {
        endpoints = List.of(FIRST, SECOND, THIRD);
        balancer = turns(endpoints);
        retry = new Route.Retry(1, Set.of(503), 0);
        get();
        opener.last().succeed();
        pass(DELAY - 50);
        answer(0, 503);
        opener.last().succeed();
        pass(DELAY - 10);
        assertThat(opener.openings).hasSize(2);
        pass(30);
        assertThat(opener.openings).extracting(o -> o.endpoint).containsExactly(FIRST, SECOND, THIRD);
        opening(2).succeed();
        answer(2, 200);
        assertThat(record().endpoint).isEqualTo(THIRD);
        assertThat(records.attempts).containsExactly("503 again", "0 again", "200");
    }

    @Test
    void aSilentEndpointIsLeftForTheSecondAttempt() {
        retry = RetryValues.of(
                1, RetryValues.ALL, Set.of(), "GET", RetryValues.waiting(0, true, 1000, 0), RetryValues.budget(0, 0));
        outliers = new OutlierDetection(OutlierDetection.Counts.ABSENCE, 5, 1000, 1000, 100);
        hedged();
        opening(1).succeed();
        pass(1000);
        assertThat(stream(0).reset).isNotNull();
        assertThat(stream(1).reset).isNull();
        assertThat(opener.openings).hasSize(2);
        assertThat(Objects.requireNonNull(health).report(FIRST).failures()).isEqualTo(1);
        answer(1, 200);
        assertThat(records.attempts).containsExactly("upstream_timeout again", "200");
    }

    @Test
    void withoutRetriesASilentEndpointIsNotLeft() {
        retry = RetryValues.of(
                0, RetryValues.ALL, Set.of(), "GET", RetryValues.waiting(0, true, 1000, 0), RetryValues.budget(0, 0));
        hedged();
        pass(2000);
        assertThat(stream(0).reset).isNull();
        opening(1).fail(failure(Cause.CONNECT_TIMEOUT, RetrySafety.ALWAYS));
        answer(0, 200);
        assertThat(client.status()).isEqualTo(200);
    }

    /** It is told once that the budget allowed no retry, not for the hedge that had nowhere to go, too. */
    @Test
    void aSecondAttemptThatIsGivenUpIsNotTheLastOne() {
        retry = RetryValues.of(
                1,
                Set.of(On.RETRIABLE_STATUS),
                Set.of(503),
                "GET",
                RetryValues.waiting(0, true, 0, 0),
                RetryValues.budget(0, 0));
        hedged();
        opening(1).callback.onMoved(FIRST);
        answer(0, 503);
        assertThat(record().cause).isEqualTo(Cause.RETRY_BUDGET);
        assertThat(record().hedge()).isEqualTo(HedgeResult.LOST);
        assertThat(records.attempts).containsExactly("0 again", "503");
    }

    @Test
    void aDefectOfTheBalancerEndsTheExchange() {
        balancer = request -> {
            if (request.previous() != null) {
                throw new IllegalStateException("made by the test");
            }
            return FIRST;
        };
        get();
        opener.last().succeed();
        pass(DELAY + 20);
        assertAnswered(500, Cause.UNKNOWN);
        assertThat(stream(0).reset).isNotNull();
    }

    @Test
    void eachOfThemHasTheTimeOfAnAttempt() {
        timeouts = new Route.Timeouts(0, 500, 0, TunnelTimeouts.NONE);
        hedged();
        opening(1).succeed();
        pass(400);
        assertThat(stream(0).reset).isNotNull();
        assertThat(stream(1).reset).isNull();
        pass(60);
        assertThat(stream(1).reset).isNull();
        pass(60);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
        assertThat(stream(1).reset).isNotNull();
    }

    @Test
    void aServerThatSwitchesProtocolsUnaskedHasFailed() {
        hedged();
        opening(1).succeed();
        opening(1).events.onHead(response(101), false);
        assertThat(stream(1).reset).isNotNull();
        answer(0, 200);
        assertThat(record().hedge()).isEqualTo(HedgeResult.FAILED);
    }

    // ---- the exchange ends

    @Test
    void aClientThatLeavesEndsBoth() {
        StreamEvents events = hedged();
        opening(1).succeed();
        events.onReset(GONE);
        assertThat(stream(0).reset).isNotNull();
        assertThat(stream(1).reset).isNotNull();
        assertThat(record().hedge()).isEqualTo(HedgeResult.LOST);
        assertThat(records.attempts).containsExactly("0", "client_closed");
    }

    @Test
    void aClientThatLeavesEndsTheTimeForASecondAttempt() {
        StreamEvents events = get();
        opener.last().succeed();
        events.onReset(GONE);
        pass(1000);
        assertThat(opener.openings).hasSize(1);
    }

    @Test
    void theTimeOfTheRequestEndsBoth() {
        timeouts = new Route.Timeouts(500, 0, 0, TunnelTimeouts.NONE);
        hedged();
        pass(500);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
        assertThat(stream(0).reset).isNotNull();
        assertThat(opening(1).cancelled).isTrue();
        assertThat(opening(1).expired).as("it is not to blame").isFalse();
    }

    // ---- what is not hedged

    @Test
    void anAnswerInTimeNeedsNoSecondAttempt() {
        get();
        opener.last().succeed();
        pass(DELAY - 20);
        opener.last().events.onHead(response(200), false);
        pass(1000);
        opener.last().events.onData(bytes("long"), true);
        assertThat(opener.openings).hasSize(1);
        assertThat(record().hedge()).isNull();
    }

    @Test
    void theTimeForAConnectionIsNotThatForAnAnswer() {
        get();
        pass(1000);
        assertThat(opener.openings).hasSize(1);
        opener.last().succeed();
        answer(0, 200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "OPTIONS"})
    void aMethodThatThePolicyDoesNotListIsNotHedged(String method) {
        request(method, "/", true);
        opener.last().succeed();
        pass(1000);
        assertThat(opener.openings).hasSize(1);
        answer(0, 200);
    }

    @Test
    void aRequestWithABodyIsNotHedged() {
        StreamEvents events = request("GET", "/", false);
        events.onData(bytes("x"), true);
        opener.last().succeed();
        pass(1000);
        assertThat(opener.openings).hasSize(1);
        answer(0, 200);
    }

    @Test
    void withoutAPolicyNothingIsHedged() {
        settings.hedging = null;
        get();
        opener.last().succeed();
        pass(10_000);
        assertThat(opener.openings).hasSize(1);
        answer(0, 200);
    }

    @Test
    void withoutAnotherEndpointThereIsNoSecondAttempt() {
        endpoints = List.of(FIRST);
        get();
        opener.last().succeed();
        pass(1000);
        assertThat(opener.openings).hasSize(1);
        answer(0, 200);
        assertThat(records.hedgesOverBudget).isZero();
    }

    @Test
    void anEndpointWhoseLastRequestFailedGetsNoSecondAttempt() {
        outliers = new OutlierDetection(OutlierDetection.Counts.ABSENCE, 5, 1000, 1000, 100);
        get();
        opener.last().succeed();
        Objects.requireNonNull(health).onUnanswered(SECOND, 0, 0);
        pass(1000);
        assertThat(opener.openings).hasSize(1);
        answer(0, 200);
    }

    @Test
    void anAttemptThatEndsWhereTheFirstIsIsGivenUp() {
        hedged();
        opening(1).callback.onMoved(FIRST);
        opening(1).succeed();
        assertThat(stream(1).reset).isEqualTo(Attempt.ABANDONED);
        assertThat(stream(1).ended).as("nothing was sent").isFalse();
        answer(0, 200);
        assertThat(record().hedge()).isEqualTo(HedgeResult.LOST);
    }

    @Test
    void anAttemptThatEndsWhereTheFirstIsDoesNotOutliveIt() {
        endpoints = List.of(FIRST, SECOND, THIRD);
        balancer = turns(endpoints);
        retry = new Route.Retry(1, Set.of(), 0);
        hedged();
        opening(1).callback.onMoved(FIRST);
        opening(0).events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        assertThat(opening(1).cancelled).isTrue();
        assertThat(opener.openings).extracting(o -> o.endpoint).containsExactly(FIRST, SECOND, THIRD);
        opening(2).succeed();
        answer(2, 200);
        assertThat(record().hedge()).isEqualTo(HedgeResult.LOST);
    }

    @Test
    void anotherEndpointMayHaveRoomForTheSecondAttempt() {
        endpoints = List.of(FIRST, SECOND, THIRD);
        settings.preserveHost = false;
        hedged();
        opening(1).callback.onMoved(THIRD);
        opening(1).succeed();
        assertThat(stream(1).head().authority().toString()).isEqualTo("app3.test:9000");
        answer(1, 200);
        assertThat(record().endpoint).isEqualTo(THIRD);
    }

    @Test
    void theBudgetHoldsOverAllRequests() {
        settings.hedging = policy(HedgeDelay.fixed(DELAY), 5);
        route();
        for (int i = 0; i < 39; i++) {
            Objects.requireNonNull(app).hedgeBudget().onRequest(now);
        }
        handler().onRequest(client, head("GET", "/"), true);
        assertThat(Objects.requireNonNull(app).hedgeBudget().tryTake(now, 5, 0)).isTrue();
        opener.last().succeed();
        pass(DELAY + 20);
        assertThat(opener.openings).as("the second of forty requests").hasSize(2);
        assertThat(Objects.requireNonNull(app).hedgeBudget().tryTake(now, 5, 0)).isFalse();
        answer(0, 200);
    }

    @Test
    void aSecondAttemptOverTheBudgetIsNotMadeButCounted() {
        settings.hedging = policy(HedgeDelay.fixed(DELAY), 5);
        get();
        opener.last().succeed();
        pass(1000);
        assertThat(opener.openings).hasSize(1);
        assertThat(records.hedgesOverBudget).isEqualTo(1);
        answer(0, 200);
        assertThat(record().hedge()).isNull();
    }

    @Test
    void aGatewayThatRunsShortHedgesNothing() {
        Overload overload = new Overload();
        gate = new LoopGate(overload, null, null);
        overload.watch(new Pressure() {
            @Override
            public Resource resource() {
                return Resource.HEAP;
            }

            @Override
            public double level() {
                return 0.82;
            }
        });
        get();
        opener.last().succeed();
        overload.review();
        pass(1000);
        assertThat(opener.openings).hasSize(1);
        answer(0, 200);
    }

    // ---- when

    @Test
    void aPercentileIsLearnedFromTheAnswers() {
        AnswerTimes times = new AnswerTimes();
        settings.hedging = policy(HedgeDelay.percentile(950, 0, times), 100);
        for (int i = 0; i < 100; i++) {
            times.add(TimeUnit.MILLISECONDS.toNanos(300), now);
        }
        get();
        opener.last().succeed();
        pass(250);
        assertThat(opener.openings).hasSize(1);
        pass(100);
        assertThat(opener.openings).hasSize(2);
        answer(0, 200);
    }

    @Test
    void untilThereAreEnoughAnswersNothingIsHedged() {
        AnswerTimes times = new AnswerTimes();
        settings.hedging = policy(HedgeDelay.percentile(500, 0, times), 100);
        for (int i = 0; i < 19; i++) {
            times.add(TimeUnit.MILLISECONDS.toNanos(10), now);
        }
        get();
        opener.last().succeed();
        pass(1000);
        assertThat(opener.openings).hasSize(1);
        answer(0, 200);
        assertThat(times.percentile(500, now))
                .as("its answer is the last one missing")
                .isPositive();
    }

    @Test
    void theTimeOfASlowerAttemptCountsSoFar() {
        AnswerTimes times = new AnswerTimes();
        settings.hedging = policy(HedgeDelay.percentile(500, 0, times), 100);
        for (int i = 0; i < 20; i++) {
            times.add(TimeUnit.MILLISECONDS.toNanos(i < 9 ? 10 : 100), now);
        }
        hedged();
        opening(1).succeed();
        answer(1, 200);
        for (int i = 0; i < 2; i++) {
            times.add(TimeUnit.MILLISECONDS.toNanos(10), now);
        }
        assertThat(times.percentile(500, now))
                .as("twelve of 23 took longer than 10 ms")
                .isGreaterThan(TimeUnit.MILLISECONDS.toNanos(50));
    }

    @Test
    void errorsThatComeFastAreNoAnswers() {
        AnswerTimes times = new AnswerTimes();
        settings.hedging = policy(HedgeDelay.percentile(500, 0, times), 100);
        for (int i = 0; i < 19; i++) {
            times.add(TimeUnit.MILLISECONDS.toNanos(10), now);
        }
        get();
        opener.last().succeed();
        answer(0, 500);
        assertThat(times.percentile(500, now)).isNegative();
    }

    @Test
    void anEndpointIsToldItsOwnName() {
        settings.preserveHost = false;
        hedged();
        opening(1).succeed();
        assertThat(stream(1).head().authority().toString()).isEqualTo("app2.test:9000");
        answer(1, 200);
    }

    @Test
    void whoAnswersIsHeard() {
        hedged();
        opening(1).succeed();
        long sent = now;
        pass(10);
        answer(1, 200);
        List<Host> hosts = Objects.requireNonNull(app).hosts();
        assertThat(hosts.get(1).isHeardSince(sent)).isTrue();
        assertThat(hosts.get(0).isHeardSince(sent)).isFalse();
    }

    @Test
    void aSecondAttemptMayBeOpenedInsideTheCall() {
        get();
        opener.last().succeed();
        opener.atOnce = FakeOpening::succeed;
        pass(DELAY + 20);
        assertThat(stream(1).ended).isTrue();
        answer(1, 200);
        assertThat(record().endpoint).isEqualTo(SECOND);
    }

    @Test
    void aSecondAttemptMayFailInsideTheCall() {
        get();
        opener.last().succeed();
        opener.atOnce = opening -> opening.fail(failure(Cause.PENDING_OVERFLOW, RetrySafety.NEVER));
        pass(DELAY + 20);
        assertThat(opener.openings).hasSize(2);
        answer(0, 200);
        assertThat(record().hedge()).isEqualTo(HedgeResult.FAILED);
    }
}
