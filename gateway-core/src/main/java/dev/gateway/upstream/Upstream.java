package dev.gateway.upstream;

import java.util.List;

/**
 * A named group of endpoints with one policy. Immutable but for what its balancer and limits count; shared by all event
 * loops.
 */
public final class Upstream {
    private final String name;
    private final List<Endpoint> endpoints;
    private final Balancer balancer;
    private final UpstreamSettings settings;
    private final Limit connections;
    private final Limit pendingRequests;
    private final Limit requests;

    /** Makes an upstream; the balancer chooses among exactly these endpoints. */
    public Upstream(String name, List<Endpoint> endpoints, Balancer balancer, UpstreamSettings settings) {
        this.name = name;
        this.endpoints = List.copyOf(endpoints);
        this.balancer = balancer;
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

    public Balancer balancer() {
        return balancer;
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
