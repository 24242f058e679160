package dev.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.ActiveCheck;
import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.stream.Cause;
import dev.gateway.upstream.Health.State;
import dev.gateway.upstream.balancer.RoundRobin;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HealthTest {
    /** Three failures; 10 s, 40 s at most; half of the endpoints. */
    private static final OutlierDetection POLICY =
            new OutlierDetection(OutlierDetection.Counts.ANY_FAILURE, 3, 10_000, 40_000, 50);

    private long nanos = Long.MAX_VALUE - 1; // it may wrap
    private final List<String> told = new ArrayList<>();

    @Test
    void metricsKnowAllWordsForHowAnEndpointIs() {
        assertThat(Arrays.stream(State.values()).map(State::label))
                .containsExactlyInAnyOrderElementsOf(UpstreamState.STATES);
    }

    @Test
    void anEndpointIsUnreachableUntilAConnectionCouldBeMadeAgain() {
        Health health = health(2, null);
        assertThat(states(health)).containsExactly(State.HEALTHY, State.HEALTHY);
        health.onUnreached(endpoint(0), Cause.CONNECT_FAILED);
        health.onUnreached(endpoint(0), Cause.CONNECT_FAILED);
        health.onUnreached(new Endpoint(Endpoint.NAMED_INDEX, "192.0.2.3", 80, 1), Cause.CONNECT_FAILED);
        assertThat(states(health)).containsExactly(State.UNREACHABLE, State.HEALTHY);
        assertThat(chosen(health)).as("it is tried all the same").containsExactly(0, 1);
        health.onReached(endpoint(0));
        assertThat(states(health)).containsExactly(State.HEALTHY, State.HEALTHY);
    }

    @Test
    void anEndpointThatNobodyTriesAnyMoreIsNotUnreachableForEver() {
        Health health = health(2, null);
        health.onUnreached(endpoint(0), Cause.CONNECT_FAILED);
        nanos += TimeUnit.SECONDS.toNanos(29);
        assertThat(states(health)).containsExactly(State.UNREACHABLE, State.HEALTHY);
        nanos += TimeUnit.SECONDS.toNanos(1);
        assertThat(states(health)).containsExactly(State.HEALTHY, State.HEALTHY);
        health.onUnreached(endpoint(0), Cause.CONNECT_FAILED);
        assertThat(states(health)).containsExactly(State.UNREACHABLE, State.HEALTHY);
    }

    @Test
    void aReloadDoesNotProlongHowLongAnEndpointIsUnreachable() {
        Health before = health(2, null);
        before.onUnreached(endpoint(0), Cause.CONNECT_FAILED);
        nanos += TimeUnit.SECONDS.toNanos(20);
        Health health = health(2, null);
        health.inherit(before);
        assertThat(states(health)).containsExactly(State.UNREACHABLE, State.HEALTHY);
        nanos += TimeUnit.SECONDS.toNanos(10);
        assertThat(states(health)).containsExactly(State.HEALTHY, State.HEALTHY);
    }

    @Test
    void failuresInARowEjectAnEndpoint() {
        Health health = health(2, POLICY);
        health.onAnswered(endpoint(0), 500);
        health.onUnreached(endpoint(0), Cause.CONNECT_FAILED);
        health.onAnswered(endpoint(0), 404); // an answer as good as any, once it is whole
        assertThat(health.report(endpoint(0)).failures()).isEqualTo(2);
        health.onServed(endpoint(0));
        assertThat(health.report(endpoint(0)).failures()).isZero();
        health.onUnanswered(endpoint(0), 0, 0);
        health.onAnswered(endpoint(0), 599);
        health.onAnswered(endpoint(1), 200);
        assertThat(chosen(health)).containsExactly(0, 1);
        assertThat(health.report(endpoint(0)).failures()).isEqualTo(2);
        health.onUnreached(endpoint(0), Cause.CONNECT_FAILED);
        assertThat(states(health)).containsExactly(State.EJECTED, State.HEALTHY);
        assertThat(health.report(endpoint(0)).failures())
                .as("they have had their consequence")
                .isZero();
        assertThat(chosen(health)).containsExactly(1);
        assertThat(health.hasOther(endpoint(0))).isTrue();
        assertThat(health.hasOther(endpoint(1))).isFalse();
        assertThat(told).containsExactly("0 ejected for 10000, 1 left");
    }

    @Test
    void nothingIsEjectedUnlessItIsWanted() {
        Health health = health(2, null);
        for (int i = 0; i < 100; i++) {
            health.onAnswered(endpoint(0), 503);
            health.onUnreached(endpoint(0), Cause.CONNECT_FAILED);
        }
        assertThat(chosen(health)).containsExactly(0, 1);
        assertThat(health.report(endpoint(0)).failures()).isZero();
    }

    @Test
    void requestsThatOneLostConnectionEndsAreOneFailure() {
        Health health = health(2, POLICY);
        for (int i = 0; i < 100; i++) {
            health.onReset(endpoint(0), nanos - 1, nanos);
        }
        assertThat(health.report(endpoint(0)).failures()).isOne();
        assertThat(chosen(health)).containsExactly(0, 1);
        for (int i = 0; health.report(endpoint(0)).state() != State.EJECTED; i++) {
            assertThat(i).isLessThan(100);
            long sent = ++nanos;
            health.onReset(endpoint(0), sent, ++nanos);
            health.onReset(endpoint(0), sent, nanos);
        }
        assertThat(told).hasSize(1);
    }

    @Test
    void anEjectedEndpointReturnsWhenItsTimeIsOver() {
        Health health = health(2, POLICY);
        fail(health, 0);
        pass(9_999);
        health.onAnswered(endpoint(0), 200); // of a request that was under way
        health.review();
        assertThat(chosen(health)).containsExactly(1);
        assertThat(health.report(endpoint(0)).ejectedMillis()).isEqualTo(1);
        health.onUnanswered(endpoint(0), 0, 0); // of another request; the count begins at zero when it returns
        health.onUnanswered(endpoint(0), 0, 0);
        pass(1);
        health.review();
        health.onUnanswered(endpoint(0), 0, 0);
        assertThat(chosen(health)).containsExactly(0, 1);
        assertThat(told).containsExactly("0 ejected for 10000, 1 left", "0 returned");
    }

    @Test
    void whoIsEjectedBecauseNoConnectionCouldBeMadeReturnsWithTheFirst() {
        Health health = health(2, POLICY);
        for (int i = 0; i < POLICY.config().consecutive5xx(); i++) {
            health.onUnreached(endpoint(0), Cause.CONNECT_FAILED);
        }
        assertThat(chosen(health)).containsExactly(1);
        health.onReached(endpoint(1));
        assertThat(chosen(health)).containsExactly(1);
        health.onReached(endpoint(0));
        health.onReached(endpoint(0));
        assertThat(chosen(health)).containsExactly(0, 1);
        assertThat(told).containsExactly("0 ejected for 10000, 1 left", "0 returned");
    }

    @Test
    void whoIsEjectedBecauseItDidNotAnswerReturnsWhenItAnswersACheck() {
        Health health = health(2, POLICY);
        fail(health, 0);
        health.onReached(endpoint(0));
        assertThat(chosen(health)).as("a connection says nothing of answers").containsExactly(1);
        health.onAnsweredCheck(endpoint(0));
        assertThat(chosen(health)).containsExactly(0, 1);
        health.onUnreached(endpoint(0), Cause.CONNECT_FAILED);
        health.onUnreached(endpoint(0), Cause.CONNECT_FAILED);
        health.onReset(endpoint(0), nanos, nanos); // the last failure counts
        health.onReached(endpoint(0));
        assertThat(chosen(health)).containsExactly(1);
        health.onAnsweredCheck(endpoint(0));
        assertThat(chosen(health)).containsExactly(0, 1);
    }

    @Test
    void whoIsEjectedForItsAnswersStaysSoUntilItsTimeIsOver() {
        Health health = health(2, POLICY);
        answerBadly(health, 0);
        health.onReached(endpoint(0));
        health.onAnsweredCheck(endpoint(0));
        assertThat(chosen(health)).containsExactly(1);
        Health next = health(2, POLICY);
        next.inherit(health);
        next.onReached(endpoint(0));
        next.onAnsweredCheck(endpoint(0));
        assertThat(chosen(next)).as("after a reload").containsExactly(1);
    }

    @Test
    void aReloadKeepsWhyAnEndpointIsEjected() {
        Health health = health(2, POLICY);
        for (int i = 0; i < POLICY.config().consecutive5xx(); i++) {
            health.onUnreached(endpoint(0), Cause.CONNECT_FAILED);
        }
        Health next = health(2, POLICY);
        next.inherit(health);
        assertThat(chosen(next)).containsExactly(1);
        next.onReached(endpoint(0));
        assertThat(chosen(next)).containsExactly(0, 1);
    }

    @Test
    void whoIsEjectedAgainAndAgainIsAwayForLongerAndLonger() {
        Health health = health(2, POLICY);
        for (int i = 0; i < 6; i++) {
            fail(health, 0);
            pass(health.report(endpoint(0)).ejectedMillis());
            health.review();
        }
        assertThat(told.stream().filter(line -> !line.endsWith("returned")))
                .extracting(line -> line.replaceAll(".* for |,.*", ""))
                .containsExactly("10000", "20000", "30000", "40000", "40000", "40000");
        assertThat(health.report(endpoint(0)).ejections()).isEqualTo(6);
    }

    @Test
    void serviceWithoutEjectionMakesTheNextOneShorter() {
        Health health = health(2, POLICY);
        for (int i = 0; i < 3; i++) {
            fail(health, 0);
            pass(health.report(endpoint(0)).ejectedMillis());
            health.review();
        }
        pass(20_000); // forgives two of the three
        fail(health, 0);
        assertThat(health.report(endpoint(0)).ejectedMillis()).isEqualTo(20_000);
        pass(20_000);
        health.review();
        pass(1_000_000);
        fail(health, 0);
        assertThat(health.report(endpoint(0)).ejectedMillis()).isEqualTo(10_000);
    }

    @Test
    void howOftenAnEndpointWasEjectedLongAgoDoesNotMatterOnceItServesAgain() {
        Health health = health(2, POLICY);
        for (int i = 0; i < 20; i++) {
            fail(health, 0);
            pass(health.report(endpoint(0)).ejectedMillis());
            health.review();
        }
        pass(50_000); // the longest ejection and as long as the first one
        fail(health, 0);
        assertThat(health.report(endpoint(0)).ejectedMillis()).isEqualTo(10_000);
    }

    @Test
    void theLastEndpointInServiceIsNeverEjected() {
        Health one = health(1, POLICY);
        fail(one, 0);
        fail(one, 0);
        assertThat(states(one)).containsExactly(State.HEALTHY);

        Health two = health(2, new OutlierDetection(OutlierDetection.Counts.ANY_FAILURE, 3, 10_000, 40_000, 100));
        fail(two, 1);
        fail(two, 0);
        fail(two, 0);
        assertThat(chosen(two)).containsExactly(0);

        Health drained = health(2, POLICY);
        drained.drain(endpoint(1).toString(), true);
        fail(drained, 0);
        assertThat(chosen(drained)).containsExactly(0);
    }

    @Test
    void noMoreAreEjectedThanTheShareAllowsButOneIs() {
        Health few = health(3, new OutlierDetection(OutlierDetection.Counts.ANY_FAILURE, 3, 10_000, 40_000, 10));
        answerBadly(few, 0);
        answerBadly(few, 1);
        assertThat(chosen(few)).containsExactly(1, 2);

        Health many = health(5, POLICY);
        for (int i = 0; i < 5; i++) {
            answerBadly(many, i);
        }
        assertThat(chosen(many)).as("half of five is three").containsExactly(3, 4);
        pass(10_000);
        many.review();
        assertThat(many.report(endpoint(4)).failures()).isEqualTo(3);
        answerBadly(many, 4); // what had failed too often before goes as soon as there is room
        assertThat(chosen(many)).containsExactly(0, 1, 2, 3);
    }

    @Test
    void whoCannotBeReachedIsEjectedWhateverTheShareButTheLastOneStays() {
        Health health = health(4, new OutlierDetection(OutlierDetection.Counts.ABSENCE, 3, 10_000, 40_000, 10));
        for (int i = 0; i < 4; i++) {
            for (int times = 0; times < 3; times++) {
                health.onUnreached(endpoint(i), Cause.CONNECT_FAILED);
            }
        }
        assertThat(states(health)).containsExactly(State.EJECTED, State.EJECTED, State.EJECTED, State.UNREACHABLE);
        assertThat(chosen(health)).containsExactly(3);

        Health silent = health(4, new OutlierDetection(OutlierDetection.Counts.ABSENCE, 3, 10_000, 40_000, 10));
        for (int i = 0; i < 4; i++) {
            fail(silent, i);
        }
        assertThat(chosen(silent)).as("who does not answer is as good as gone").containsExactly(3);
        pass(10_000);
        silent.review();
        answerBadly(silent, 0);
        answerBadly(silent, 1);
        assertThat(chosen(silent)).as("who answers is not any more").containsExactly(1, 2, 3);

        Health mixed = health(3, new OutlierDetection(OutlierDetection.Counts.ABSENCE, 3, 10_000, 40_000, 10));
        for (int times = 0; times < 3; times++) {
            mixed.onUnreached(endpoint(0), Cause.CONNECT_FAILED);
        }
        answerBadly(mixed, 1);
        assertThat(chosen(mixed))
                .as("it does not use up the share of those that can be reached")
                .containsExactly(2);
    }

    @Test
    void whatCountsIsWhatOnlyTheEndpointCanCauseUnlessMoreIsWanted() {
        OutlierDetection absence = new OutlierDetection(OutlierDetection.Counts.ABSENCE, 1, 1, 1, 50);
        OutlierDetection any = new OutlierDetection(OutlierDetection.Counts.ANY_FAILURE, 1, 1, 1, 50);
        for (int status : new int[] {502, 503, 504}) {
            assertThat(absence.isFailure(status)).as("%s", status).isTrue();
            assertThat(any.isFailure(status)).as("%s", status).isTrue();
        }
        for (int status : new int[] {500, 506, 507, 599}) {
            assertThat(absence.isFailure(status)).as("%s", status).isFalse();
            assertThat(any.isFailure(status)).as("%s", status).isTrue();
        }
        for (int status : new int[] {200, 404, 499, 501, 505, 511}) {
            assertThat(absence.isFailure(status)).as("%s", status).isFalse();
            assertThat(any.isFailure(status)).as("%s", status).isFalse();
        }
        Health health = health(2, new OutlierDetection(OutlierDetection.Counts.ABSENCE, 1, 10_000, 40_000, 50));
        health.onAnsweredBadly(endpoint(0));
        assertThat(chosen(health)).containsExactly(0, 1);
        health.onUnanswered(endpoint(0), 0, 0);
        assertThat(chosen(health)).containsExactly(1);
    }

    @Test
    void whoSendsAnAnswerIsToldWhetherItCountsAgainstTheEndpoint() {
        Health any = health(2, POLICY);
        assertThat(any.onAnswered(endpoint(0), 500)).isTrue();
        assertThat(any.onAnswered(endpoint(0), 404)).isFalse();
        assertThat(any.onAnswered(new Endpoint(Endpoint.NAMED_INDEX, "192.0.2.0", 80, 1), 500))
                .as("that of a host that the request names")
                .isFalse();
        assertThat(health(2, null).onAnswered(endpoint(0), 503))
                .as("nothing is counted")
                .isFalse();
    }

    @Test
    void answersThatBreakOffCountWhereAnyFailureDoes() {
        Health any = health(2, POLICY);
        for (int i = 0; i < 3; i++) {
            any.onAnswered(endpoint(0), 200);
            any.onAnsweredBadly(endpoint(0));
        }
        assertThat(chosen(any)).containsExactly(1);

        Health nothing = health(2, null);
        nothing.onAnsweredBadly(endpoint(0));
        assertThat(nothing.report(endpoint(0)).failures()).isZero();
    }

    @Test
    void onlyAnOperatorMakesAnEndpointDrain() {
        Health health = health(3, POLICY);
        fail(health, 0);
        health.onChecked(endpoint(1), "refused");
        health.drain(endpoint(2).toString(), true);
        assertThat(health.isDraining(endpoint(0))).isFalse();
        assertThat(health.isDraining(endpoint(1))).isFalse();
        assertThat(health.isDraining(endpoint(2))).isTrue();
        health.drain(endpoint(2).toString(), false);
        assertThat(health.isDraining(endpoint(2))).isFalse();
    }

    private static EndpointSpec spec(int i) {
        return EndpointSpec.of(endpoint(i));
    }

    @Test
    void aDrainFromBeforeTheStartWaitsForItsEndpoint() {
        Health health = health(2, POLICY);
        health.resumeDrain(endpoint(1).toString(), 0, 0);
        health.resumeDrain(endpoint(2).toString(), 0, 5_000_000);
        health.resumeDrain(endpoint(3).toString(), 0, 0);
        assertThat(states(health)).containsExactly(State.HEALTHY, State.DRAINING);
        assertThat(health.drains())
                .containsExactly(
                        new Health.Drain(endpoint(1).toString(), Health.Drain.NO_SESSIONS, 0),
                        new Health.Drain(endpoint(2).toString(), 0, 5_000_000),
                        new Health.Drain(endpoint(3).toString(), Health.Drain.NO_SESSIONS, 0));
        health.update(List.of(spec(0), spec(1), spec(2)), true);
        assertThat(states(health)).containsExactly(State.HEALTHY, State.DRAINING, State.DRAINING);
        assertThat(chosen(health)).containsExactly(0);
        assertThat(health.report(endpoint(2)).sessionsMillis()).isEqualTo(5);

        assertThat(health.forgetExpectedDrains()).containsExactly(endpoint(3).toString());
        health.update(List.of(spec(0), spec(3)), true);
        assertThat(health.drains())
                .as("those that have gone are not remembered")
                .isEmpty();
    }

    @Test
    void aDrainThatWaitsForItsEndpointObeysOperatorsAndOutlivesReloads() {
        Health before = health(1, POLICY);
        for (int i = 1; i < 4; i++) {
            before.resumeDrain(endpoint(i).toString(), 0, 5_000_000);
        }
        assertThat(before.drain(endpoint(1).toString(), false)).isTrue();
        assertThat(before.drain(endpoint(2).toString(), true))
                .as("without its sessions")
                .isTrue();
        assertThat(before.endSessions(endpoint(3).toString(), 1)).isFalse();
        assertThat(before.endSessions(endpoint(3).toString(), 0)).isTrue();
        Health health = health(3, POLICY);
        health.inherit(before);
        assertThat(states(health)).containsExactly(State.HEALTHY, State.HEALTHY, State.DRAINING);
        assertThat(chosen(health)).containsExactly(0, 1);
        assertThat(health.drains())
                .extracting(Health.Drain::number)
                .containsExactly(Health.Drain.NO_SESSIONS, Health.Drain.NO_SESSIONS);
        health.update(List.of(spec(0), spec(3)), true);
        assertThat(states(health, 0, 3)).containsExactly(State.HEALTHY, State.DRAINING);
    }

    private static List<State> states(Health health, int... endpoints) {
        return Arrays.stream(endpoints)
                .mapToObj(i -> health.endpoints().stream()
                        .filter(each -> each.isSameAddress(endpoint(i)))
                        .findAny()
                        .orElseThrow())
                .map(each -> health.report(each).state())
                .toList();
    }

    /** Where answers that break off do not count, the head of a good one forgives at once. */
    @Test
    void theHeadOfAnAnswerForgivesIfItsEndIsOfNoInterest() {
        Health health = health(2, new OutlierDetection(OutlierDetection.Counts.ABSENCE, 3, 10_000, 40_000, 50));
        health.onAnswered(endpoint(0), 503);
        assertThat(health.report(endpoint(0)).failures()).isEqualTo(1);
        health.onServed(endpoint(0));
        assertThat(health.report(endpoint(0)).failures()).isEqualTo(1);
        health.onAnswered(endpoint(0), 200);
        assertThat(health.report(endpoint(0)).failures()).isZero();
    }

    @Test
    void ifNobodyIsInServiceWhoeverDoesNotDrainIsChosen() {
        Health health = health(2, POLICY);
        fail(health, 0);
        health.drain(endpoint(1).toString(), true);
        assertThat(states(health)).containsExactly(State.EJECTED, State.DRAINING);
        assertThat(chosen(health)).containsExactly(0);
        health.drain(endpoint(0).toString(), true);
        assertThat(health.balancer().choose(BalancedRequest.after())).isNull();
        assertThat(health.drain("192.0.2.77:80", true)).isFalse();
    }

    @Test
    void whoFailsItsChecksIsNotChosenAsLongAsOthersAre() {
        Health health = health(3, POLICY);
        health.onChecked(endpoint(0), null);
        health.onChecked(endpoint(0), "answered 503");
        health.onChecked(endpoint(0), "answered 500");
        assertThat(states(health)).containsExactly(State.UNHEALTHY, State.HEALTHY, State.HEALTHY);
        assertThat(health.report(endpoint(0)).failedCheck()).isEqualTo("answered 500");
        assertThat(chosen(health)).containsExactly(1, 2);
        health.onChecked(endpoint(0), null);
        assertThat(chosen(health)).containsExactly(0, 1, 2);
        assertThat(told).containsExactly("0 is answered 503, 2 left", "0 is well, 3 left");
    }

    @Test
    void ofThoseOutOfServiceTheBestAreChosen() {
        Health health = health(4, POLICY);
        health.drain(endpoint(3).toString(), true);
        fail(health, 0);
        health.onChecked(endpoint(1), "answered 503");
        health.onChecked(endpoint(2), "answered 503");
        assertThat(states(health)).containsExactly(State.EJECTED, State.UNHEALTHY, State.UNHEALTHY, State.DRAINING);
        assertThat(chosen(health)).as("it may have recovered").containsExactly(0);
        health.onChecked(endpoint(0), "answered 503");
        assertThat(chosen(health)).as("the checks may be wrong").containsExactly(0, 1, 2);
    }

    @Test
    void failuresOfWhoFailsItsChecksEjectNobody() {
        Health health = health(2, POLICY);
        health.onChecked(endpoint(0), "refused");
        fail(health, 0);
        health.onUnanswered(endpoint(0), 0, 0);
        health.onChecked(endpoint(0), null);
        health.onUnanswered(endpoint(0), 0, 0);
        health.onUnanswered(endpoint(0), 0, 0);
        fail(health, 1);
        assertThat(states(health)).containsExactly(State.HEALTHY, State.EJECTED);
    }

    @Test
    void endpointsThatStayKeepWhatIsKnownOfThem() {
        Health before = health(4, POLICY);
        fail(before, 3);
        pass(4_000);
        before.onUnanswered(endpoint(2), 0, 0);
        before.onUnanswered(endpoint(2), 0, 0);
        before.onUnreached(endpoint(1), Cause.CONNECT_FAILED);
        before.drain(endpoint(0).toString(), true);

        List<Endpoint> turned = new ArrayList<>(); // in another order, one new and one gone
        for (int i : new int[] {3, 7, 2, 1}) {
            turned.add(new Endpoint(turned.size(), endpoint(i).host(), 80, 1));
        }
        Health next = new Health(turned, RoundRobin::new, POLICY, null, () -> nanos);
        next.inherit(before);
        assertThat(turned.stream().map(each -> next.report(each).state()))
                .containsExactly(State.EJECTED, State.HEALTHY, State.HEALTHY, State.UNREACHABLE);
        assertThat(next.report(turned.get(0)).ejectedMillis()).isEqualTo(6_000);
        next.onUnanswered(turned.get(2), 0, 0);
        assertThat(next.report(turned.get(2)).state()).isEqualTo(State.EJECTED);
        pass(6_000);
        next.review();
        assertThat(next.report(turned.get(0)).state()).isEqualTo(State.HEALTHY);

        ActiveCheck check = CheckValues.TCP;
        Health checked = new Health(turned, RoundRobin::new, null, check, () -> nanos);
        next.onChecked(turned.get(3), "refused");
        checked.inherit(next);
        assertThat(checked.report(turned.get(3)).state()).isEqualTo(State.UNHEALTHY);

        Health without = new Health(turned, RoundRobin::new, null, null, () -> nanos);
        without.inherit(before);
        without.inherit(checked);
        assertThat(turned.stream().map(each -> without.report(each).state()))
                .as("nothing is ejected or checked any more")
                .containsExactly(State.HEALTHY, State.HEALTHY, State.HEALTHY, State.UNREACHABLE);
    }

    @Test
    void whoWasOutOfServiceBeforeAReloadIsNotChosenAfterIt() {
        Health before = health(3, POLICY);
        fail(before, 0);
        before.drain(endpoint(1).toString(), true);
        assertThat(chosen(before)).containsExactly(2);

        Health after = health(3, POLICY);
        assertThat(chosen(after)).containsExactly(0, 1, 2);
        after.inherit(before);
        assertThat(chosen(after)).containsExactly(2);
        pass(10_000);
        after.review();
        assertThat(chosen(after)).containsExactly(0, 2);
    }

    @Test
    void whoIsEjectedBecauseItDoesNotAnswerIsToldToThoseWhoWaitThere() {
        Health health = health(4, POLICY);
        List<String> silent = new ArrayList<>();
        health.onUnresponsive((host, why) -> silent.add(host.endpoint().index() + " " + chosen(health)));
        for (int i = 0; i < 3; i++) {
            health.onAnswered(endpoint(0), 503);
        }
        assertThat(silent).as("a bad status is an answer").isEmpty();
        pass(10_000);
        health.review();
        for (int i = 0; i < 3; i++) {
            health.onUnreached(endpoint(0), Cause.DNS_FAILED);
            health.onReset(endpoint(1), nanos, ++nanos);
        }
        assertThat(states(health)).containsExactly(State.EJECTED, State.EJECTED, State.HEALTHY, State.HEALTHY);
        assertThat(silent)
                .as("nor do names without an address and resets mean silence")
                .isEmpty();
        for (int i = 0; i < 3; i++) {
            health.onUnreached(endpoint(2), Cause.CONNECT_TIMEOUT);
        }
        assertThat(silent).containsExactly("2 [3]");
        fail(health, 3);
        assertThat(silent).as("the last one stays in service").hasSize(1);
    }

    @Test
    void whoAnswersOthersMeanwhileIsOnlySlow() {
        Health health = health(3, POLICY);
        List<String> silent = new ArrayList<>();
        health.onUnresponsive((host, why) -> silent.add(host.endpoint().index() + " " + chosen(health)));
        health.hosts().get(0).onHeard(nanos - 400);
        health.hosts().get(1).onHeard(nanos - 600);
        for (int i = 0; i < 3; i++) {
            health.onUnanswered(endpoint(0), nanos - 1_000, nanos);
            health.onUnanswered(endpoint(1), nanos - 1_000, nanos);
        }
        assertThat(states(health)).containsExactly(State.EJECTED, State.EJECTED, State.HEALTHY);
        assertThat(silent).containsExactly("1 [2]");
    }

    @Test
    void whoIsSilentOnOneConnectionOnlyStaysInService() {
        Health health = health(3, POLICY);
        health.hosts().get(0).onHeard(nanos - 400);
        health.hosts().get(1).onHeard(nanos - 600);
        health.onSilent(endpoint(0), nanos - 500, "no PING");
        health.onSilent(endpoint(1), nanos - 500, "no PING");
        assertThat(states(health)).containsExactly(State.HEALTHY, State.EJECTED, State.HEALTHY);
        assertThat(health.hosts().get(0).isUnresponsive()).isFalse();
    }

    @Test
    void whoDoesNotAnswerChecksIsToldToThoseWhoWaitThereEachTime() {
        Health health = health(2, POLICY);
        List<String> silent = new ArrayList<>();
        health.onUnresponsive((host, why) -> silent.add(host.endpoint().index() + " " + chosen(health) + " " + why));
        health.onChecked(endpoint(0), "answered 503", false);
        assertThat(silent).isEmpty();
        health.onChecked(endpoint(0), "no answer in 300 ms", true);
        health.onChecked(endpoint(0), "no answer in 300 ms", true);
        assertThat(silent).containsExactly("0 [1] no answer in 300 ms", "0 [1] no answer in 300 ms");
        assertThat(told).containsExactly("0 is answered 503, 1 left");
    }

    @Test
    void panicIsToldByTheNextReview() {
        Health health = new Health(
                List.of(endpoint(0), endpoint(1)),
                RoundRobin::new,
                new HealthSettings(null, CheckValues.TCP, 60, 0),
                () -> nanos);
        tell(health);
        health.onChecked(endpoint(0), "refused");
        assertThat(health.isPanic()).isTrue();
        assertThat(chosen(health)).containsExactly(0, 1);
        health.review();
        health.review();
        health.onChecked(endpoint(0), null);
        health.review();
        assertThat(health.isPanic()).isFalse();
        assertThat(told)
                .containsExactly("0 is refused, 1 left", "panic, 1 left", "0 is well, 2 left", "no panic, 2 left");
    }

    @Test
    void oneEjectionIsToldOnceHoweverManyLoopsSeeFailures() throws InterruptedException {
        Health health = health(2, new OutlierDetection(OutlierDetection.Counts.ANY_FAILURE, 1, 10_000, 40_000, 50));
        CountDownLatch go = new CountDownLatch(1);
        List<Thread> loops = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread loop = new Thread(() -> {
                try {
                    go.await();
                } catch (InterruptedException e) {
                    return;
                }
                for (int n = 0; n < 1000; n++) {
                    health.onUnanswered(endpoint(0), 0, 0);
                }
            });
            loop.start();
            loops.add(loop);
        }
        go.countDown();
        for (Thread loop : loops) {
            loop.join();
        }
        assertThat(told).containsExactly("0 ejected for 10000, 1 left");
    }

    private Health health(int count, @Nullable OutlierDetection policy) {
        List<Endpoint> endpoints = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            endpoints.add(endpoint(i));
        }
        Health health = new Health(endpoints, RoundRobin::new, policy, null, () -> nanos);
        tell(health);
        return health;
    }

    private void tell(Health health) {
        health.tell(new HealthListener() {
            @Override
            public void onEjected(Endpoint endpoint, String reason, long millis, int inService) {
                told.add(endpoint.index() + " ejected for " + millis + ", " + inService + " left");
            }

            @Override
            public void onReturned(Endpoint endpoint) {
                told.add(endpoint.index() + " returned");
            }

            @Override
            public void onChecked(Endpoint endpoint, @Nullable String failure, int inService) {
                told.add(endpoint.index() + " is " + (failure == null ? "well" : failure) + ", " + inService + " left");
            }

            @Override
            public void onPanic(boolean panic, int inService) {
                told.add((panic ? "panic, " : "no panic, ") + inService + " left");
            }
        });
    }

    private static Endpoint endpoint(int index) {
        return new Endpoint(index, "192.0.2." + index, 80, 1);
    }

    private static void answerBadly(Health health, int index) {
        for (int times = 0; times < 3; times++) {
            health.onAnswered(endpoint(index), 503);
        }
    }

    private static void fail(Health health, int index) {
        for (int i = 0; i < POLICY.config().consecutive5xx(); i++) {
            health.onUnanswered(endpoint(index), 0, 0);
        }
    }

    private void pass(long millis) {
        nanos += TimeUnit.MILLISECONDS.toNanos(millis);
    }

    private static List<State> states(Health health) {
        return health.endpoints().stream()
                .map(each -> health.report(each).state())
                .toList();
    }

    private static Set<Integer> chosen(Health health) {
        Set<Integer> chosen = new TreeSet<>();
        for (int i = 0; i < 3 * health.endpoints().size(); i++) {
            chosen.add(Objects.requireNonNull(health.balancer().choose(BalancedRequest.after()))
                    .index());
        }
        return chosen;
    }
}
