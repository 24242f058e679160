package dev.gateway.upstream;

import dev.gateway.overload.PendingRequestMemory;
import java.util.List;

/**
 * Upstream: a named group of endpoints with one policy. Immutable except for what its balancer and limits count, and how
 * endpoints are; shared by all event loops.
 */
public final class Upstream {
    private final String name;
    private final Health health;
    private final UpstreamSettings settings;
    private final FairLimit connections;
    private final Limit pendingRequests;
    private final FairLimit requests;
    private final PendingRequestMemory waiting = new PendingRequestMemory();
    private final Host named;

    /** Makes an upstream that never takes an endpoint out of service. */
    public Upstream(String name, List<Endpoint> endpoints, Balancer.Policy balancing, UpstreamSettings settings) {
        this(name, new Health(endpoints, balancing, null, null, System::nanoTime), settings);
    }

    /** Makes an upstream of the endpoints that the other knows. */
    public Upstream(String name, Health health, UpstreamSettings settings) {
        this.name = name;
        this.health = health;
        this.settings = settings;
        this.connections = new FairLimit(settings.maxConnections());
        this.pendingRequests = new Limit(settings.maxPendingRequests());
        this.requests = new FairLimit(settings.maxRequests());
        this.named = new Host(new Endpoint(NamedByRequest.INDEX, "*", 0, 1))
                .limitedBy(connections.newShare(), requests.newShare());
        health.hosts().forEach(host -> host.limitedBy(connections.newShare(), requests.newShare()));
        health.onChoice(this::divide);
    }

    private void divide(List<Host> chosen) {
        connections.divide(health.hosts(), chosen, Host::connections);
        requests.divide(health.hosts(), chosen, Host::requests);
    }

    /** Returns the name in the configuration. */
    public String name() {
        return name;
    }

    /** Returns its endpoints in the order of the configuration. */
    public List<Endpoint> endpoints() {
        return health.endpoints();
    }

    /** Returns the live state of its endpoints, in their order. */
    public List<Host> hosts() {
        return health.hosts();
    }

    /** Returns the live state of an endpoint. Those that requests name have one together, of which only limits count. */
    public Host host(Endpoint endpoint) {
        Host known = health.host(endpoint);
        return known == null ? named : known;
    }

    /** Returns what chooses among the endpoints that may be chosen now. */
    public Balancer balancer() {
        return health.balancer();
    }

    /** Returns how its endpoints are. */
    public Health health() {
        return health;
    }

    /** Returns how connections to it are made and used. */
    public UpstreamSettings settings() {
        return settings;
    }

    /** Returns the limit of connections, which the pools keep. */
    public FairLimit connections() {
        return connections;
    }

    /** Returns the limit of requests that wait for a connection, which the pools keep. */
    public Limit pendingRequests() {
        return pendingRequests;
    }

    /** Returns the limit of requests in flight. */
    public FairLimit requests() {
        return requests;
    }

    /** Returns what requests that wait for its answers make the process hold. */
    public PendingRequestMemory waiting() {
        return waiting;
    }

    @Override
    public String toString() {
        return name;
    }
}
