package dev.gateway.runtime;

import dev.gateway.observe.meters.ConfiguredNames;
import dev.gateway.observe.meters.GatewayMeters;
import dev.gateway.observe.metrics.Metrics;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Meters for registries of the application: made when the application first asks for them. So a gateway whose application
 * has no registry loads no class of Micrometer before somebody scrapes it. Safe from any thread but event loops.
 */
public final class ApplicationMeters {
    private final Metrics metrics;
    private final Supplier<ConfiguredNames> configured;
    private final boolean withBuckets;
    private final DataPlane dataPlane;
    private @Nullable GatewayMeters made;
    private boolean closed;

    /**
     * Makes none yet.
     *
     * @param configured names in the active configuration
     * @param withBuckets whether function meters include a counter for each bucket of a histogram
     * @param dataPlane whose housekeeping thread refreshes the meters
     */
    public ApplicationMeters(
            Metrics metrics, Supplier<ConfiguredNames> configured, boolean withBuckets, DataPlane dataPlane) {
        this.metrics = metrics;
        this.configured = configured;
        this.withBuckets = withBuckets;
        this.dataPlane = dataPlane;
    }

    /** Returns the meters; they are closed if the gateway is. */
    public synchronized GatewayMeters get() {
        GatewayMeters meters = made;
        if (meters == null) {
            meters = new GatewayMeters(metrics.collector(), configured, withBuckets);
            made = meters;
            if (closed) {
                meters.close();
            } else {
                dataPlane.refresh(meters);
            }
        }
        return meters;
    }

    /** Removes the meters from all registries; to be called before the loops stop. */
    synchronized void close() {
        closed = true;
        if (made != null) {
            made.close();
        }
    }
}
