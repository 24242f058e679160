package dev.gateway.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How many streams an upstream is asked to take at a time after it has refused one. */
class StreamLimitTest {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final StreamLimit limit;
    private int raised;

    StreamLimitTest() {
        channel.freezeTime();
        limit = new StreamLimit(256, Pair.wheel(channel), () -> raised++);
    }

    @AfterEach
    void close() {
        channel.close();
    }

    private void aSecondPasses() {
        channel.advanceTimeBy(1_050, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
    }

    @Test
    void doublesAfterEachSecondWithoutAnAnswer() {
        limit.onRefused(10);
        assertThat(limit.current()).isEqualTo(10);
        aSecondPasses();
        assertThat(limit.current()).isEqualTo(20);
        assertThat(raised).isEqualTo(1);
    }

    @Test
    void doesNotDoubleInASecondWithAnAnswer() {
        limit.onRefused(10);
        limit.onAnswered();
        aSecondPasses();
        assertThat(limit.current()).isEqualTo(10);
        aSecondPasses();
        assertThat(limit.current()).isEqualTo(20);
    }

    /** An answer of long ago says nothing of an upstream that has stopped answering. */
    @Test
    void anAnswerBeforeTheLimitWasForgottenCountsNoMore() {
        limit.onRefused(10);
        limit.onAnswered();
        limit.onSaid(256);
        assertThat(limit.current()).isEqualTo(256);
        limit.onRefused(10);
        aSecondPasses();
        assertThat(limit.current()).isEqualTo(20);
    }

    @Test
    void risesByOneAfterAsManyAnswersAsStreams() {
        limit.onRefused(2);
        limit.onAnswered();
        limit.onAnswered();
        assertThat(limit.current()).isEqualTo(3);
    }

    @Test
    void whatTheUpstreamSaysIsTheMost() {
        limit.onSaid(3);
        limit.onRefused(2);
        aSecondPasses();
        assertThat(limit.current()).isEqualTo(3);
    }
}
