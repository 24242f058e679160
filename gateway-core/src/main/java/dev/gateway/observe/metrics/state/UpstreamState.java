package dev.gateway.observe.metrics.state;

import dev.gateway.observe.counts.EndpointsOfLoop;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An upstream of the active generation, as statistics show it.
 *
 * @param protocol what is spoken to its endpoints, as the configuration says it
 * @param endpoints none if requests name them, or if it has none
 * @param sources the sources of its endpoints; none if the configuration lists all of them
 * @param panic whether so few endpoints are in service that all get requests
 * @param localShare share of requests that stay in the zone of the gateway, from 0 to 1; null if zones make no difference
 * @param namedByRequests whether requests name its endpoints
 * @param features what the configuration has turned on for it
 */
public record UpstreamState(
        String name,
        String protocol,
        List<EndpointState> endpoints,
        List<Source> sources,
        boolean panic,
        @Nullable Double localShare,
        boolean namedByRequests,
        Set<Feature> features) {
    /** Makes the state of an upstream without sources that is not in panic mode, and has all features. */
    public UpstreamState(String name, String protocol, List<EndpointState> endpoints) {
        this(name, protocol, endpoints, List.of(), false, null, endpoints.isEmpty(), EnumSet.allOf(Feature.class));
    }

    public UpstreamState {
        features = Set.copyOf(features);
    }

    /** What has counters of its own, and may be off: its counters have no series then, unless they have counted. */
    public enum Feature {
        /** Connections by HTTP/1. */
        HTTP1,
        /** Connections by HTTP/2. */
        HTTP2,
        /** Connections that carry a tunnel from their beginning. */
        TUNNELS,
        TLS,
        /** Connections that end by their age. */
        MAX_LIFETIME,
        HEALTH_CHECKS,
        SESSIONS,
        /** Further attempts after one that has failed. */
        RETRIES,
        /** Requests that wait until a connection can be made. */
        CONNECT_WAITS,
        /** Attempts beside one that takes long. */
        HEDGES
    }

    /**
     * A source of endpoints.
     *
     * @param name such as {@code dns:app.example.com}
     * @param kind such as dns
     * @param state waiting, fresh or stale
     * @param problem why it is stale, empty if it is not
     */
    public record Source(String name, String kind, String state, String problem) {
        /** Whether it fails. */
        public boolean isStale() {
            return !problem.isEmpty();
        }
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
