package dev.gateway.observe.otlp;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.metrics.data.DoubleExemplarData;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.SummaryPointData;
import io.opentelemetry.sdk.metrics.data.ValueAtQuantile;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Exemplar;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes what a scrape reads as OTLP's data model has it: the same names and values, all since the process began. Names
 * lack {@code _total}, which receivers that speak Prometheus add to whatever only grows.
 */
final class OtlpMetrics {
    private final MetricDataFactory factory;
    private final long start; // in nanoseconds since 1970, as are all times here
    private final long now = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());

    private OtlpMetrics(Receiver.Origin origin, long start) {
        this.factory = new MetricDataFactory(origin);
        this.start = Math.min(start, now); // the time of day may have been set back since
    }

    static List<MetricData> of(MetricSnapshots snapshots, Receiver.Origin origin, long startEpochNanos) {
        OtlpMetrics metrics = new OtlpMetrics(origin, startEpochNanos);
        List<MetricData> all = new ArrayList<>(snapshots.size());
        for (MetricSnapshot each : snapshots) {
            MetricData data = metrics.data(each);
            if (data != null) {
                all.add(data);
            }
        }
        return all;
    }

    private @Nullable MetricData data(MetricSnapshot metric) {
        String name = metric.getMetadata().getName();
        String help = metric.getMetadata().getHelp() == null
                ? ""
                : metric.getMetadata().getHelp();
        String unit = unit(name);
        if (metric.getDataPoints().isEmpty()) {
            return null;
        }
        if (metric instanceof CounterSnapshot counter) {
            var points = points(counter.getDataPoints(), point -> value(point, point.getValue()));
            return factory.sum(name, help, unit, points);
        }
        if (metric instanceof GaugeSnapshot gauge) {
            var points = points(gauge.getDataPoints(), point -> value(point, point.getValue()));
            return factory.gauge(name, help, unit, points);
        }
        if (metric instanceof InfoSnapshot info) {
            return factory.gauge(name + "_info", help, unit, points(info.getDataPoints(), point -> value(point, 1)));
        }
        if (metric instanceof HistogramSnapshot histogram) {
            return factory.histogram(name, help, unit, points(histogram.getDataPoints(), this::buckets));
        }
        if (metric instanceof SummarySnapshot summary) {
            return factory.summary(name, help, unit, points(summary.getDataPoints(), this::quantiles));
        }
        return null; // nobody here makes others
    }

    /** Returns what a name says that is counted, in UCUM's words, which OTLP wants. */
    private static String unit(String name) {
        if (name.endsWith("_seconds")) {
            return "s";
        }
        return name.endsWith("_bytes") ? "By" : "";
    }

    private static <S extends DataPointSnapshot, P> List<P> points(List<S> snapshots, Function<S, P> point) {
        List<P> points = new ArrayList<>(snapshots.size());
        snapshots.forEach(each -> points.add(point.apply(each)));
        return points;
    }

    private DoublePointData value(DataPointSnapshot point, double value) {
        return DoublePointData.create(start, now, attributes(point.getLabels()), value, List.of());
    }

    /** The last bucket, of what is above all bounds, has none in OTLP. */
    private HistogramPointData buckets(HistogramSnapshot.HistogramDataPointSnapshot point) {
        ClassicHistogramBuckets buckets = point.getClassicBuckets();
        List<Double> bounds = new ArrayList<>(buckets.size());
        List<Long> counts = new ArrayList<>(buckets.size());
        for (int i = 0; i < buckets.size(); i++) {
            if (buckets.getUpperBound(i) != Double.POSITIVE_INFINITY) {
                bounds.add(buckets.getUpperBound(i));
            }
            counts.add(buckets.getCount(i));
        }
        List<DoubleExemplarData> examples = new ArrayList<>();
        point.getExemplars().forEach(each -> examples.add(example(each)));
        return MetricDataFactory.histogramPoint(
                start, now, attributes(point.getLabels()), point.getSum(), bounds, counts, examples);
    }

    private static DoubleExemplarData example(Exemplar example) {
        String trace = example.getLabels().get(Exemplar.TRACE_ID);
        String span = example.getLabels().get(Exemplar.SPAN_ID);
        return DoubleExemplarData.create(
                Attributes.empty(),
                TimeUnit.MILLISECONDS.toNanos(example.getTimestampMillis()),
                trace == null || span == null
                        ? SpanContext.getInvalid()
                        : SpanContext.create(trace, span, TraceFlags.getSampled(), TraceState.getDefault()),
                example.getValue());
    }

    private SummaryPointData quantiles(SummarySnapshot.SummaryDataPointSnapshot point) {
        List<ValueAtQuantile> quantiles = new ArrayList<>();
        point.getQuantiles()
                .forEach(each -> quantiles.add(ValueAtQuantile.create(each.getQuantile(), each.getValue())));
        return SummaryPointData.create(
                start, now, attributes(point.getLabels()), point.getCount(), point.getSum(), quantiles);
    }

    private static Attributes attributes(Labels labels) {
        AttributesBuilder attributes = Attributes.builder();
        labels.forEach(label -> attributes.put(label.getName(), label.getValue()));
        return attributes.build();
    }
}
