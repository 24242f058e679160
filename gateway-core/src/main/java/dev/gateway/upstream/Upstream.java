package dev.gateway.upstream;

import dev.gateway.overload.memory.PendingRequestMemory;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.limit.FairLimit;
import dev.gateway.upstream.limit.PendingLimit;
import dev.gateway.upstream.limit.RetryBudget;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Upstream: a named group of endpoints with one policy. Only its set of endpoints, their health, and the counts of its
 * balancer and limits change. All event loops share it.
 */
public final class Upstream {
    /** Time between two turns of {@link #takeConnectTurn}. */
    public static final long CONNECT_TURN_MILLIS = 100;

    /** Timers may be early by their resolution. */
    private static final long CONNECT_TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(CONNECT_TURN_MILLIS * 9 / 10);

    private final String name;
    private final Health health;
    private final UpstreamSettings settings;
    private final FairLimit connections;
    private final PendingLimit pendingRequests;
    private final FairLimit requests;
    private final PendingRequestMemory waiting = new PendingRequestMemory();
    private final RetryBudget retryBudget = new RetryBudget();
    private final RetryBudget hedgeBudget = new RetryBudget();
    private final Host named = new Host(new Endpoint(Endpoint.NAMED_INDEX, "*", 0, 1));
    private final Host departed = new Host(new Endpoint(Endpoint.NAMED_INDEX, "*", 0, 1));
    private final AtomicLong connectTurnNanos = new AtomicLong(); // when an event loop took the last turn
    private volatile boolean connectTurnTaken; // whether any has
    private @Nullable SessionPersistence sessions; // set before this is shared
    private volatile Supplier<String> emptiness = () -> ""; // says why it has no endpoints

    /** Makes an upstream that never takes an endpoint out of service. */
    public Upstream(String name, List<Endpoint> endpoints, Balancer.Policy balancing, UpstreamSettings settings) {
        this(name, new Health(endpoints, balancing, null, null, System::nanoTime), settings);
    }

    /** Makes an upstream with the endpoints of this health. */
    public Upstream(String name, Health health, UpstreamSettings settings) {
        this.name = name;
        this.health = health;
        this.settings = settings;
        this.connections = new FairLimit(settings.limits().maxConnections());
        this.pendingRequests = new PendingLimit(settings.limits().maxPendingRequests());
        this.requests = new FairLimit(settings.limits().maxRequests());
        limit(named);
        departed.leave();
        health.prepareHosts(host -> {
            limit(host);
            host.beginUndivided();
        });
        health.onSessionChoice(this::divide);
    }

    private void limit(Host host) {
        host.limitBy(connections.newShare(), requests.newShare());
    }

    /**
     * Replaces its endpoints by these. Endpoints that stay keep their state. Removed ones get nothing new, and exchanges in
     * progress may finish there. New ones get requests at once, if by slow start only few. Safe from any thread that is no
     * event loop.
     *
     * @return the removed endpoints
     */
    public List<Host> update(List<EndpointSpec> wanted) {
        return health.update(wanted, true);
    }

    /**
     * Like {@link #update}, but new endpoints do not start slowly. For an upstream that begins: it is not known yet which
     * of its endpoints served before.
     */
    public List<Host> begin(List<EndpointSpec> wanted) {
        return health.update(wanted, false);
    }

    /** Turns on session persistence; called before this is used. */
    public Upstream persist(SessionPersistence made) {
        sessions = made;
        health.onSessionChoice(made::onChoice);
        return this;
    }

    /** Returns its session persistence, null if it has none. */
    public @Nullable SessionPersistence sessions() {
        return sessions;
    }

    /** Sets the supplier of the reason why the upstream has no endpoints. Any thread may call it, and it does not block. */
    public void explainEmptiness(Supplier<String> why) {
        emptiness = why;
    }

    /** Says why no endpoint can be chosen at present, for logs. Takes a lock and makes texts, so only for failures. */
    public String whyNoEndpoint() {
        if (hosts().isEmpty()) {
            String why = emptiness.get();
            return name + " has no endpoints" + (why.isEmpty() ? "" : ": " + why);
        }
        return "no endpoint of " + name + " may be used: " + health.summary();
    }

    /** Divides the limits among the endpoints that get requests, be it of their sessions only. */
    private void divide(List<Host> used) {
        connections.divide(health.hosts(), used, Host::weight, Host::connections);
        requests.divide(health.hosts(), used, Host::weight, Host::requests);
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
     * Returns the live state of an endpoint. All endpoints that requests name share one, of which only the limits are used.
     * All removed endpoints share another one, which gets nothing new.
     */
    public Host host(Endpoint endpoint) {
        if (endpoint.index() == Endpoint.NAMED_INDEX) {
            return named;
        }
        Host known = health.host(endpoint);
        return known == null ? departed : known;
    }

    /** Returns the balancer among the endpoints that may be chosen now. */
    public Balancer balancer() {
        return health.balancer();
    }

    /** Returns the health of its endpoints. */
    public Health health() {
        return health;
    }

    /** Returns how connections to it are made and used. */
    public UpstreamSettings settings() {
        return settings;
    }

    /** Returns the limit of connections, which the pools enforce. */
    public FairLimit connections() {
        return connections;
    }

    /** Returns the limit of requests that wait for a connection, which the pools enforce. */
    public PendingLimit pendingRequests() {
        return pendingRequests;
    }

    /** Returns the limit of requests in flight. */
    public FairLimit requests() {
        return requests;
    }

    /** Returns the memory that requests hold while they wait for answers of this upstream. */
    public PendingRequestMemory waiting() {
        return waiting;
    }

    /**
     * Whether the caller may try to connect for requests that wait until an endpoint can be reached. All event loops share
     * the turns.
     */
    public boolean takeConnectTurn(long nanos) {
        long before = connectTurnNanos.get();
        boolean due = !connectTurnTaken || nanos - before >= CONNECT_TURN_NANOS;
        boolean taken = due && connectTurnNanos.compareAndSet(before, nanos); // else another event loop was faster
        if (taken) {
            connectTurnTaken = true;
        }
        return taken;
    }

    /** Returns the budget of retries. */
    public RetryBudget retryBudget() {
        return retryBudget;
    }

    /** Returns how many requests go to a second endpoint because the first takes long. */
    public RetryBudget hedgeBudget() {
        return hedgeBudget;
    }

    @Override
    public String toString() {
        return name;
    }
}
