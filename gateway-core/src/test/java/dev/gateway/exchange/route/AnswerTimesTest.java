package dev.gateway.exchange.route;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What answers take at present, by a clock that the test moves. */
class AnswerTimesTest {
    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);
    private static final Percentage BUCKET = Percentage.withPercentage(13);

    private final AnswerTimes times = new AnswerTimes();
    private long now = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(15); // it wraps around in most tests

    private void answers(int count, long millis) {
        for (int i = 0; i < count; i++) {
            times.add(millis * MILLI, now);
        }
    }

    private void pass(long seconds) {
        now += TimeUnit.SECONDS.toNanos(seconds);
    }

    private long millis(int perMille) {
        long nanos = times.percentile(perMille, now);
        return nanos < 0 ? nanos : nanos / MILLI;
    }

    @Test
    void nothingIsKnownAtFirst() {
        assertThat(millis(950)).isEqualTo(AnswerTimes.UNKNOWN);
    }

    @ParameterizedTest
    @CsvSource({"500, 20", "900, 50", "950, 100", "990, 500", "999, 5000"})
    void aPercentileIsKnownWhenSomeAnswersAreAboveIt(int perMille, int needed) {
        answers(needed - 1, 10);
        assertThat(millis(perMille)).isEqualTo(AnswerTimes.UNKNOWN);
        answers(1, 10);
        assertThat(millis(perMille)).isCloseTo(10, Percentage.withPercentage(25));
    }

    @Test
    void itIsThatOfAllAnswers() {
        for (int i = 1; i <= 1000; i++) {
            times.add(i * MILLI, now);
        }
        assertThat(millis(500)).isCloseTo(500, BUCKET);
        assertThat(millis(950)).isCloseTo(950, BUCKET);
        assertThat(millis(990)).isCloseTo(990, BUCKET);
    }

    @Test
    void whatWasTwentySecondsAgoIsForgotten() {
        answers(200, 500);
        assertThat(millis(950)).isCloseTo(500, BUCKET);
        pass(10);
        assertThat(millis(950)).isCloseTo(500, BUCKET);
        answers(200, 10);
        assertThat(millis(950)).as("half of the answers are old").isCloseTo(500, BUCKET);
        pass(10);
        assertThat(millis(950)).as("old ones count once more").isCloseTo(500, BUCKET);
        answers(10, 10);
        assertThat(millis(950)).isCloseTo(10, BUCKET);
    }

    /** One request in a second: a hundred answers take as many seconds. */
    @Test
    void whereThereAreFewAnswersOlderOnesCount() {
        for (int i = 0; i < 100; i++) {
            assertThat(millis(950)).isEqualTo(AnswerTimes.UNKNOWN);
            answers(1, 40);
            pass(1);
        }
        for (int i = 0; i < 300; i++) {
            assertThat(millis(950)).isCloseTo(40, BUCKET);
            answers(1, 40);
            pass(1);
        }
    }

    @Test
    void whatWasLongAgoCountsNoMoreHoweverFewAnswersThereAre() {
        answers(200, 40);
        pass(301);
        assertThat(millis(950)).isCloseTo(40, BUCKET);
        pass(301);
        millis(950);
        assertThat(millis(950)).isEqualTo(AnswerTimes.UNKNOWN);
        answers(200, 40);
        pass(3600);
        assertThat(millis(950)).isEqualTo(AnswerTimes.UNKNOWN);
    }

    /** Of an attempt that lost, only its time so far is known, which is the percentile. That must not make it fall. */
    @Test
    void itStaysWhereItIsAlthoughWhatTakesLongerIsCutOff() {
        Random random = new Random(7);
        HedgeDelay delay = HedgeDelay.percentile(900, 0, times);
        for (int i = 0; i < 20_000; i++) {
            now += 10 * MILLI;
            long taken = random.nextInt(100) + 1L;
            long cut = delay.millis(now);
            times.add((cut == HedgeDelay.UNKNOWN ? taken : Math.min(taken, cut + 1)) * MILLI, now);
        }
        assertThat(delay.millis(now)).isBetween(75L, 110L);
    }
}
