package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.RetryConfig.Budget;
import dev.gateway.exchange.route.RetryValues;
import dev.gateway.exchange.route.Route.Retry;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.StreamEvents;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.OutlierDetection;
import dev.gateway.upstream.Upstream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An endpoint that takes requests and answers none. */
class SilentEndpointTest extends ExchangeRig {
    private static final int SILENT_MILLIS = 1000;

    @BeforeEach
    void setPolicy() {
        retry = policy(RetryValues.budget(20, 10));
        responseHeadersMillis = 5000;
        outliers = new OutlierDetection(OutlierDetection.Counts.ABSENCE, 5, 1000, 1000, 100);
    }

    private static Retry policy(Budget budget) {
        return policy(budget, SILENT_MILLIS);
    }

    private static Retry policy(Budget budget, long silentMillis) {
        return RetryValues.of(
                1, RetryValues.ALL, Set.of(503), "GET", RetryValues.waiting(0, true, silentMillis, 0), budget);
    }

    private Upstream app() {
        return Objects.requireNonNull(app);
    }

    @Test
    void isLeftForAnother() {
        get();
        opener.last().succeed();
        pass(990);
        assertThat(opener.openings).hasSize(1);
        pass(30);
        assertThat(opener.openings.get(0).stream.reset).isNotNull();
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().cause).isNull();
        assertThat(records.attempts).containsExactly("upstream_timeout again", "200");
        assertThat(app().health().report(FIRST).failures()).isEqualTo(1);
    }

    /** Long answers are usual, and nobody but the operator knows how long. */
    @Test
    void isNotLeftByDefault() {
        useDefaults();
        get();
        opener.last().succeed();
        pass(20_000);
        assertThat(opener.openings).hasSize(1);
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
        assertThat(record().attempts).isEqualTo(1);
        assertThat(app().health().report(FIRST).failures()).isZero();
    }

    /** It may still be at work, and would be twice. */
    @Test
    void isNotLeftWhenTheTimeForTheHeadIsOver() {
        retry = policy(RetryValues.budget(20, 10), 0);
        get();
        opener.last().succeed();
        pass(5100);
        assertThat(opener.openings).hasSize(1);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
        assertThat(record().attempts).isEqualTo(1);
        assertThat(app().health().report(FIRST).failures()).isEqualTo(1);
    }

    @Test
    void isWaitedForIfThereIsNoOther() {
        endpoints = List.of(FIRST);
        get();
        opener.last().succeed();
        pass(4900);
        assertThat(opener.openings).hasSize(1);
        pass(200);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
        assertThat(record().attempts).isEqualTo(1);
    }

    @Test
    void isWaitedForIfAllHaveBeenTried() {
        get();
        opener.last().succeed();
        pass(1020);
        opener.last().succeed();
        pass(4900);
        assertThat(opener.openings).hasSize(2);
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
    }

    /** Of so many endpoints some have no bit among those that were tried. */
    @Test
    void isWaitedForIfItIsTheOnlyOneOfManyThatMayBeUsed() {
        List<Endpoint> all = new ArrayList<>();
        for (int i = 0; i <= Long.SIZE; i++) {
            all.add(new Endpoint(i, "app" + i + ".test", 9000, 1));
        }
        endpoints = all;
        Endpoint last = all.get(Long.SIZE);
        balancer = request -> last;
        route();
        all.subList(0, Long.SIZE).forEach(each -> app().health().drain(each.toString(), true));
        handler().onRequest(client, head("GET", "/"), true);
        opener.last().succeed();
        pass(4000);
        assertThat(opener.openings).hasSize(1);
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
    }

    /** It may be the request that is slow, and not all of them dead. */
    @Test
    void isLeftAsOftenAsThePolicySaysIfNobodyAnswers() {
        endpoints = List.of(FIRST, SECOND, new Endpoint(2, "app3.test", 9000, 1));
        get();
        opener.last().succeed();
        pass(1020);
        assertThat(opener.openings).hasSize(2);
        opener.last().succeed();
        pass(4900);
        assertThat(opener.openings).hasSize(2);
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
        assertThat(app().health().report(SECOND).failures()).isZero();
    }

    @Test
    void isLeftWheneverAnotherAnswers() {
        Endpoint third = new Endpoint(2, "app3.test", 9000, 1);
        endpoints = List.of(FIRST, SECOND, third);
        get();
        opener.last().succeed();
        pass(1020);
        opener.last().succeed();
        pass(500);
        app().hosts().get(2).onHeard(now);
        pass(520);
        assertThat(opener.openings).hasSize(3);
        assertThat(opener.last().endpoint).isEqualTo(third);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(records.attempts).containsExactly("upstream_timeout again", "upstream_timeout again", "200");
    }

    @Test
    void isNotSilentIfItAnswersOthers() {
        get();
        opener.last().succeed();
        pass(500);
        app().hosts().get(0).onHeard(now);
        pass(4000);
        assertThat(opener.openings).hasSize(1);
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
    }

    @Test
    void isNotSilentIfItAnswersTheOthersOfABurst() {
        route();
        app().hosts().get(0).onHeard(now);
        handler().onRequest(client, head("GET", "/"), true);
        opener.last().succeed();
        pass(20);
        app().hosts().get(0).onHeard(now);
        pass(4000);
        assertThat(opener.openings).hasSize(1);
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
    }

    @Test
    void isNotSilentIfItSaysThatItWorksOnTheRequest() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(103), false);
        pass(4000);
        assertThat(opener.openings).hasSize(1);
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void keepsARequestThatMayActTwice() {
        request("POST", "/", true);
        opener.last().succeed();
        pass(4000);
        assertThat(opener.openings).hasSize(1);
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void waitsForTheClientsBody() {
        retry = policy(RetryValues.budget(20, 10), 3000);
        StreamEvents events = request("GET", "/", false);
        opener.last().succeed();
        pass(4000);
        events.onData(bytes("x"), false);
        pass(1000);
        events.onData(bytes("x"), true);
        pass(2900);
        assertThat(opener.openings).hasSize(1);
        pass(200);
        assertThat(opener.openings).hasSize(2);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
    }

    /** The attempt is still good for an answer, which the client gets later, if at all. */
    @Test
    void isLeftLaterIfTheBudgetIsUsedUp() {
        retry = policy(RetryValues.budget(0, 1), 1500);
        get();
        assertThat(records.begun).isEqualTo(1);
        opener.last().succeed();
        pass(1200); // into the second of which one retry is left
        assertThat(app().retryBudget().tryTake(now, 0, 1)).isTrue();
        pass(310);
        assertThat(app().retryBudget().tryTake(now, 0, 1)).isFalse();
        assertThat(opener.openings).hasSize(1);
        pass(1010);
        assertThat(opener.openings).hasSize(2);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
    }

    // ---- checks or other requests have found that it does not answer

    @Test
    void isLeftAtOnceWhenItIsFoundNotToAnswer() {
        get();
        opener.last().succeed();
        pass(20);
        opener.last().events.onUnresponsive("no answer in 300 ms");
        assertThat(opener.openings).hasSize(2);
        assertThat(opener.openings.get(0).stream.reset).isNotNull();
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().cause).isNull();
        assertThat(records.attempts).containsExactly("upstream_timeout again", "200");
        assertThat(app().health().report(FIRST).failures())
                .as("it was judged before")
                .isZero();
    }

    /** Of the body, all is kept. */
    @Test
    void isLeftAtOnceAlsoInTheMiddleOfABody() {
        StreamEvents events = request("GET", "/", false);
        opener.last().succeed();
        events.onData(bytes("ab"), false);
        opener.last().events.onUnresponsive("refused");
        assertThat(opener.openings).hasSize(2);
        opener.last().succeed();
        events.onData(bytes("cd"), true);
        assertThat(upstream().body.toString()).isEqualTo("abcd");
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void isWaitedForIfItIsTheOnlyOneThoughItWasFoundNotToAnswer() {
        endpoints = List.of(FIRST);
        closeOnFailure = true;
        get();
        opener.last().succeed();
        opener.last().events.onUnresponsive("refused");
        assertThat(opener.openings).hasSize(1);
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
    }

    /** Behind its address there may be several machines, of which one has gone. */
    @Test
    void isAskedAgainOnAnotherConnectionIfOnlyThisOneIsLost() {
        endpoints = List.of(FIRST);
        get();
        opener.last().succeed();
        pass(20);
        app().hosts().get(0).onHeard(now);
        opener.last().events.onUnresponsive("it has acknowledged nothing for 10 s");
        assertThat(opener.openings).hasSize(2);
        assertThat(opener.openings.get(0).stream.reset).isNotNull();
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().cause).isNull();
        assertThat(records.attempts).containsExactly("upstream_timeout again", "200");
    }

    @Test
    void isWaitedForIfItIsTheOnlyOneAndOutOfServiceThoughItAnsweredOthers() {
        endpoints = List.of(FIRST);
        get();
        opener.last().succeed();
        pass(20);
        app().hosts().get(0).onHeard(now);
        app().health().drain(FIRST.toString(), true);
        opener.last().events.onUnresponsive("refused");
        assertThat(opener.openings).hasSize(1);
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
    }

    @Test
    void isWaitedForIfItIsTheOnlyOneAndHasAnsweredNobodyForAsLong() {
        endpoints = List.of(FIRST);
        responseHeadersMillis = 30_000;
        get();
        opener.last().succeed();
        pass(20);
        app().hosts().get(0).onHeard(now);
        pass(10_500);
        opener.last().events.onUnresponsive("it has acknowledged nothing for 10 s");
        assertThat(opener.openings).hasSize(1);
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
    }

    @Test
    void isWaitedForWhileTheBudgetIsUsedUpAndLeftWhenItIsNot() {
        retry = policy(RetryValues.budget(0, 1));
        get();
        opener.last().succeed();
        assertThat(app().retryBudget().tryTake(now, 0, 1)).isTrue();
        opener.last().events.onUnresponsive("refused");
        assertThat(opener.openings).hasSize(1);
        pass(900); // before it is given up as silent
        app().hosts().get(0).onHeard(now);
        pass(200);
        opener.last().events.onUnresponsive("refused");
        assertThat(opener.openings).hasSize(2);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().cause).isNull();
    }

    @Test
    void keepsARequestThatMayActTwiceUntilItsTimeIsOver() {
        request("POST", "/", true);
        opener.last().succeed();
        opener.last().events.onUnresponsive("refused");
        pass(4900);
        assertThat(opener.openings).hasSize(1);
        assertThat(opener.last().stream.reset).isNull();
        pass(200);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
    }

    @Test
    void failsSuchARequestAtOnceIfTheUpstreamSaysSo() {
        closeOnFailure = true;
        request("POST", "/", true);
        opener.last().succeed();
        opener.last().events.onUnresponsive("refused");
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
        assertThat(record().detail).isEqualTo("the endpoint was found not to answer: refused");
        assertThat(opener.last().stream.reset).isNotNull();
        assertThat(opener.openings).hasSize(1);
    }

    /** DNS removes an endpoint that is gone sooner than the time for the head is over. */
    @Test
    void failsSuchARequestByItsSilenceWhenTheEndpointIsRemoved() {
        request("POST", "/", true);
        opener.last().succeed();
        opener.last().events.onUnresponsive("it has acknowledged nothing for 10 s");
        opener.last().events.onReset(Failure.of(Cause.DRAIN, "removed"));
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
        assertThat(record().detail)
                .isEqualTo("the endpoint was found not to answer: it has acknowledged nothing for 10 s");
    }

    /** It may have been silent for a moment, hours ago. */
    @Test
    void isRemovedWhileAResponseIsComing() {
        request("GET", "/", true);
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onUnresponsive("it has acknowledged nothing for 10 s");
        opener.last().events.onReset(Failure.of(Cause.DRAIN, "removed"));
        assertThat(record().cause).isEqualTo(Cause.DRAIN);
    }

    @Test
    void doesNotCountAsSilentIfItIsRemovedWhileItMayAnswer() {
        request("POST", "/", true);
        opener.last().succeed();
        opener.last().events.onReset(Failure.of(Cause.DRAIN, "removed"));
        assertAnswered(503, Cause.DRAIN);
    }

    @Test
    void keepsAResponseThatHasBegun() {
        closeOnFailure = true;
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onUnresponsive("refused");
        assertThat(opener.openings).hasSize(1);
        assertThat(opener.last().stream.reset).isNull();
        opener.last().events.onData(bytes("x"), true);
        assertThat(record().status).isEqualTo(200);
        assertThat(record().cause).isNull();
    }
}
