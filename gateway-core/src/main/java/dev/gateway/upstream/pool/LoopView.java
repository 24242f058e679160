package dev.gateway.upstream.pool;

import dev.gateway.stream.HttpVersion;
import dev.gateway.upstream.Endpoint;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Connection pool statistics: the connections of one upstream on one event loop, at some moment.
 *
 * @param endpoints the endpoints of the upstream, in their order
 * @param named how many endpoints that requests named have connections
 * @param toNamed the connections to those endpoints
 * @param tunnels tunnels to all endpoints
 */
public record LoopView(List<EndpointView> endpoints, int named, PoolCounts toNamed, PoolCounts tunnels) {
    /** No connections. */
    static final LoopView NONE = new LoopView(List.of(), 0, PoolCounts.NONE, PoolCounts.NONE);

    /**
     * The connections to one endpoint.
     *
     * @param learned the protocol that it speaks, null if that is not known
     * @param idleTimeout its idle timeout, null if that is not known
     */
    public record EndpointView(
            Endpoint endpoint, @Nullable HttpVersion learned, @Nullable IdleTimeout idleTimeout, PoolCounts counts) {}

    /**
     * How long an endpoint keeps idle connections.
     *
     * @param isSaid whether this is from a header; else it is learned from behavior
     * @param keptMillis how long the gateway keeps them for that reason
     */
    public record IdleTimeout(long millis, boolean isSaid, long keptMillis) {}

    public LoopView {
        endpoints = List.copyOf(endpoints);
    }
}
