package dev.gateway.upstream;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * A named group of endpoints with one policy. Immutable but for what its balancer and limits count, and how endpoints are;
 * shared by all event loops.
 */
public final class Upstream {
    private final String name;
    private final List<Endpoint> endpoints;
    private final Balancer all;
    private volatile Balancer balancer; // over those that do not drain
    private volatile Set<Endpoint> draining = Set.of();
    private final AtomicIntegerArray unreached; // by endpoint, 1 if the last connection tried could not be made
    private final UpstreamSettings settings;
    private final Limit connections;
    private final Limit pendingRequests;
    private final Limit requests;

    /** Makes an upstream; the balancer chooses among exactly these endpoints. */
    public Upstream(String name, List<Endpoint> endpoints, Balancer balancer, UpstreamSettings settings) {
        this.name = name;
        this.endpoints = List.copyOf(endpoints);
        this.all = balancer;
        this.balancer = balancer;
        this.unreached = new AtomicIntegerArray(this.endpoints.size());
        this.settings = settings;
        this.connections = new Limit(settings.maxConnections());
        this.pendingRequests = new Limit(settings.maxPendingRequests());
        this.requests = new Limit(settings.maxRequests());
    }

    public String name() {
        return name;
    }

    public List<Endpoint> endpoints() {
        return endpoints;
    }

    /** Returns what chooses among the endpoints that do not drain. */
    public Balancer balancer() {
        return balancer;
    }

    /**
     * Lets an endpoint get no new request, or get them again. One thread at a time may call.
     *
     * @return whether it has that endpoint
     */
    public boolean drain(String address, boolean drain) {
        Set<Endpoint> next = new HashSet<>(draining);
        boolean known = false;
        for (Endpoint endpoint : endpoints) {
            if (endpoint.toString().equals(address)) {
                known = true;
                if (drain) {
                    next.add(endpoint);
                } else {
                    next.remove(endpoint);
                }
            }
        }
        if (known) {
            draining = Set.copyOf(next);
            balancer = next.isEmpty()
                    ? all
                    : all.over(endpoints.stream()
                            .filter(endpoint -> !next.contains(endpoint))
                            .toList());
        }
        return known;
    }

    /** Whether an endpoint gets no new request. */
    public boolean isDraining(Endpoint endpoint) {
        return draining.contains(endpoint);
    }

    /** A connection to an endpoint was tried, on whichever event loop. Nothing is done about those that requests name. */
    public void onTried(Endpoint endpoint, boolean reached) {
        int index = endpoint.index();
        int now = reached ? 0 : 1;
        if (index >= 0
                && index < unreached.length()
                && unreached.getPlain(index) != now) { // so that loops do not contend for what hardly ever changes
            unreached.set(index, now);
        }
    }

    /** Whether the last connection to an endpoint that was tried could not be made. */
    public boolean isUnreached(Endpoint endpoint) {
        return unreached.get(endpoint.index()) != 0;
    }

    public UpstreamSettings settings() {
        return settings;
    }

    /** Returns the limit of connections, which the pools keep. */
    public Limit connections() {
        return connections;
    }

    /** Returns the limit of requests that wait for a connection, which the pools keep. */
    public Limit pendingRequests() {
        return pendingRequests;
    }

    /** Returns the limit of requests in flight. */
    public Limit requests() {
        return requests;
    }

    @Override
    public String toString() {
        return name;
    }
}
