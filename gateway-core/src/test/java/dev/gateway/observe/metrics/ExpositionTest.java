package dev.gateway.observe.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.gateway.observe.counts.Histogram;
import dev.gateway.observe.trace.TraceLink;
import io.prometheus.metrics.model.snapshots.Exemplar;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What several event loops have counted becomes one sample. */
class ExpositionTest {
    @Test
    void countersAndGaugesOfTheSameLabelsAreAddedUp() {
        Map<String, Double> samples = Samples.of(out -> {
            out.counter("gateway_seen", "What was seen.", 2, "kind", "a");
            out.counter("gateway_seen", "What was seen.", 3, "kind", "a");
            out.counter("gateway_seen", "What was seen.", 4, "kind", "b");
            out.gauge("gateway_now", "What there is.", 1);
            out.gauge("gateway_now", "What there is.", 0.5);
            out.info("gateway_place", "Where it is.", "zone", "eu-1");
        });
        assertThat(samples)
                .isEqualTo(Map.of(
                        "gateway_seen_total{kind=\"a\"}",
                        5.0,
                        "gateway_seen_total{kind=\"b\"}",
                        4.0,
                        "gateway_now",
                        1.5,
                        "gateway_place_info{zone=\"eu-1\"}",
                        1.0));
    }

    @Test
    void theOrderOfLabelsMakesNoOtherSample() {
        assertThat(Samples.of(out -> {
                    out.counter("gateway_seen", "What was seen.", 2, "kind", "a", "side", "b");
                    out.counter("gateway_seen", "What was seen.", 3, "side", "b", "kind", "a");
                }))
                .isEqualTo(Map.of("gateway_seen_total{kind=\"a\",side=\"b\"}", 5.0));
    }

    @Test
    void histogramsOfLoopsAndSumsAreAddedUp() {
        Histogram loop = new Histogram(Histogram.Buckets.ENDPOINT); // 5, 25, 100, 500 ms, 2.5 s, 10 s
        loop.record(1_000_000);
        loop.record(20_000_000_000L); // 20 s
        assertThat(Samples.of(out -> {
                    out.histogram("gateway_time_seconds", "How long.", loop, "kind", "a");
                    out.histogram(
                            "gateway_time_seconds",
                            "How long.",
                            Histogram.Buckets.ENDPOINT.seconds(),
                            new long[] {0, 2, 0, 0, 0, 0, 1},
                            0.5,
                            "kind",
                            "a");
                }))
                .containsEntry("gateway_time_seconds_bucket{kind=\"a\",le=\"0.005\"}", 1.0)
                .containsEntry("gateway_time_seconds_bucket{kind=\"a\",le=\"0.025\"}", 3.0)
                .containsEntry("gateway_time_seconds_bucket{kind=\"a\",le=\"10.0\"}", 3.0)
                .containsEntry("gateway_time_seconds_bucket{kind=\"a\",le=\"+Inf\"}", 5.0)
                .containsEntry("gateway_time_seconds_count{kind=\"a\"}", 5.0)
                .containsEntry("gateway_time_seconds_sum{kind=\"a\"}", 20.501);
    }

    @Test
    void aBucketShowsOneTraceOfAnyLoop() {
        Histogram first = new Histogram(Histogram.Buckets.ENDPOINT);
        Histogram second = new Histogram(Histogram.Buckets.ENDPOINT);
        first.record(2_000_000, new TraceLink("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"));
        second.record(30_000_000, new TraceLink("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"));
        second.record(3_000_000, null);
        Exposition out = new Exposition();
        out.histogram("gateway_time_seconds", "How long.", first);
        out.histogram("gateway_time_seconds", "How long.", second);
        HistogramSnapshot snapshot = (HistogramSnapshot) out.snapshots().get(0);
        assertThat(snapshot.getDataPoints().get(0).getExemplars())
                .extracting(
                        each -> each.getLabels().get("trace_id"),
                        each -> each.getLabels().get("span_id"),
                        Exemplar::getValue)
                .containsExactlyInAnyOrder(
                        tuple("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", 0.002),
                        tuple("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", 0.03));
    }

    @Test
    void eachScrapeReadsAnew() {
        long[] count = {1};
        var collector = Exposition.collector(out -> out.counter("gateway_seen", "What was seen.", count[0]));
        assertThat(Samples.of(collector.collect())).isEqualTo(Map.of("gateway_seen_total", 1.0));
        count[0] = 5;
        assertThat(Samples.of(collector.collect())).isEqualTo(Map.of("gateway_seen_total", 5.0));
    }
}
