package dev.gateway.overload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.gateway.config.OverloadConfig;
import dev.gateway.config.value.Position;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How long event loops make everything wait, as two loops that the test plays; the limit is one second. */
class LagPressureTest {
    private long now = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(1); // it wraps round meanwhile
    private final Queue<Runnable> first = new ArrayDeque<>();
    private final Queue<Runnable> second = new ArrayDeque<>();
    private final LagPressure pressure = new LagPressure(List.of(first::add, second::add), () -> now);

    /** Lets a time pass between two looks, after which the loops run what waits for them, or not. */
    private double look(long millis, boolean firstRuns) {
        double level = pressure.level();
        now += TimeUnit.MILLISECONDS.toNanos(millis);
        run(second);
        if (firstRuns) {
            run(first);
        }
        return level;
    }

    private static void run(Queue<Runnable> loop) {
        for (Runnable task = loop.poll(); task != null; task = loop.poll()) {
            task.run();
        }
    }

    @Test
    void loopsThatAnswerAtOnceHaveNoPressure() {
        for (int i = 0; i < 20; i++) {
            assertThat(pressure.level()).isZero();
            run(first);
            run(second);
        }
    }

    /** Such as one garbage collection. */
    @Test
    void aSingleLongWaitDoesNotCount() {
        for (int i = 0; i < 10; i++) {
            look(0, true);
        }
        look(60_000, true);
        for (int i = 0; i < 10; i++) {
            assertThat(look(0, true)).isZero();
        }
    }

    @Test
    void theShortestOfFiveWaitsInARowCounts() {
        for (int i = 0; i < 5; i++) {
            assertThat(look(1500 - 100L * i, true)).isZero();
        }
        assertThat(look(0, true)).isEqualTo(0.85 + 0.07 * 0.1, within(1e-9));
        assertThat(pressure.text(0.857)).as("for people").isEqualTo("1100 ms");
    }

    @Test
    void halfTheLimitIsHalfTheLevelAndTwiceTheLimitRefusesRequests() {
        for (int i = 0; i < 6; i++) {
            look(500, true);
        }
        assertThat(pressure.level()).isEqualTo(0.425, within(1e-9));
        run(first);
        run(second);
        for (int i = 0; i < 6; i++) {
            look(2001, true);
        }
        assertThat(pressure.level()).isGreaterThan(0.92);
    }

    @Test
    void aLoopThatDoesNotAnswerHasTheLagOfTheProbeThatItOwes() {
        for (int i = 0; i < 5; i++) {
            look(3000, true);
        }
        look(5000, false); // its answer is owed
        assertThat(look(0, true)).isGreaterThan(0.92);
        for (int i = 0; i < 3; i++) {
            look(0, true);
        }
        assertThat(pressure.level()).isZero();
    }

    @Test
    void withoutALimitNoLoopIsAsked() {
        pressure.configure(new OverloadConfig(Position.NOWHERE, 0.85, 0.85, 0.85, Duration.ZERO, 0));
        assertThat(pressure.level()).isZero();
        assertThat(first).isEmpty();
    }

    @Test
    void aLoopThatHasEndedHasNone() {
        LagPressure ended = new LagPressure(
                List.of(task -> {
                    throw new RejectedExecutionException();
                }),
                () -> now);
        for (int i = 0; i < 10; i++) {
            assertThat(ended.level()).isZero();
            now += TimeUnit.SECONDS.toNanos(10);
        }
    }
}
