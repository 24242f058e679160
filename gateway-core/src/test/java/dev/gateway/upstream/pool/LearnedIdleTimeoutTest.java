package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What is learned of how long an endpoint keeps what is idle. */
class LearnedIdleTimeoutTest {
    private static final long NEVER = Long.MAX_VALUE;

    private final LearnedIdleTimeout keepAlive = new LearnedIdleTimeout();
    private long now = TimeUnit.DAYS.toNanos(1);

    /** A connection has been idle for so long, and is closed; the next becomes idle a second later. */
    private void closedAfter(long millis) {
        long since = now;
        now += TimeUnit.MILLISECONDS.toNanos(millis);
        keepAlive.onClosed(since, now);
        now += TimeUnit.SECONDS.toNanos(1);
    }

    private void closedAfter(long... millis) {
        for (long each : millis) {
            closedAfter(each);
        }
    }

    @Test
    void aSecondIsLeftOrHalfOfWhatThereIs() {
        assertThat(LearnedIdleTimeout.within(5_000)).isEqualTo(4_000);
        assertThat(LearnedIdleTimeout.within(1_000)).isEqualTo(500);
        assertThat(LearnedIdleTimeout.within(0)).isZero();
        assertThat(LearnedIdleTimeout.within(NEVER)).isEqualTo(NEVER);
    }

    @Test
    void threeClosesAfterAboutTheSameTimeAreEnough() {
        closedAfter(75_010, 75_400);
        assertThat(keepAlive.shownMillis(now)).isEqualTo(NEVER);
        closedAfter(75_002);
        assertThat(keepAlive.shownMillis(now)).isEqualTo(74_002);
        assertThat(keepAlive.known()).isEqualTo(new LearnedIdleTimeout.Known(75_002, false));
    }

    @Test
    void closesAfterDifferentTimesTellNothing() {
        closedAfter(5_000, 9_000, 5_000, 30_000, 30_000, 7_000);
        assertThat(keepAlive.known()).isNull();
    }

    @Test
    void whatIsClosedAtOnceForOneReasonCountsOnce() {
        long since = now;
        now += TimeUnit.SECONDS.toNanos(12);
        for (int i = 0; i < 50; i++) {
            keepAlive.onClosed(since + i, now + i); // a restart after everybody was served
        }
        assertThat(keepAlive.known()).isNull();
    }

    @Test
    void whatIsClosedRightAwayHasOtherReasons() {
        closedAfter(20, 20, 20, 20);
        assertThat(keepAlive.known()).isNull();
    }

    @Test
    void anEndpointThatBecomesLessPatientIsBelieved() {
        closedAfter(75_000, 75_000, 75_000, 20_000, 20_000, 20_000);
        assertThat(keepAlive.shownMillis(now)).isEqualTo(19_000);
    }

    @Test
    void afterAWhileTheEndpointMayShowWhetherItHasBecomeMorePatient() {
        closedAfter(20_000, 20_000, 20_000);
        now += TimeUnit.MINUTES.toNanos(11);
        assertThat(keepAlive.shownMillis(now)).isEqualTo(NEVER);
        closedAfter(20_000); // it has not
        assertThat(keepAlive.shownMillis(now)).isEqualTo(19_000);
        now += TimeUnit.MINUTES.toNanos(11);
        assertThat(keepAlive.shownMillis(now)).isEqualTo(NEVER);
        closedAfter(60_000);
        assertThat(keepAlive.known()).isNull();
    }

    @Test
    void oneCloseConfirmsItWhateverElseWasClosedMeanwhile() {
        closedAfter(75_000, 75_000, 75_000, 12_000);
        now += TimeUnit.MINUTES.toNanos(11);
        assertThat(keepAlive.shownMillis(now)).isEqualTo(NEVER);
        closedAfter(75_000);
        assertThat(keepAlive.shownMillis(now)).isEqualTo(74_000);
    }

    @Test
    void whatIsSaidNoMoreIsForgottenAndWhatIsShownIsNot() {
        closedAfter(75_000, 75_000, 75_000);
        keepAlive.onSaid(5_000);
        keepAlive.onSaidNothing();
        assertThat(keepAlive.known()).isEqualTo(new LearnedIdleTimeout.Known(75_000, false));
    }

    @Test
    void theLeastOfWhatIsSaidAndShownCounts() {
        keepAlive.onSaid(5_000);
        assertThat(keepAlive.known()).isEqualTo(new LearnedIdleTimeout.Known(5_000, true));
        closedAfter(3_000, 3_000, 3_000);
        assertThat(keepAlive.known()).isEqualTo(new LearnedIdleTimeout.Known(3_000, false));
        keepAlive.onSaid(3_000);
        assertThat(keepAlive.known()).isEqualTo(new LearnedIdleTimeout.Known(3_000, true));
    }
}
