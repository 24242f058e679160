package dev.gateway.protocol.http2;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StreamLimitTest {
    private static final int TICKS = 110; // somewhat more than a second

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private long nanos;
    private int raised;
    private StreamLimit limit;

    @BeforeEach
    void make() {
        channel.freezeTime();
        limit = new StreamLimit(100, new TimerWheel(channel.eventLoop(), () -> nanos), () -> raised++);
    }

    @AfterEach
    void close() {
        limit.cancel();
        channel.finishAndReleaseAll();
    }

    private void passASecond() {
        for (int i = 0; i < TICKS; i++) {
            nanos += TimeUnit.MILLISECONDS.toNanos(TimerWheel.TICK_MILLIS);
            channel.advanceTimeBy(TimerWheel.TICK_MILLIS, TimeUnit.MILLISECONDS);
            channel.runScheduledPendingTasks();
        }
    }

    private void answer(int times) {
        for (int i = 0; i < times; i++) {
            limit.onAnswered();
        }
    }

    @Test
    void whatIsAssumedHoldsUntilTheUpstreamSaysANumber() {
        assertThat(limit.current()).isEqualTo(100);
        limit.onSaid(250);
        assertThat(limit.current()).isEqualTo(250);
        limit.onSaid(0);
        assertThat(limit.current()).isZero();
    }

    @Test
    void aRefusedStreamShowsHowManyAreTaken() {
        limit.onRefused(20);
        assertThat(limit.current()).isEqualTo(20);
        limit.onRefused(30);
        assertThat(limit.current()).as("the least counts").isEqualTo(20);
        limit.onRefused(5);
        assertThat(limit.current()).isEqualTo(5);
    }

    @Test
    void risesByOneAfterAsManyAnswersAsItAllowsStreams() {
        limit.onRefused(3);
        answer(2);
        assertThat(limit.current()).isEqualTo(3);
        answer(1);
        assertThat(limit.current()).isEqualTo(4);
        answer(4);
        assertThat(limit.current()).isEqualTo(5);
    }

    @Test
    void doublesAfterEachSecondWithoutAnAnswerAndTellsSo() {
        limit.onRefused(0);
        assertThat(limit.current()).isZero();
        passASecond();
        assertThat(limit.current()).isEqualTo(1);
        assertThat(raised).isOne();
        passASecond();
        assertThat(limit.current()).isEqualTo(2);
        for (int i = 0; i < 7; i++) {
            passASecond();
        }
        assertThat(limit.current()).isEqualTo(100);
        assertThat(limit.isArmed()).as("nothing is left to raise").isFalse();
    }

    @Test
    void doesNotDoubleInASecondWithAnswers() {
        limit.onRefused(10);
        answer(1);
        passASecond();
        assertThat(limit.current()).isEqualTo(10);
        passASecond();
        assertThat(limit.current()).isEqualTo(20);
    }

    @Test
    void whatTheUpstreamSaysAnewIsItsLastWord() {
        limit.onRefused(5);
        limit.onSaid(50);
        assertThat(limit.current()).isEqualTo(50);
        assertThat(limit.isArmed()).isFalse();
    }

    @Test
    void answersChangeNothingWhileNothingWasRefused() {
        answer(1000);
        assertThat(limit.current()).isEqualTo(100);
        assertThat(limit.isArmed()).isFalse();
    }
}
