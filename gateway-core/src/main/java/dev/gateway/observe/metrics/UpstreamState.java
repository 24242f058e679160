package dev.gateway.observe.metrics;

import java.util.List;

/**
 * An upstream of the generation in force, as statistics show it.
 *
 * @param protocol what is spoken to its endpoints, as the configuration says it
 */
public record UpstreamState(String name, String protocol, List<EndpointState> endpoints) {
    /** All words for how an endpoint is. */
    public static final List<String> STATES = List.of("healthy", "draining", "unhealthy", "ejected", "unreachable");

    /**
     * An endpoint with its pooled connections of all event loops; tunnels are counted by their upstream only.
     *
     * @param state one of {@link #STATES}
     * @param ejections how often it was ejected
     * @param idle connections without a stream
     * @param active connections with one
     * @param connecting connections being made
     * @param pending requests that wait for a connection
     */
    public record EndpointState(
            String address,
            int weight,
            String state,
            long ejections,
            int idle,
            int active,
            int connecting,
            int pending) {}
}
