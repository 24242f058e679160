package dev.gateway.observe;

import static org.assertj.core.api.Assertions.assertThat;

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
        RecentRequests recent = new RecentRequests(List.of(counters));
        long[] all = recent.window().buckets().getOrDefault(new RecentRequests.Key("web", "shop"), new long[0]);
        assertThat(RecentRequests.count(all)).isEqualTo(200);
        assertThat(metrics.statsJson())
                .contains("\"routes\":[{\"listener\":\"web\",\"route\":\"shop\",\"requests\":200,")
                .contains("\"recent\":{\"requests\":100,");
        long[] buckets = new long[Histogram.REQUEST_SECONDS.length + 1];
        buckets[2] = 90; // 0.25 to 0.5 ms
        buckets[buckets.length - 1] = 10;
        assertThat(RecentRequests.quantile(0.5, buckets)).isEqualTo(0.000_25 + 0.000_25 * 50 / 90, Offset.offset(1e-9));
        assertThat(RecentRequests.quantile(0.99, buckets)).isEqualTo(10);
        assertThat(RecentRequests.quantile(0.5, new long[buckets.length])).isNaN();
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
        LoopHealth health = new LoopHealth(tasks::add, () -> 5);
        assertThat(health.lagSeconds()).isZero();
        health.probe();
        health.probe(); // asks no more while an answer is owed
        assertThat(tasks).hasSize(1);
        double waiting = health.lagSeconds();
        assertThat(waiting).isPositive();
        assertThat(health.lagSeconds()).isGreaterThan(waiting);
        tasks.remove(0).run();
        double answered = health.lagSeconds();
        assertThat(answered).isGreaterThan(waiting).isEqualTo(health.lagSeconds());
        for (int i = 0; i < 11; i++) {
            health.probe();
            tasks.remove(0).run();
        }
        assertThat(health.lagSeconds()).as("of later probes").isNotEqualTo(answered);
        assertThat(health.pendingTasks()).isEqualTo(5);
    }

    @Test
    void documentsAreWellFormedWhateverNamesAreLike() {
        JsonText json = new JsonText();
        json.object().put("a\"b\\", "c\n\u00e9").put("n", -1).put("d", Double.NaN);
        json.object("o").endObject().array("list").object().put("x", true).endObject();
        json.object().endObject().endArray().put("m", Map.of("k", 2L)).put("l", new long[] {1, 2});
        json.put("f", new double[] {0.5}).endObject();
        assertThat(json)
                .hasToString("{\"a\\\"b\\\\\":\"c\\u000a\\u00e9\",\"n\":-1,\"d\":null,\"o\":{},"
                        + "\"list\":[{\"x\":true},{}],\"m\":{\"k\":2},\"l\":[1,2],\"f\":[0.5]}");
    }
}
