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

    /** Makes an upstream; the balancer chooses among exactly these endpoints. */
    public Upstream(String name, List<Endpoint> endpoints, Balancer balancer, UpstreamSettings settings) {
        this.name = name;
        this.endpoints = List.copyOf(endpoints);
        this.balancer = balancer;
        this.settings = settings;
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

    @Override
    public String toString() {
        return name;
    }
}
