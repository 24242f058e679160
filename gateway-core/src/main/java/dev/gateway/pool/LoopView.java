package dev.gateway.pool;

import dev.gateway.stream.HttpVersion;
import dev.gateway.upstream.Endpoint;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Connection pool statistics: the connections of one upstream on one event loop, at some moment.
 *
 * @param endpoints the upstream's own, in their order
 * @param named how many endpoints that requests have named have connections
 * @param toNamed the connections to those
 * @param tunnels connections that are tunnels, wherever they lead
 */
public record LoopView(List<EndpointView> endpoints, int named, PoolCounts toNamed, PoolCounts tunnels) {
    /** Nothing. */
    static final LoopView NONE = new LoopView(List.of(), 0, PoolCounts.NONE, PoolCounts.NONE);

    /**
     * The connections to one endpoint.
     *
     * @param learned what it speaks, null if that is not known
     * @param idleTimeout its own for idle connections, null if that is not known
     */
    public record EndpointView(
            Endpoint endpoint, @Nullable HttpVersion learned, @Nullable IdleTimeout idleTimeout, PoolCounts counts) {}

    /**
     * How long an endpoint keeps connections that are idle.
     *
     * @param isSaid whether it says so, or else shows it
     * @param keptMillis how long they are kept here therefore
     */
    public record IdleTimeout(long millis, boolean isSaid, long keptMillis) {}

    public LoopView {
        endpoints = List.copyOf(endpoints);
    }
}
