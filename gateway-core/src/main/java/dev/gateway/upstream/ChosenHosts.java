package dev.gateway.upstream;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Which endpoints of one upstream get requests at present, and the balancer among them. {@link Health} changes it under its
 * lock; event loops read it.
 */
final class ChosenHosts {
    private final Balancer.Policy policy;
    private final int panicThreshold;
    private final SlowStart slowStart;
    private final ZonePreference zones;
    private final List<Consumer<List<Host>>> listeners = new CopyOnWriteArrayList<>();
    private final List<Consumer<List<Host>>> sessionListeners = new CopyOnWriteArrayList<>();
    private volatile boolean panic;
    private volatile Choice choice;

    /**
     * The endpoints that get requests, and the balancer that chooses among them.
     *
     * @param doubtful whether zones make no difference, because it is in doubt that the endpoints serve
     */
    private record Choice(Balancer balancer, List<Endpoint> endpoints, boolean doubtful) {}

    /** Begins with all endpoints chosen. */
    ChosenHosts(HostSet all, Balancer.Policy policy, HealthSettings settings) {
        this.policy = policy;
        this.panicThreshold = settings.panicThreshold();
        this.slowStart = new SlowStart(settings.slowStartMillis());
        this.zones = new ZonePreference(settings.localZone());
        this.choice = new Choice(policy.over(all.hosts), all.endpoints, false);
    }

    /** Returns the balancer among the chosen endpoints. */
    Balancer balancer() {
        return choice.balancer;
    }

    /** Whether an endpoint other than this one is chosen. */
    boolean hasOther(Endpoint endpoint) {
        List<Endpoint> chosen = choice.endpoints;
        return chosen.size() > 1 || (chosen.size() == 1 && !chosen.get(0).equals(endpoint));
    }

    /** Whether so few endpoints are in service that all are chosen. */
    boolean isPanic() {
        return panic;
    }

    /** Returns the share of requests that stays in the zone of the gateway, null if zones make no difference. */
    @Nullable
    Double localShare() {
        return zones.share();
    }

    /** Tells the listener which endpoints are chosen, now and at each change; also if only the keeping of sessions changes. */
    void tell(Consumer<List<Host>> listener, HostSet all) {
        listeners.add(listener);
        listener.accept(all.hosts.stream().filter(Host::isChosen).toList());
    }

    /** Tells the listener which endpoints take requests of sessions, now and at each change. */
    void tellOfSessions(Consumer<List<Host>> listener, HostSet all) {
        sessionListeners.add(listener);
        listener.accept(takingSessions(all));
    }

    private static List<Host> takingSessions(HostSet all) {
        return all.hosts.stream().filter(Host::takesSessions).toList();
    }

    /** Tells first who takes sessions: limits are divided among these, before those who wait look for room. */
    private void tell(HostSet all, List<Host> hosts) {
        List<Host> taking = takingSessions(all);
        sessionListeners.forEach(each -> each.accept(taking));
        listeners.forEach(each -> each.accept(hosts));
    }

    /** Begins the slow start of an endpoint that the previous generation did not have. */
    void beginSlowly(Host host, long now) {
        slowStart.begin(host, now);
    }

    /** Raises the shares of endpoints that start slowly. */
    void advance(HostSet all, long now) {
        if (slowStart.advance(all.hosts, now)) {
            choose(all, true, now);
        }
    }

    /**
     * The upstream has other endpoints.
     *
     * @param slowly whether new endpoints start slowly
     */
    void update(HostSet all, boolean slowly, long now) {
        choose(all, true, slowly, now);
    }

    /**
     * Chooses among the endpoints of an upstream.
     *
     * @param rebuild whether to make a new balancer although the same endpoints are chosen: their weights may have changed
     */
    void choose(HostSet all, boolean rebuild, long now) {
        choose(all, rebuild, true, now);
    }

    private void choose(HostSet all, boolean rebuild, boolean slowly, long now) {
        Selection selection = Selection.of(all.hosts, panicThreshold);
        List<Host> hosts = selection.hosts();
        panic = selection.panic();
        List<Endpoint> chosen = hosts.stream().map(Host::endpoint).toList();
        boolean doubtful = panic || hosts.stream().noneMatch(Host::isInService);
        boolean keepingChanged = false;
        for (Host host : all.hosts) {
            keepingChanged |= host.setKeepingSessions(host.mayKeepSessions());
        }
        Set<Host> included = Set.copyOf(hosts);
        all.hosts.forEach(host -> host.setSpare(host.isWell() && !included.contains(host)));
        if (!rebuild && chosen.equals(choice.endpoints) && doubtful == choice.doubtful) {
            if (keepingChanged) {
                tell(all, hosts);
            }
            return; // keep the balancer, and its position in the turn
        }
        if (slowly) {
            slowStart.join(choice.endpoints, hosts, now);
        }
        for (Host host : all.hosts) {
            host.setChosen(included.contains(host), included.isEmpty());
        }
        tell(all, hosts);
        Balancer balancer = zones.balancer(all.hosts, hosts, doubtful, policy);
        choice = new Choice(
                balancer, chosen, doubtful); // last, because new endpoints get their share of the limits above
    }
}
