package dev.gateway.observe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.Records;
import dev.gateway.stream.Cause;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is kept of the last ten minutes. */
class LastMinutesTest {
    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final Metrics metrics = new Metrics("1.2.3");
    private final LoopMetrics counters = metrics.newLoop(new TimerWheel(loop.eventLoop()), () -> 5);

    @AfterEach
    void close() {
        metrics.close();
        loop.finishAndReleaseAll();
    }

    private void seconds(int number) {
        for (int i = 0; i < number; i++) {
            metrics.sample();
        }
    }

    private int points() {
        return metrics.historyJson().split("\"time\":", -1).length - 1;
    }

    @Test
    void thereIsAPointEachFiveSecondsForTenMinutes() {
        assertThat(points()).isZero();
        seconds(1);
        assertThat(points()).as("the first sample has nothing to compare with").isZero();
        seconds(5);
        assertThat(points()).isEqualTo(1);
        seconds(594);
        assertThat(points()).isEqualTo(119);
        seconds(1000);
        assertThat(points()).isEqualTo(120);
    }

    @Test
    void aPointHasRatesByCodeAndCauseAndPercentiles() {
        seconds(1);
        ExchangeRecord record = Records.record("/", 502, Cause.CONNECT_FAILED);
        counters.onBegun(record);
        counters.onCompleted(record); // 3 ms
        seconds(5);
        assertThat(metrics.historyJson())
                .containsPattern("\"codes\":\\{\"5xx\":[0-9.E]+\\},\"causes\":\\{\"connect_failed\":[0-9.E]+\\},"
                        + "\"latency\":\\{\"requests\":1,\"p50\":0\\.00[23]");
        seconds(15);
        assertThat(metrics.historyJson())
                .containsPattern("\"codes\":\\{\\},\"causes\":\\{\\},\"latency\":\\{\"requests\":0,");
    }
}
