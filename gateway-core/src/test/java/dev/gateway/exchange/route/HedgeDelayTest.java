package dev.gateway.exchange.route;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How long the first attempt has. */
class HedgeDelayTest {
    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private final AnswerTimes times = new AnswerTimes();

    @Test
    void aFixedTimeNeedsNoAnswers() {
        HedgeDelay delay = HedgeDelay.fixed(200);
        assertThat(delay.millis(0)).isEqualTo(200);
        delay.onAnswered(5 * MILLI, 0);
        assertThat(delay.millis(1)).isEqualTo(200);
    }

    @Test
    void aPercentileFollowsTheAnswers() {
        HedgeDelay delay = HedgeDelay.percentile(950, 10, times);
        assertThat(delay.millis(0)).isEqualTo(HedgeDelay.UNKNOWN);
        for (int i = 0; i < 100; i++) {
            delay.onAnswered(100 * MILLI, 0);
        }
        assertThat(delay.millis(0)).as("it is found out a few times a second").isEqualTo(HedgeDelay.UNKNOWN);
        assertThat(delay.millis(100 * MILLI)).isBetween(90L, 115L);
    }

    @Test
    void itIsNeverShorterThanThePolicySays() {
        HedgeDelay delay = HedgeDelay.percentile(950, 10, times);
        for (int i = 0; i < 100; i++) {
            delay.onAnswered(MILLI, 0);
        }
        assertThat(delay.millis(0)).isEqualTo(10);
    }

    @Test
    void anotherGenerationKnowsWhatTheFormerOneHasLearned() {
        HedgeDelay former = HedgeDelay.percentile(950, 0, times);
        for (int i = 0; i < 1000; i++) {
            former.onAnswered(50 * MILLI, 0);
        }
        assertThat(HedgeDelay.percentile(990, 0, times).millis(0)).isBetween(45L, 57L);
    }
}
