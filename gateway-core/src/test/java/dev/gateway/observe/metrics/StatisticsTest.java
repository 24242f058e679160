package dev.gateway.observe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.format.JsonText;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.Records;
import dev.gateway.observe.counts.FineHistogram;
import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the statistics say of the last seconds, of event loops, and how they are written. */
class StatisticsTest {
    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final Metrics metrics = new Metrics("1.2.3");
    private final LoopMetrics counters = metrics.newLoop(new TimerWheel(loop.eventLoop()), () -> 5);

    @AfterEach
    void close() {
        metrics.close();
        loop.finishAndReleaseAll();
    }

    private void request(long nanos) {
        ExchangeRecord record = Records.record("/", 200, null);
        record.endNanos = record.startNanos + nanos;
        counters.onBegun(record);
        counters.onCompleted(record);
    }

    @Test
    void quantilesAreThoseOfTheRequestsSinceTheOldestSample() {
        for (int i = 0; i < 100; i++) {
            request(20_000_000);
        }
        metrics.sample();
        for (int i = 0; i < 90; i++) {
            request(300_000);
        }
        for (int i = 0; i < 10; i++) {
            request(40_000_000_000L);
        }
        assertThat(metrics.statsJson())
                .contains("\"routes\":[{\"listener\":\"web\",\"route\":\"shop\",\"requests\":200,")
                .contains("\"recent\":{\"requests\":100,");
    }

    @Test
    void percentilesAreWithinAnEighthOfWhatWasMeasured() {
        for (long nanos = 40_000; nanos < 130_000_000_000L; nanos += nanos / 37) {
            int[] buckets = new int[FineHistogram.BUCKETS];
            FineHistogram histogram = new FineHistogram();
            histogram.record(nanos);
            histogram.addTo(buckets);
            double seconds = nanos / 1e9;
            for (double part : new double[] {0.001, 0.5, 1}) {
                assertThat(FineHistogram.quantile(part, buckets))
                        .isBetween(seconds * 8 / 9 - 1e-9, seconds * 9 / 8 + 1e-9);
            }
        }
    }

    @Test
    void whatIsShorterOrLongerThanAllBucketsIsToldByTheirEnds() {
        int[] buckets = new int[FineHistogram.BUCKETS];
        FineHistogram histogram = new FineHistogram();
        assertThat(FineHistogram.quantile(0.5, buckets)).isNaN();
        histogram.record(0);
        histogram.record(-1); // the clock of a machine that was moved
        histogram.record(Long.MAX_VALUE);
        histogram.addTo(buckets);
        assertThat(FineHistogram.count(buckets)).isEqualTo(3);
        assertThat(FineHistogram.quantile(0.5, buckets)).isBetween(0.0, 0.000_033);
        assertThat(FineHistogram.quantile(0.99, buckets)).isEqualTo(137.4, Offset.offset(0.1));
    }

    @Test
    void onlySoManyRoutesHaveAWindowOfTheirOwnAndTheirListenerHasThatOfAll() {
        for (int i = 0; i < 1200; i++) {
            ExchangeRecord record = Records.record("/", 200, null);
            record.route = "route-" + i;
            counters.onBegun(record);
            counters.onCompleted(record);
        }
        RecentRequests recent = new RecentRequests(List.of(counters));
        RecentRequests.Window window = recent.window();
        assertThat(window.buckets()).hasSize(1000 + 1);
        assertThat(FineHistogram.count(window.ofAll())).isEqualTo(1200);
    }

    @Test
    void anUpstreamHasPercentilesOfItsAttempts() {
        metrics.watchUpstreams(() -> List.of(new UpstreamState("app", "auto", List.of())));
        for (int i = 0; i < 10; i++) {
            ExchangeRecord record = Records.record("/", 200, null);
            record.endNanos = record.attemptNanos + 3_200_000_000L;
            counters.onAttemptBegun(record);
            counters.onAttemptEnded(record, 200, null, false);
        }
        assertThat(metrics.statsJson())
                .containsPattern("\"upstreams\":.*\"recent\":\\{\"requests\":10,\"p50\":3\\.[0-2]");
    }

    @Test
    void samplesAreForgottenAfterAWhile() {
        request(1_000_000);
        for (int i = 0; i < 11; i++) {
            metrics.sample();
        }
        assertThat(metrics.statsJson()).contains("\"recent\":{\"requests\":0,\"p50\":null,");
    }

    @Test
    void aLoopThatDoesNotAnswerLags() {
        List<Runnable> tasks = new ArrayList<>();
        long[] nanos = {Long.MAX_VALUE - 1_000_000_000L}; // it may wrap
        LoopLag lag = new LoopLag(tasks::add, () -> 5, () -> nanos[0]);
        assertThat(lag.seconds()).isZero();
        lag.probe();
        lag.probe(); // asks no more while an answer is owed
        assertThat(tasks).hasSize(1);
        assertThat(lag.seconds()).isZero();
        nanos[0] += 2_000_000_000L;
        assertThat(lag.seconds()).isEqualTo(2);
        nanos[0] += 1_000_000_000L;
        assertThat(lag.seconds()).isEqualTo(3);
        tasks.remove(0).run();
        nanos[0] += 1_000_000_000L;
        assertThat(lag.seconds()).as("once it has answered").isEqualTo(3);
        for (int i = 0; i < 10; i++) {
            assertThat(lag.seconds()).as("the longest of ten").isEqualTo(3);
            lag.probe();
            nanos[0] += 500_000_000L;
            tasks.remove(0).run();
        }
        lag.probe();
        tasks.remove(0).run();
        assertThat(lag.seconds()).as("of later probes").isEqualTo(0.5);
        assertThat(lag.pendingTasks()).isEqualTo(5);
    }

    @Test
    void documentsAreWellFormedWhateverNamesAreLike() {
        JsonText json = new JsonText();
        json.object().put("a\"b\\", "c\n\u00e9").put("n", -1).put("d", Double.NaN);
        json.object("o").endObject().array("list").object().put("x", true).endObject();
        json.object().endObject().endArray().put("m", Map.of("k", 2L)).put("l", new long[] {1, 2});
        json.put("f", new double[] {0.5}).endObject();
        assertThat(json)
                .hasToString("{\"a\\\"b\\\\\":\"c\\n\u00e9\",\"n\":-1,\"d\":null,\"o\":{},"
                        + "\"list\":[{\"x\":true},{}],\"m\":{\"k\":2},\"l\":[1,2],\"f\":[0.5]}");
    }
}
