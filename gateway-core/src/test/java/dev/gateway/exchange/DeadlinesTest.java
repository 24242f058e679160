package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.route.Route;
import dev.gateway.message.FieldName;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The limits of one exchange, and what it does when they pass. */
class DeadlinesTest extends PartRig {
    private final Deadlines deadlines = exchange().deadlines;

    @AfterEach
    void end() {
        exchange().onReset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
    }

    /** The upstream has the head of the request. */
    private void open() {
        settings.route(List.of(), app(), Route.Timeouts.NONE, Route.Retry.NONE);
        enter();
        opener.last().succeed();
    }

    /** The upstream has the whole request. */
    private void send() {
        exchange().request.completeAtOnce();
        open();
    }

    private void assertFailed(String detail) {
        assertThat(records.completed).extracting(record -> record.detail).containsExactly(detail);
    }

    @Test
    void withoutLimitsNothingIsArmed() {
        deadlines.begin(0, 0, now);
        deadlines.attempt(0, now);
        deadlines.awaitHead(0, 0, now);
        assertThat(deadlines.isArmed()).isFalse();
    }

    @Test
    void aClientThatWaitsForConsentWaitsASecondOnce() {
        exchange().head.fields().add(FieldName.EXPECT, "100-continue");
        deadlines.awaitContinue();
        pass(500);
        deadlines.awaitContinue();
        pass(400);
        assertThat(client.heads).isEmpty();
        pass(200);
        assertThat(client.heads).extracting(ResponseHead::status).containsExactly(100);
        deadlines.awaitContinue();
        assertThat(deadlines.isArmed()).isFalse();
    }

    @Test
    void aRequestHasALimitInAll() {
        deadlines.begin(100, 0, now);
        pass(90);
        deadlines.touch();
        assertThat(exchange().isDone()).isFalse();
        pass(40);
        assertFailed("no whole response in 100 ms");
    }

    @Test
    void anAttemptHasOneUntilItIsOver() {
        send();
        deadlines.attempt(100, now);
        pass(50);
        deadlines.attemptOver();
        pass(100);
        assertThat(exchange().isDone()).isFalse();
        deadlines.attempt(100, now);
        pass(130);
        assertFailed("no whole response to the attempt in 100 ms");
    }

    @Test
    void anAttemptThatTakesAnothersPlaceHasItsOwnTime() {
        send();
        deadlines.attempt(200, now);
        pass(50);
        long began = now;
        pass(100);
        deadlines.replaceAttempt(200, began, 0, 0, began);
        pass(90);
        assertThat(exchange().isDone()).isFalse();
        pass(40);
        assertFailed("no whole response to the attempt in 200 ms");
    }

    @Test
    void anAttemptThatTakesAnothersPlaceHasWaitedForItsHeadAlready() {
        send();
        deadlines.begin(0, 1000, now);
        deadlines.awaitHead(500, 0, now);
        pass(50);
        long sent = now;
        pass(100);
        deadlines.replaceAttempt(0, sent, 200, 0, sent);
        pass(90);
        assertThat(exchange().isDone()).isFalse();
        pass(40);
        assertFailed("no response head in 200 ms");
    }

    @Test
    void aHeadIsAwaitedUntilItHasCome() {
        send();
        deadlines.awaitHead(100, 0, now);
        deadlines.headCame();
        pass(200);
        assertThat(exchange().isDone()).isFalse();
        deadlines.awaitHead(100, 0, now);
        pass(130);
        assertFailed("no response head in 100 ms");
    }

    @Test
    void theTimeForAHeadBeginsAnewWhileItIsTheClientsTurn() {
        open();
        deadlines.awaitHead(100, 0, now);
        pass(150);
        exchange().state.on(Event.REQUEST_ENDED);
        pass(40);
        assertThat(exchange().isDone()).isFalse();
        pass(50);
        assertFailed("the client has not sent the whole body: no response head in 100 ms");
    }

    @Test
    void bytesInMotionPutOffTheIdleLimit() {
        deadlines.begin(0, 100, now);
        for (int i = 0; i < 4; i++) {
            pass(70);
            deadlines.touch();
        }
        assertThat(exchange().isDone()).isFalse();
        pass(130);
        assertFailed("no byte in either direction in 100 ms");
    }

    @Test
    void aTunnelsLimitsTakeThePlaceOfAllOthers() {
        deadlines.begin(50, 50, now);
        deadlines.attempt(50, now);
        deadlines.awaitHead(50, 0, now);
        deadlines.tunnel(new TunnelTimeouts(Duration.ZERO, Duration.ZERO, Duration.ofMillis(200)), 0, now);
        pass(150);
        assertThat(exchange().isDone()).isFalse();
        pass(80);
        assertFailed("a tunnel open for 200 ms");
    }

    @Test
    void aTunnelIsReportedAgainAndAgain() {
        exchange().becomeTunnel();
        deadlines.tunnel(TunnelTimeouts.NONE, 100, now);
        for (int i = 0; i < 3; i++) {
            exchange().onReceived(1);
            pass(110);
        }
        assertThat(records.tunnels).containsExactly("open", "1 in, 0 out", "2 in, 0 out", "3 in, 0 out");
    }

    @Test
    void halfATunnelHasAnotherIdleLimit() {
        deadlines.tunnel(new TunnelTimeouts(Duration.ofMillis(1000), Duration.ofMillis(50), Duration.ZERO), 0, now);
        pass(100);
        deadlines.halfClosed();
        pass(80);
        assertFailed("no byte in either direction in 50 ms");
    }

    @Test
    void halfATunnelWithoutALimitOfItsOwnKeepsTheOther() {
        deadlines.tunnel(new TunnelTimeouts(Duration.ofMillis(100), Duration.ZERO, Duration.ZERO), 0, now);
        deadlines.halfClosed();
        pass(130);
        assertFailed("no byte in either direction in 100 ms");
    }

    @Test
    void aTunnelThatIsAskedToCloseHasOneLimitLeft() {
        deadlines.tunnel(new TunnelTimeouts(Duration.ofMillis(100), Duration.ZERO, Duration.ofMillis(1000)), 0, now);
        deadlines.awaitClose(200);
        pass(150);
        assertThat(exchange().isDone()).isFalse();
        pass(80);
        assertFailed("a tunnel open for 200 ms");
    }

    @Test
    void theNextAttemptIsDueOnce() {
        backOff();
        pass(90);
        assertThat(opener.openings).hasSize(1);
        pass(300);
        assertThat(opener.openings).hasSize(2);
        assertThat(deadlines.isArmed()).isFalse();
    }

    @Test
    void theNearestLimitComesFirst() {
        backOff();
        deadlines.begin(300, 0, now);
        pass(130);
        assertThat(opener.openings).hasSize(2);
        assertThat(exchange().isDone()).isFalse();
        pass(200);
        assertFailed("no whole response in 300 ms");
    }

    /** The first attempt is left, and the next one is due in 100 ms. */
    private void backOff() {
        settings.route(List.of(), app(), Route.Timeouts.NONE, Route.Retry.NONE);
        enter();
        exchange().state.on(Event.RETRY);
        deadlines.backOff(100);
    }

    @Test
    void timeIsSpentInMotionIfBytesMovedInItsLatterHalf() {
        deadlines.begin(100, 1000, now);
        assertThat(deadlines.isSpentInMotion()).isFalse();
        pass(70);
        deadlines.touch();
        pass(40);
        assertThat(deadlines.isSpentInMotion()).isTrue();
    }

    @Test
    void timeIsNotSpentInMotionIfNothingHasMovedSinceItsFirstHalf() {
        deadlines.begin(100, 1000, now);
        pass(20);
        deadlines.touch();
        pass(100);
        assertThat(deadlines.isSpentInMotion()).isFalse();
    }
}
