package dev.gateway.observe.meters;

import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Configured names: those of the active configuration. A series with another name belongs to something that a reload
 * has removed. Immutable.
 *
 * @param listeners what they are called in labels
 * @param routes what they are called in labels; requests that match none have an empty one
 * @param upstreams what they are called in labels
 */
public record ConfiguredNames(Set<String> listeners, Set<String> routes, Set<String> upstreams) {
    public ConfiguredNames {
        listeners = Set.copyOf(listeners);
        routes = Set.copyOf(routes);
        upstreams = Set.copyOf(upstreams);
    }

    /** Whether labels name something that the configuration does not have. */
    boolean lacks(Labels labels) {
        return lacks(listeners, labels.get("listener"))
                || lacks(routes, labels.get("route"))
                || lacks(upstreams, labels.get("upstream"));
    }

    private static boolean lacks(Set<String> names, @Nullable String name) {
        return name != null && !name.isEmpty() && !names.contains(name);
    }
}
