package dev.gateway.observe;

import java.util.List;

/**
 * An upstream of the generation in force, as statistics show it.
 *
 * @param protocol what is spoken to its endpoints, as the configuration says it
 */
public record UpstreamState(String name, String protocol, List<EndpointState> endpoints) {
    /** The state of an endpoint that requests are sent to. */
    public static final String HEALTHY = "healthy";

    /** The state of an endpoint that gets no new requests, as an operator wants it. */
    public static final String DRAINING = "draining";

    /** The state of an endpoint to which the last connection that was tried could not be made. */
    public static final String UNREACHABLE = "unreachable";

    /**
     * An endpoint with its pooled connections of all event loops; tunnels are counted by their upstream only.
     *
     * @param state a word of a closed set
     * @param idle connections without a stream
     * @param active connections with one
     * @param connecting connections being made
     * @param pending requests that wait for a connection
     */
    public record EndpointState(
            String address, int weight, String state, int idle, int active, int connecting, int pending) {}
}
