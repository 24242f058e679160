package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.TunnelTimeouts;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The limits of one exchange, and what its owner is told when they pass. */
class DeadlinesTest extends PartRig {
    private final Deadlines deadlines = owner.deadlines();

    @AfterEach
    void end() {
        deadlines.cancel();
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
        deadlines.awaitContinue();
        pass(500);
        deadlines.awaitContinue();
        pass(400);
        assertThat(told).isEmpty();
        pass(200);
        assertThat(told).containsExactly("continue");
        deadlines.awaitContinue();
        assertThat(deadlines.isArmed()).isFalse();
    }

    @Test
    void aRequestHasALimitInAll() {
        deadlines.begin(100, 0, now);
        pass(90);
        deadlines.touch();
        assertThat(told).isEmpty();
        pass(40);
        assertThat(told).containsExactly("timeout: no whole response in 100 ms");
    }

    @Test
    void anAttemptHasOneUntilItIsOver() {
        deadlines.attempt(100, now);
        pass(50);
        deadlines.attemptOver();
        pass(100);
        assertThat(told).isEmpty();
        deadlines.attempt(100, now);
        pass(130);
        assertThat(told).containsExactly("attempt: no whole response to the attempt in 100 ms");
    }

    @Test
    void anAttemptThatTakesAnothersPlaceHasItsOwnTime() {
        deadlines.attempt(200, now);
        pass(50);
        long began = now;
        pass(100);
        deadlines.replaceAttempt(200, began, 0, 0, began);
        pass(90);
        assertThat(told).isEmpty();
        pass(40);
        assertThat(told).containsExactly("attempt: no whole response to the attempt in 200 ms");
    }

    @Test
    void anAttemptThatTakesAnothersPlaceHasWaitedForItsHeadAlready() {
        deadlines.begin(0, 1000, now);
        deadlines.awaitHead(500, 0, now);
        pass(50);
        long sent = now;
        pass(100);
        deadlines.replaceAttempt(0, sent, 200, 0, sent);
        pass(90);
        assertThat(told).isEmpty();
        pass(40);
        assertThat(told).containsExactly("attempt: no response head in 200 ms");
    }

    @Test
    void aHeadIsAwaitedUntilItHasCome() {
        deadlines.awaitHead(100, 0, now);
        deadlines.headCame();
        pass(200);
        assertThat(told).isEmpty();
        deadlines.awaitHead(100, 0, now);
        pass(130);
        assertThat(told).containsExactly("attempt: no response head in 100 ms");
    }

    @Test
    void theTimeForAHeadBeginsAnewWhileItIsTheClientsTurn() {
        owner.owesHead = false;
        deadlines.awaitHead(100, 0, now);
        pass(150);
        owner.owesHead = true;
        pass(40);
        assertThat(told).isEmpty();
        pass(50);
        assertThat(told).containsExactly("attempt: no response head in 100 ms");
    }

    @Test
    void bytesInMotionPutOffTheIdleLimit() {
        deadlines.begin(0, 100, now);
        for (int i = 0; i < 4; i++) {
            pass(70);
            deadlines.touch();
        }
        assertThat(told).isEmpty();
        pass(130);
        assertThat(told).containsExactly("idle_timeout: no byte in either direction in 100 ms");
    }

    @Test
    void aTunnelsLimitsTakeThePlaceOfAllOthers() {
        deadlines.begin(50, 50, now);
        deadlines.attempt(50, now);
        deadlines.awaitHead(50, 0, now);
        deadlines.tunnel(new TunnelTimeouts(Duration.ZERO, Duration.ZERO, Duration.ofMillis(200)), 0, now);
        pass(150);
        assertThat(told).isEmpty();
        pass(80);
        assertThat(told).containsExactly("max_duration: a tunnel open for 200 ms");
    }

    @Test
    void aTunnelIsReportedAgainAndAgain() {
        deadlines.tunnel(TunnelTimeouts.NONE, 100, now);
        pass(350);
        assertThat(told).containsExactly("report", "report", "report");
    }

    @Test
    void halfATunnelHasAnotherIdleLimit() {
        deadlines.tunnel(new TunnelTimeouts(Duration.ofMillis(1000), Duration.ofMillis(50), Duration.ZERO), 0, now);
        pass(100);
        deadlines.halfClosed();
        pass(80);
        assertThat(told).containsExactly("idle_timeout: no byte in either direction in 50 ms");
    }

    @Test
    void halfATunnelWithoutALimitOfItsOwnKeepsTheOther() {
        deadlines.tunnel(new TunnelTimeouts(Duration.ofMillis(100), Duration.ZERO, Duration.ZERO), 0, now);
        deadlines.halfClosed();
        pass(130);
        assertThat(told).containsExactly("idle_timeout: no byte in either direction in 100 ms");
    }

    @Test
    void aTunnelThatIsAskedToCloseHasOneLimitLeft() {
        deadlines.tunnel(new TunnelTimeouts(Duration.ofMillis(100), Duration.ZERO, Duration.ofMillis(1000)), 0, now);
        deadlines.awaitClose(200);
        pass(150);
        assertThat(told).isEmpty();
        pass(80);
        assertThat(told).containsExactly("max_duration: a tunnel open for 200 ms");
    }

    @Test
    void theNextAttemptIsDueOnce() {
        deadlines.backOff(100);
        pass(90);
        assertThat(told).isEmpty();
        pass(300);
        assertThat(told).containsExactly("backed off");
        assertThat(deadlines.isArmed()).isFalse();
    }

    @Test
    void theNearestLimitComesFirst() {
        deadlines.begin(300, 0, now);
        deadlines.backOff(100);
        pass(130);
        assertThat(told).containsExactly("backed off");
        pass(200);
        assertThat(told).containsExactly("backed off", "timeout: no whole response in 300 ms");
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
