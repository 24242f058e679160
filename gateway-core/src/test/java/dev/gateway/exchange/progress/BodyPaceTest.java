package dev.gateway.exchange.progress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.settings.BodyRate;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When a client is too slow with a body: 100 bytes in a second, 60 seconds late at most. */
class BodyPaceTest {
    private static final BodyRate RATE = new BodyRate(100, 60_000);

    private long now = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(30); // it wraps round meanwhile
    private long received;
    private final BodyPace pace = new BodyPace(RATE, now);

    /** Lets seconds pass, in each of which so many bytes come; returns after how many the client is too slow, 0 if never. */
    private int pass(int seconds, int bytes, boolean isClientsTurn) {
        for (int i = 1; i <= seconds; i++) {
            now += TimeUnit.SECONDS.toNanos(1);
            received += bytes;
            if (pace.isTooSlow(received, isClientsTurn, now)) {
                return i;
            }
        }
        return 0;
    }

    @Test
    void whoSendsNothingIsTooSlowWhenTheGraceIsOver() {
        assertThat(pass(100, 0, true)).isEqualTo(61);
    }

    @Test
    void whoSendsAtHalfTheRateIsTooSlowAfterTwiceTheGrace() {
        assertThat(pass(200, 50, true)).isEqualTo(121);
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 101, 1 << 30})
    void whoKeepsUpMaySendForEver(int bytes) {
        assertThat(pass(10_000, bytes, true)).isZero();
    }

    @Test
    void aPauseIsForgivenButNothingIsSavedUpBeyondTheGrace() {
        pass(1, 1 << 30, true);
        assertThat(pass(60, 0, true)).isZero();
        pass(60, 200, true);
        assertThat(pass(100, 0, true)).isEqualTo(61);
    }

    @Test
    void timeInWhichTheClientIsNotWaitedForCostsNothing() {
        assertThat(pass(10_000, 0, false)).isZero();
        assertThat(pass(100, 0, true)).isEqualTo(61);
    }

    /** However a client spreads what it sends, it is ended once it is the grace behind, and never before. */
    @Test
    void aClientIsEndedExactlyWhenItIsBehindByTheGrace() {
        Random random = new Random(27);
        for (int run = 0; run < 1000; run++) {
            BodyPace each = new BodyPace(RATE, 0);
            double left = 60;
            long sent = 0;
            long time = 0;
            boolean slow = false;
            while (!slow && time < TimeUnit.HOURS.toNanos(1)) {
                int seconds = 1 + random.nextInt(5);
                int bytes = random.nextInt(900);
                time += TimeUnit.SECONDS.toNanos(seconds);
                sent += bytes;
                left = Math.min(60, left - seconds + bytes / 100.0);
                slow = each.isTooSlow(sent, true, time);
                assertThat(slow).isEqualTo(left < -1e-9);
            }
        }
    }

    @Test
    void aBodyIsLookedAtSeveralTimesWithinTheGraceButNotAllTheTime() {
        assertThat(RATE.periodMillis()).isEqualTo(5_000);
        assertThat(new BodyRate(1, 8_000).periodMillis()).isEqualTo(1_000);
        assertThat(new BodyRate(1, 1).periodMillis()).isEqualTo(100);
    }
}
