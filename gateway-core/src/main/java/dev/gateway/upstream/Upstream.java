package dev.gateway.upstream;

import dev.gateway.overload.PendingRequestMemory;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Upstream: a named group of endpoints with one policy. Immutable except for which endpoints it has, how they are, and what
 * its balancer and limits count; shared by all event loops.
 */
public final class Upstream {
    private final String name;
    private final Health health;
    private final UpstreamSettings settings;
    private final FairLimit connections;
    private final Limit pendingRequests;
    private final FairLimit requests;
    private final PendingRequestMemory waiting = new PendingRequestMemory();
    private final RetryBudget retryBudget = new RetryBudget();
    private final Host named = new Host(new Endpoint(NamedByRequest.INDEX, "*", 0, 1));
    private final Host departed = new Host(new Endpoint(NamedByRequest.INDEX, "*", 0, 1));
    private @Nullable SessionPersistence sessions; // set before anybody else sees this

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
        limit(named);
        departed.leave();
        health.prepareHosts(host -> {
            limit(host);
            host.beginUndivided();
        });
        health.onChoice(this::divide);
    }

    private void limit(Host host) {
        host.limitBy(connections.newShare(), requests.newShare());
    }

    /**
     * Makes these its endpoints. Those that stay go on as they are; those that go are chosen no more, and what has begun
     * there ends there; new ones are chosen at once. Safe from any thread but event loops.
     *
     * @return those that have gone
     */
    public List<Host> update(List<EndpointSpec> wanted) {
        return health.update(wanted);
    }

    /** Keeps sessions at their endpoints; called before anybody uses it. */
    public Upstream persist(SessionPersistence made) {
        sessions = made;
        health.onChoice(made::onChoice);
        return this;
    }

    /** Returns what keeps sessions at their endpoints, null if nothing does. */
    public @Nullable SessionPersistence sessions() {
        return sessions;
    }

    private void divide(List<Host> chosen) {
        connections.divide(health.hosts(), chosen, Host::connections);
        requests.divide(health.hosts(), chosen, Host::requests);
    }

    /** Returns the name in the configuration. */
    public String name() {
        return name;
    }

    /** Returns its endpoints at present, in the order of the configuration. */
    public List<Endpoint> endpoints() {
        return health.endpoints();
    }

    /** Returns the live state of its endpoints, in their order. */
    public List<Host> hosts() {
        return health.hosts();
    }

    /**
     * Returns the live state of an endpoint. Those that requests name have one together, of which only limits count; so
     * have those that have gone, which is not to be used.
     */
    public Host host(Endpoint endpoint) {
        if (endpoint.index() == NamedByRequest.INDEX) {
            return named;
        }
        Host known = health.host(endpoint);
        return known == null ? departed : known;
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

    /** Returns how many retries it takes. */
    public RetryBudget retryBudget() {
        return retryBudget;
    }

    @Override
    public String toString() {
        return name;
    }
}
