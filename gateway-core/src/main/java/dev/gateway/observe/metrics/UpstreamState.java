package dev.gateway.observe.metrics;

import java.util.List;

/**
 * An upstream of the active generation, as statistics show it.
 *
 * @param protocol what is spoken to its endpoints, as the configuration says it
 * @param panic whether so few endpoints are in service that all get requests
 */
public record UpstreamState(String name, String protocol, List<EndpointState> endpoints, boolean panic) {
    /** Is that of an upstream that is not in panic mode. */
    public UpstreamState(String name, String protocol, List<EndpointState> endpoints) {
        this(name, protocol, endpoints, false);
    }

    /** All words for how an endpoint is. */
    public static final List<String> STATES = List.of("healthy", "draining", "unhealthy", "ejected", "unreachable");

    /**
     * An endpoint with its pooled connections of all event loops; tunnels are counted by their upstream only.
     *
     * @param index its index in the upstream; only those below {@link EndpointsOfLoop#MOST} have counters of their own
     * @param weight its share of requests relative to its siblings
     * @param state one of {@link #STATES}
     * @param ejections how often it was ejected
     * @param idle connections without a stream
     * @param active connections with one
     * @param connecting connections being made
     * @param pending requests that wait for a connection
     */
    public record EndpointState(
            int index,
            String address,
            double weight,
            String state,
            long ejections,
            int idle,
            int active,
            int connecting,
            int pending) {}
}
