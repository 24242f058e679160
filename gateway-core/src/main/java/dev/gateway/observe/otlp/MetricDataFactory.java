package dev.gateway.observe.otlp;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.DoubleExemplarData;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.GaugeData;
import io.opentelemetry.sdk.metrics.data.HistogramData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.SumData;
import io.opentelemetry.sdk.metrics.data.SummaryData;
import io.opentelemetry.sdk.metrics.data.SummaryPointData;
import io.opentelemetry.sdk.metrics.internal.data.ImmutableHistogramPointData;
import io.opentelemetry.sdk.metrics.internal.data.ImmutableMetricData;
import java.util.List;

/**
 * Metric data factory: makes OpenTelemetry's metrics of an origin, all cumulative. OpenTelemetry has no public way to make
 * them, nor a histogram's point with exemplars, so this uses two internal classes. They may change in any release, and
 * nothing else here uses internal ones. {@code MetricDataFactoryTest} fails if they have.
 */
final class MetricDataFactory {
    private final Receiver.Origin origin;

    MetricDataFactory(Receiver.Origin origin) {
        this.origin = origin;
    }

    MetricData sum(String name, String help, String unit, List<DoublePointData> points) {
        return ImmutableMetricData.createDoubleSum(
                origin.resource(),
                origin.scope(),
                name,
                help,
                unit,
                SumData.createDoubleSumData(true, AggregationTemporality.CUMULATIVE, points));
    }

    MetricData gauge(String name, String help, String unit, List<DoublePointData> points) {
        return ImmutableMetricData.createDoubleGauge(
                origin.resource(), origin.scope(), name, help, unit, GaugeData.createDoubleGaugeData(points));
    }

    MetricData histogram(String name, String help, String unit, List<HistogramPointData> points) {
        return ImmutableMetricData.createDoubleHistogram(
                origin.resource(),
                origin.scope(),
                name,
                help,
                unit,
                HistogramData.create(AggregationTemporality.CUMULATIVE, points));
    }

    MetricData summary(String name, String help, String unit, List<SummaryPointData> points) {
        return ImmutableMetricData.createDoubleSummary(
                origin.resource(), origin.scope(), name, help, unit, SummaryData.create(points));
    }

    /**
     * Makes a point of a histogram; times are in nanoseconds since 1970.
     *
     * @param bounds upper bounds of all buckets but the last
     * @param counts how many values each bucket has, one more than there are bounds
     */
    static HistogramPointData histogramPoint(
            long start,
            long now,
            Attributes attributes,
            double sum,
            List<Double> bounds,
            List<Long> counts,
            List<DoubleExemplarData> examples) {
        return ImmutableHistogramPointData.create(
                start, now, attributes, sum, false, 0, false, 0, bounds, counts, examples);
    }
}
