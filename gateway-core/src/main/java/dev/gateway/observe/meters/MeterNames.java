package dev.gateway.observe.meters;

import io.micrometer.core.instrument.Tag;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Meter names: what Micrometer calls a metric of {@code /metrics}. Its names have dots, and the unit of a time is left to
 * the registry. Some registries drop a tag without a value, so that such a tag gets the value {@code none}.
 */
final class MeterNames {
    private static final String SECONDS = "_seconds";
    private static final String BYTES = "_bytes";

    private MeterNames() {}

    /** Returns the name of a meter; the metric's is without {@code _total} and {@code _info}. */
    static String name(String metric) {
        String base = isTime(metric) ? metric.substring(0, metric.length() - SECONDS.length()) : metric;
        return base.replace('_', '.');
    }

    /** Whether a metric tells a time, in seconds. */
    static boolean isTime(String metric) {
        return metric.endsWith(SECONDS);
    }

    /** Returns the base unit of what is no time; null if things are counted. */
    static @Nullable String unit(String metric) {
        return metric.endsWith(BYTES) ? "bytes" : null;
    }

    static List<Tag> tags(Labels labels) {
        List<Tag> tags = new ArrayList<>(labels.size());
        labels.forEach(
                label -> tags.add(Tag.of(label.getName(), label.getValue().isEmpty() ? "none" : label.getValue())));
        return tags;
    }

    /** Returns the value of the tag {@code le}, the upper bound of a bucket. */
    static String bound(double seconds) {
        return seconds == Double.POSITIVE_INFINITY ? "+Inf" : Double.toString(seconds);
    }
}
