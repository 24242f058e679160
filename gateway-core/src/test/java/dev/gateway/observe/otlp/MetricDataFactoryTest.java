package dev.gateway.observe.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.DoubleExemplarData;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.metrics.data.SummaryPointData;
import io.opentelemetry.sdk.metrics.data.ValueAtQuantile;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** OpenTelemetry's internal classes still make what they did: if this fails after an update, mend MetricDataFactory. */
class MetricDataFactoryTest {
    private static final Attributes APP =
            Attributes.builder().put("upstream", "app").build();

    private final Receiver.Origin origin = new Receiver(
                    "http://127.0.0.1:9",
                    Map.of(),
                    PlayedReceiver.link(),
                    60_000,
                    new Receiver.Service("gateway", "dev", "test"))
            .origin();
    private final MetricDataFactory factory = new MetricDataFactory(origin);

    private void check(MetricData data, MetricDataType type) {
        assertThat(data.getType()).isEqualTo(type);
        assertThat(data.getName()).isEqualTo("name");
        assertThat(data.getDescription()).isEqualTo("help");
        assertThat(data.getUnit()).isEqualTo("s");
        assertThat(data.getResource()).isEqualTo(origin.resource());
        assertThat(data.getInstrumentationScopeInfo()).isEqualTo(origin.scope());
    }

    @Test
    void aSumGrowsFromTheStart() {
        DoublePointData point = DoublePointData.create(1, 2, APP, 7, List.of());
        MetricData data = factory.sum("name", "help", "s", List.of(point));
        check(data, MetricDataType.DOUBLE_SUM);
        assertThat(data.getDoubleSumData().isMonotonic()).isTrue();
        assertThat(data.getDoubleSumData().getAggregationTemporality()).isEqualTo(AggregationTemporality.CUMULATIVE);
        assertThat(data.getDoubleSumData().getPoints()).containsExactly(point);
    }

    @Test
    void aGaugeHasItsPoints() {
        DoublePointData point = DoublePointData.create(1, 2, APP, 7, List.of());
        MetricData data = factory.gauge("name", "help", "s", List.of(point));
        check(data, MetricDataType.DOUBLE_GAUGE);
        assertThat(data.getDoubleGaugeData().getPoints()).containsExactly(point);
    }

    @Test
    void aHistogramHasBucketsAndExemplars() {
        DoubleExemplarData example = DoubleExemplarData.create(Attributes.empty(), 2, SpanContext.getInvalid(), 0.25);
        HistogramPointData point = MetricDataFactory.histogramPoint(
                1, 2, APP, 1.5, List.of(0.5, 1.0), List.of(1L, 0L, 2L), List.of(example));
        MetricData data = factory.histogram("name", "help", "s", List.of(point));
        check(data, MetricDataType.HISTOGRAM);
        assertThat(data.getHistogramData().getAggregationTemporality()).isEqualTo(AggregationTemporality.CUMULATIVE);
        assertThat(data.getHistogramData().getPoints()).containsExactly(point);
        assertThat(point.getStartEpochNanos()).isEqualTo(1);
        assertThat(point.getEpochNanos()).isEqualTo(2);
        assertThat(point.getAttributes()).isEqualTo(APP);
        assertThat(point.getSum()).isEqualTo(1.5);
        assertThat(point.getCount()).isEqualTo(3);
        assertThat(point.hasMin()).isFalse();
        assertThat(point.hasMax()).isFalse();
        assertThat(point.getBoundaries()).containsExactly(0.5, 1.0);
        assertThat(point.getCounts()).containsExactly(1L, 0L, 2L);
        assertThat(point.getExemplars()).containsExactly(example);
    }

    @Test
    void aSummaryHasItsQuantiles() {
        SummaryPointData point = SummaryPointData.create(1, 2, APP, 3, 1.5, List.of(ValueAtQuantile.create(0.5, 0.4)));
        MetricData data = factory.summary("name", "help", "s", List.of(point));
        check(data, MetricDataType.SUMMARY);
        assertThat(data.getSummaryData().getPoints()).containsExactly(point);
    }
}
