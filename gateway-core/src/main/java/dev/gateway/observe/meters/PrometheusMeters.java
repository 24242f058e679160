package dev.gateway.observe.meters;

import io.micrometer.core.instrument.Meter;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a scrape of a Prometheus registry of the application gets: what {@code /metrics} has, with histograms and exemplars.
 * A scrape fails if two collectors give the same name, so a name that the application uses is left to it. Any thread may
 * scrape.
 */
final class PrometheusMeters implements BoundMeters, MultiCollector {
    private static final Logger log = LoggerFactory.getLogger(PrometheusMeters.class);

    private final PrometheusMeterRegistry registry;
    private final MultiCollector source;
    private final Set<String> takenNames = ConcurrentHashMap.newKeySet();

    private PrometheusMeters(PrometheusMeterRegistry registry, MultiCollector source) {
        this.registry = registry;
        this.source = source;
    }

    /** Adds them to a registry. */
    static PrometheusMeters add(PrometheusMeterRegistry registry, MultiCollector source) {
        PrometheusMeters meters = new PrometheusMeters(registry, source);
        registry.getPrometheusRegistry().register(meters);
        return meters;
    }

    @Override
    public MetricSnapshots collect() {
        Set<String> others = registry.getMeters().stream()
                .map(meter -> name(meter.getId()))
                .filter(name -> name.startsWith("gateway_"))
                .collect(Collectors.toSet());
        MetricSnapshots all = source.collect();
        if (others.isEmpty()) {
            return all;
        }
        List<MetricSnapshot> left = new ArrayList<>();
        for (MetricSnapshot each : all) {
            String name = each.getMetadata().getName();
            if (!others.contains(name)) {
                left.add(each);
            } else if (takenNames.add(name)) {
                log.warn("The application has a meter named {}; the gateway's own is left out", name);
            }
        }
        return new MetricSnapshots(left);
    }

    /** Returns what Prometheus calls a meter, without the end that tells the type. */
    private String name(Meter.Id id) {
        return registry.config()
                .namingConvention()
                .name(id.getName(), id.getType(), id.getBaseUnit())
                .replaceFirst("_(total|info)$", "");
    }

    @Override
    public void remove() {
        registry.getPrometheusRegistry().unregister(this);
    }
}
