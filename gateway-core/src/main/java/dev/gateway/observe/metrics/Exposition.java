package dev.gateway.observe.metrics;

import dev.gateway.observe.counts.Histogram;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.Exemplar;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One scrape: sums of all event loops, in families, under the names of the metrics. Made again for each scrape, so
 * readers never disturb each other. Used by the thread that scrapes.
 */
public final class Exposition {
    private final Map<String, Family> families = new HashMap<>(); // what is made of it sorts

    private enum Kind {
        COUNTER,
        GAUGE,
        HISTOGRAM,
        INFO
    }

    private static final class Family {
        final Kind kind;
        final String help;
        final Map<Labels, double[]> values = new HashMap<>();
        final Map<Labels, Sum> sums = new HashMap<>();

        Family(Kind kind, String help) {
            this.kind = kind;
            this.help = help;
        }
    }

    private static final class Sum {
        final double[] bounds;
        final long[] buckets;
        final Histogram.@Nullable Example[] examples;
        double seconds;

        Sum(double[] bounds) {
            this.bounds = bounds;
            this.buckets = new long[bounds.length + 1];
            this.examples = new Histogram.@Nullable Example[bounds.length + 1];
        }
    }

    Exposition() {}

    private Family family(String name, Kind kind, String help) {
        return families.computeIfAbsent(name, n -> new Family(kind, help));
    }

    /** Adds to a counter; the name is without {@code _total}. */
    public void counter(String name, String help, long value, String... labels) {
        family(name, Kind.COUNTER, help).values.computeIfAbsent(Labels.of(labels), l -> new double[1])[0] +=
                (double) value;
    }

    /** Adds to a gauge. */
    public void gauge(String name, String help, long value, String... labels) {
        gauge(name, help, (double) value, labels);
    }

    /** Adds to a gauge. */
    public void gauge(String name, String help, double value, String... labels) {
        family(name, Kind.GAUGE, help).values.computeIfAbsent(Labels.of(labels), l -> new double[1])[0] += value;
    }

    /** Tells something that is not a number; the name is without {@code _info}. */
    public void info(String name, String help, String... labels) {
        family(name, Kind.INFO, help).values.put(Labels.of(labels), new double[] {1});
    }

    /** Adds what a loop's histogram has counted. */
    public void histogram(String name, String help, Histogram histogram, String... labels) {
        Sum sum = family(name, Kind.HISTOGRAM, help)
                .sums
                .computeIfAbsent(Labels.of(labels), l -> new Sum(histogram.bounds()));
        histogram.addTo(sum.buckets);
        histogram.addExamplesTo(sum.examples);
        sum.seconds += histogram.sumSeconds();
    }

    /** Adds to a histogram what has been summed already: so many in each bucket, the last one for what is above. */
    public void histogram(String name, String help, double[] bounds, long[] buckets, double seconds, String... labels) {
        Sum sum = family(name, Kind.HISTOGRAM, help).sums.computeIfAbsent(Labels.of(labels), l -> new Sum(bounds));
        for (int i = 0; i < buckets.length; i++) {
            sum.buckets[i] += buckets[i];
        }
        sum.seconds += seconds;
    }

    MetricSnapshots snapshots() {
        List<MetricSnapshot> snapshots = new ArrayList<>();
        families.forEach((name, family) -> snapshots.add(
                switch (family.kind) {
                    case COUNTER -> counters(name, family);
                    case GAUGE -> gauges(name, family);
                    case HISTOGRAM -> histograms(name, family);
                    case INFO -> infos(name, family);
                }));
        return new MetricSnapshots(snapshots);
    }

    private static MetricSnapshot counters(String name, Family family) {
        CounterSnapshot.Builder builder = CounterSnapshot.builder().name(name).help(family.help);
        family.values.forEach((labels, value) -> builder.dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder()
                .labels(labels)
                .value(value[0])
                .build()));
        return builder.build();
    }

    private static MetricSnapshot gauges(String name, Family family) {
        GaugeSnapshot.Builder builder = GaugeSnapshot.builder().name(name).help(family.help);
        family.values.forEach((labels, value) -> builder.dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
                .labels(labels)
                .value(value[0])
                .build()));
        return builder.build();
    }

    private static MetricSnapshot infos(String name, Family family) {
        InfoSnapshot.Builder builder = InfoSnapshot.builder().name(name).help(family.help);
        family.values.forEach((labels, value) -> builder.dataPoint(
                InfoSnapshot.InfoDataPointSnapshot.builder().labels(labels).build()));
        return builder.build();
    }

    private static MetricSnapshot histograms(String name, Family family) {
        HistogramSnapshot.Builder builder =
                HistogramSnapshot.builder().name(name).help(family.help);
        family.sums.forEach((labels, sum) -> builder.dataPoint(HistogramSnapshot.HistogramDataPointSnapshot.builder()
                .labels(labels)
                .classicHistogramBuckets(buckets(sum))
                .sum(sum.seconds)
                .exemplars(exemplars(sum))
                .build()));
        return builder.build();
    }

    private static Exemplars exemplars(Sum sum) {
        List<Exemplar> exemplars = new ArrayList<>();
        for (Histogram.Example example : sum.examples) {
            if (example != null) {
                exemplars.add(Exemplar.builder()
                        .value(example.seconds())
                        .traceId(example.trace().traceId())
                        .spanId(example.trace().spanId())
                        .timestampMillis(example.epochMillis())
                        .build());
            }
        }
        return exemplars.isEmpty() ? Exemplars.EMPTY : Exemplars.of(exemplars);
    }

    private static ClassicHistogramBuckets buckets(Sum sum) {
        ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
        for (int i = 0; i < sum.bounds.length; i++) {
            buckets.bucket(sum.bounds[i], sum.buckets[i]);
        }
        return buckets.bucket(Double.POSITIVE_INFINITY, sum.buckets[sum.bounds.length])
                .build();
    }

    /** Something that contributes to every scrape, on the thread that scrapes. */
    public interface Source {
        /** Adds what has been counted until now. */
        void addTo(Exposition exposition);
    }

    /** Makes a collector of what a source has at the moment of each scrape. */
    static MultiCollector collector(Source source) {
        return () -> {
            Exposition exposition = new Exposition();
            source.addTo(exposition);
            return exposition.snapshots();
        };
    }
}
