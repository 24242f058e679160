package dev.gateway.observe.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.metrics.InstrumentType;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What becomes of metrics whose exporter never says. */
class MetricExportTest {
    private static final Receiver RECEIVER = new Receiver(
            "http://127.0.0.1:9",
            Map.of(),
            PlayedReceiver.link(),
            60_000,
            new Receiver.Service("gateway", "dev", "test"));

    private final MetricExport.Results results = new MetricExport.Results(new AtomicLong(), new AtomicLong());
    private final CountDownLatch asked = new CountDownLatch(1);

    private final class Hanging implements MetricExporter {
        @Override
        public AggregationTemporality getAggregationTemporality(InstrumentType type) {
            return AggregationTemporality.CUMULATIVE;
        }

        @Override
        public CompletableResultCode export(Collection<MetricData> metrics) {
            asked.countDown();
            return new CompletableResultCode();
        }

        @Override
        public CompletableResultCode flush() {
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode shutdown() {
            return CompletableResultCode.ofSuccess();
        }
    }

    private MetricExport export() {
        return new MetricExport(MetricSnapshots::new, RECEIVER, results, new Hanging());
    }

    @Test
    void anExportThatHangsIsCutOffAtTheEndAndTheLastOneWithIt() throws InterruptedException {
        MetricExport export = export();
        export.start(1);
        assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
        export.end();
        export.awaitEnd(System.nanoTime());
        assertThat(results.failed()).hasValue(2);
        assertThat(results.succeeded()).hasValue(0);
    }

    /** As when the clock was set back since: receivers take no interval that ends before it begins. */
    @Test
    void noMetricBeginsLaterThanItIsRead() {
        long tomorrow = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) + TimeUnit.DAYS.toNanos(1);
        CounterSnapshot counter = CounterSnapshot.builder()
                .name("counted")
                .dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder()
                        .value(7)
                        .build())
                .build();
        assertThat(OtlpMetrics.of(new MetricSnapshots(counter), RECEIVER.origin(), tomorrow))
                .singleElement()
                .satisfies(metric -> assertThat(metric.getDoubleSumData().getPoints())
                        .singleElement()
                        .satisfies(point ->
                                assertThat(point.getStartEpochNanos()).isLessThanOrEqualTo(point.getEpochNanos())));
    }

    @Test
    void whatWasNeverStartedSendsNothingAtTheEnd() {
        MetricExport export = export();
        export.end();
        export.awaitEnd(System.nanoTime() + TimeUnit.SECONDS.toNanos(20));
        assertThat(asked.getCount()).isEqualTo(1);
        assertThat(results.failed()).hasValue(0);
    }
}
