package dev.gateway.observe.meters;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.TimeGauge;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBucket;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Meters that read a number when they are asked, for registries that know no histogram of somebody else. There is one meter
 * for each series of {@code /metrics}. A meter goes when its series does; or when it names something that the configuration
 * does not have any more, and has not moved for a minute, a gauge being 0. It comes back with the series or the name.
 */
final class FunctionMeters implements BoundMeters {
    private static final Logger log = LoggerFactory.getLogger(FunctionMeters.class);
    private static final long GONE_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final double NO_BOUND = Double.NaN;

    private final MeterRegistry registry;
    private final boolean withBuckets;
    private final LongSupplier nanoTime;
    private final Map<Key, Series> all = new HashMap<>();
    private final Set<String> takenNames = new HashSet<>();
    private long refreshes;
    private @Nullable Set<Meter> others; // what the registry had before this refresh, once it was needed

    /** One series; the bound is that of a bucket in seconds, or {@link #NO_BOUND}. */
    private record Key(String metric, Labels labels, double bound) {}

    private enum Kind {
        COUNTER,
        GAUGE,
        TIMER,
        BUCKET
    }

    /**
     * Makes them; the registry has none before the first refresh.
     *
     * @param withBuckets whether each bucket of a histogram has a counter
     */
    FunctionMeters(MeterRegistry registry, boolean withBuckets, LongSupplier nanoTime) {
        this.registry = registry;
        this.withBuckets = withBuckets;
        this.nanoTime = nanoTime;
    }

    /** Lets the meters tell what the gateway has counted now. */
    void refresh(MetricSnapshots snapshots, ConfiguredNames configured) {
        refreshes++;
        others = null;
        Walk walk = new Walk(nanoTime.getAsLong(), configured);
        for (MetricSnapshot metric : snapshots) {
            for (DataPointSnapshot point : metric.getDataPoints()) {
                walk.point(metric, point);
            }
        }
        Iterator<Series> each = all.values().iterator();
        while (each.hasNext()) {
            Series series = each.next();
            if (series.seenIn != refreshes) {
                unregister(series);
                each.remove();
            }
        }
    }

    /** One refresh. */
    private final class Walk {
        private final long now;
        private final ConfiguredNames configured;

        Walk(long now, ConfiguredNames configured) {
            this.now = now;
            this.configured = configured;
        }

        void point(MetricSnapshot metric, DataPointSnapshot point) {
            if (point instanceof CounterDataPointSnapshot counter) {
                set(Kind.COUNTER, metric, point.getLabels(), NO_BOUND, counter.getValue(), 0);
            } else if (point instanceof GaugeDataPointSnapshot gauge) {
                set(Kind.GAUGE, metric, point.getLabels(), NO_BOUND, gauge.getValue(), 0);
            } else if (point instanceof InfoDataPointSnapshot) {
                set(Kind.GAUGE, metric, point.getLabels(), NO_BOUND, 1, 0);
            } else if (point instanceof HistogramDataPointSnapshot histogram) {
                histogram(metric, histogram);
            }
        }

        private void histogram(MetricSnapshot metric, HistogramDataPointSnapshot histogram) {
            long below = 0;
            for (ClassicHistogramBucket bucket : histogram.getClassicBuckets()) {
                below += bucket.getCount();
                if (withBuckets) {
                    set(Kind.BUCKET, metric, histogram.getLabels(), bucket.getUpperBound(), (double) below, 0);
                }
            }
            set(Kind.TIMER, metric, histogram.getLabels(), NO_BOUND, histogram.getSum(), below);
        }

        private void set(Kind kind, MetricSnapshot metric, Labels labels, double bound, double value, long count) {
            Key key = new Key(metric.getMetadata().getName(), labels, bound);
            Series series = all.computeIfAbsent(key, made -> new Series(now));
            series.seenIn = refreshes;
            series.set(value, count, now);
            boolean isGone = configured.lacks(labels)
                    && series.stillNanos(now) >= GONE_NANOS
                    && (kind != Kind.GAUGE || value == 0);
            if (isGone) {
                unregister(series);
            } else if (series.meter == null && !series.isTaken) {
                register(kind, metric, key, series);
            }
        }
    }

    private void register(Kind kind, MetricSnapshot metric, Key key, Series series) {
        if (others == null) {
            others = Collections.newSetFromMap(new IdentityHashMap<>());
            others.addAll(registry.getMeters());
        }
        try {
            Meter meter = meter(kind, metric, key, series);
            if (!others.contains(meter)) {
                series.meter = meter;
                return;
            }
        } catch (IllegalArgumentException e) { // there is one of another type, or with other tags
            log.debug("The registry takes no meter for {}", key, e);
        }
        series.isTaken = true;
        if (takenNames.add(key.metric)) {
            log.warn(
                    "{} has a meter like {} of the application; the gateway's own is left out",
                    registry.getClass().getSimpleName(),
                    MeterNames.name(key.metric));
        }
    }

    private Meter meter(Kind kind, MetricSnapshot metric, Key key, Series series) {
        String name = MeterNames.name(key.metric);
        List<Tag> tags = MeterNames.tags(key.labels);
        String unit = MeterNames.unit(key.metric);
        String help = Objects.requireNonNullElse(metric.getMetadata().getHelp(), "");
        return switch (kind) {
            case COUNTER ->
                FunctionCounter.builder(name, series, Series::value)
                        .tags(tags)
                        .description(help)
                        .baseUnit(unit)
                        .register(registry);
            case GAUGE ->
                MeterNames.isTime(key.metric)
                        ? TimeGauge.builder(name, series, TimeUnit.SECONDS, Series::value)
                                .tags(tags)
                                .description(help)
                                .register(registry)
                        : Gauge.builder(gaugeName(metric, name), series, Series::value)
                                .tags(tags)
                                .description(help)
                                .baseUnit(unit)
                                .register(registry);
            case TIMER ->
                FunctionTimer.builder(name, series, Series::count, Series::value, TimeUnit.SECONDS)
                        .tags(tags)
                        .description(help)
                        .register(registry);
            case BUCKET ->
                FunctionCounter.builder(name + ".bucket", series, Series::value)
                        .tags(tags)
                        .tag("le", MeterNames.bound(key.bound))
                        .description(help)
                        .register(registry);
        };
    }

    private static String gaugeName(MetricSnapshot metric, String name) {
        return metric instanceof InfoSnapshot ? name + ".info" : name;
    }

    private void unregister(Series series) {
        if (series.meter != null) {
            registry.remove(series.meter);
            series.meter = null;
        }
    }

    @Override
    public void remove() {
        all.values().forEach(this::unregister);
        all.clear();
    }
}
