package dev.gateway.upstream;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Endpoint health. How the endpoints of one upstream are, and so which of them are chosen: those in service, which neither
 * drain nor are ejected or unhealthy; if none is, the best of the others. Told of by event loops, which share a counter
 * that only failures write; the rest is guarded by this object and changes rarely. Safe from any thread.
 */
public final class Health {
    /** How an endpoint is; the first that holds. */
    public enum State {
        /** An operator wants it to get no new requests. */
        DRAINING,
        /** It does not answer its checks as it should, and gets no requests. */
        UNHEALTHY,
        /** It has failed too often, and gets no requests for a while. */
        EJECTED,
        /** The last connection tried, not long ago, could not be made. It is chosen all the same. */
        UNREACHABLE,
        HEALTHY;

        private final String label = name().toLowerCase(Locale.ROOT);

        /** Returns the word for logs, labels and pages. */
        public String label() {
            return label;
        }
    }

    /**
     * What is known of an endpoint.
     *
     * @param failures in a row; 0 without outlier detection, as the rest
     * @param ejections how often it was ejected
     * @param ejectedMillis for how much longer it is
     * @param failedCheck why it is unhealthy, null if it is not
     */
    public record Report(State state, int failures, long ejections, long ejectedMillis, @Nullable String failedCheck) {}

    /** What is chosen from, and by what. */
    private record Choice(Balancer balancer, List<Endpoint> endpoints) {}

    /** What an endpoint leaves to the one of its address in the next generation. */
    private record Legacy(
            boolean draining, @Nullable String failedCheck, Host reached, int failures, Ejection ejection) {}

    private final List<Endpoint> endpoints;
    private final List<Host> hosts; // in the same order
    private final Balancer.Policy policy;
    private final @Nullable OutlierDetection outliers;
    private final @Nullable ActiveCheck check;
    private final LongSupplier clock;
    private volatile Choice choice;
    private volatile HealthListener listener = HealthListener.NONE;
    private final List<Consumer<List<Host>>> choosers = new CopyOnWriteArrayList<>();

    /**
     * Makes it, with all endpoints in service.
     *
     * @param policy makes what chooses among those that may be chosen
     * @param outliers when endpoints are ejected, null for never
     * @param check how they are asked whether they are well, null for not at all
     * @param clock nanoseconds since some time
     */
    public Health(
            List<Endpoint> endpoints,
            Balancer.Policy policy,
            @Nullable OutlierDetection outliers,
            @Nullable ActiveCheck check,
            LongSupplier clock) {
        this.endpoints = List.copyOf(endpoints);
        this.hosts = this.endpoints.stream().map(Host::new).toList();
        this.policy = policy;
        this.outliers = outliers;
        this.check = check;
        this.clock = clock;
        this.choice = new Choice(policy.over(hosts), this.endpoints);
    }

    List<Endpoint> endpoints() {
        return endpoints;
    }

    List<Host> hosts() {
        return hosts;
    }

    /** Returns the live state of an endpoint, null if it is not one of these. */
    @Nullable
    Host host(Endpoint endpoint) {
        int index = endpoint.index();
        if (index >= 0 && index < hosts.size() && hosts.get(index).endpoint().isSameAddress(endpoint)) {
            return hosts.get(index);
        }
        return null;
    }

    private Host required(Endpoint endpoint) {
        return Objects.requireNonNull(host(endpoint));
    }

    /** Returns what chooses among the endpoints that may be chosen. */
    Balancer balancer() {
        return choice.balancer;
    }

    /** Whether another endpoint than this one may be chosen. */
    public boolean hasOther(Endpoint endpoint) {
        List<Endpoint> chosen = choice.endpoints;
        return chosen.size() > 1 || (chosen.size() == 1 && !chosen.get(0).equals(endpoint));
    }

    /** Sets the listener of ejections, in place of the former one. */
    public void tell(HealthListener next) {
        listener = next;
    }

    /**
     * Lets somebody be told which endpoints may be chosen, now and whenever that changes; by whatever thread, one after the
     * other, so it must not take long.
     */
    public synchronized void onChoice(Consumer<List<Host>> chooser) {
        choosers.add(chooser);
        chooser.accept(those(Host::isChosen));
    }

    // What becomes of attempts, told by event loops

    /** A connection to an endpoint was tried. Nothing is done about those that requests name. */
    public void onTried(Endpoint endpoint, boolean reached) {
        Host host = host(endpoint);
        if (host == null) {
            return;
        }
        host.setReached(reached, clock.getAsLong());
        if (!reached) {
            onFailed(host);
        }
    }

    /**
     * An endpoint answered; how the answer ends, is not known yet.
     *
     * @return whether that is a failure
     */
    public boolean onAnswered(Endpoint endpoint, int status) {
        Host host = outliers == null ? null : host(endpoint);
        if (outliers == null || host == null) {
            return false;
        }
        boolean failed = outliers.isFailure(status);
        if (failed) {
            onFailed(host);
        } else if (outliers.counts() == OutlierDetection.Counts.ABSENCE) {
            host.forgive();
        }
        return failed;
    }

    /** An endpoint's answer was good, and did not break off. */
    public void onServed(Endpoint endpoint) {
        // Where answers that break off count, a good head alone must not make them forgotten: all may break off.
        Host host = outliers == null || outliers.counts() == OutlierDetection.Counts.ABSENCE ? null : host(endpoint);
        if (host != null) {
            host.forgive();
        }
    }

    /** An endpoint took a request and did not answer it. */
    public void onUnanswered(Endpoint endpoint) {
        Host host = host(endpoint);
        if (host != null) {
            onFailed(host);
        }
    }

    /** An endpoint did not answer a request as it should. */
    public void onAnsweredBadly(Endpoint endpoint) {
        if (outliers != null && outliers.counts() == OutlierDetection.Counts.ANY_FAILURE) {
            onUnanswered(endpoint);
        }
    }

    private void onFailed(Host host) {
        host.latency().addFailure(clock.getAsLong());
        if (outliers != null && host.failures.incrementAndGet() % outliers.consecutive5xx() == 0) {
            eject(host, outliers); // if it must not be now, maybe after as many more
        }
    }

    /**
     * Checks have found how an endpoint is.
     *
     * @param failure why it is not well, or null
     */
    public void onChecked(Endpoint endpoint, @Nullable String failure) {
        Host host = required(endpoint);
        int inService;
        synchronized (this) {
            boolean changed = (host.failedCheck == null) != (failure == null);
            host.failedCheck = failure;
            if (!changed) {
                return;
            }
            host.failures.set(0); // those of the time when it got no requests
            choose();
            inService = inService();
        }
        listener.onChecked(endpoint, failure, inService);
    }

    // Who is in service

    private void eject(Host host, OutlierDetection policy) {
        long millis;
        int left;
        synchronized (this) {
            left = inService();
            boolean allowed = host.isUnreached() || ejected() < policy.most(hosts.size());
            if (!host.isInService() || left == 1 || !allowed) {
                return;
            }
            left--;
            host.failures.set(0);
            millis = host.ejection.begin(policy, clock.getAsLong());
            choose();
        }
        listener.onEjected(host.endpoint(), millis, left);
    }

    /** Lets ejected endpoints return whose time is over; called again and again. */
    public void review() {
        for (Host host : hosts) {
            if (outliers != null && endsNow(host)) {
                listener.onReturned(host.endpoint());
            }
        }
    }

    private synchronized boolean endsNow(Host host) {
        long now = clock.getAsLong();
        if (!host.ejection.isLasting() || host.ejection.leftMillis(now) > 0) {
            return false;
        }
        host.ejection.end(now);
        host.failures.set(0); // whatever was under way when it was ejected does not count
        choose();
        return true;
    }

    /**
     * Lets an endpoint get no new request, or get them again.
     *
     * @return whether there is that endpoint
     */
    public synchronized boolean drain(String address, boolean drain) {
        List<Host> known = those(host -> host.toString().equals(address));
        known.forEach(host -> host.draining = drain);
        if (!known.isEmpty()) {
            choose();
        }
        return !known.isEmpty();
    }

    /** Takes over how endpoints of the same address are in an upstream of an earlier generation. */
    public void inherit(Health before) {
        Map<Endpoint.Address, Legacy> legacies = before.legacies();
        synchronized (this) {
            for (Host host : hosts) {
                Legacy legacy = legacies.get(host.endpoint().address());
                if (legacy != null) {
                    inherit(host, legacy);
                }
            }
            choose();
        }
    }

    /** Returns how endpoints are, by their address. */
    private synchronized Map<Endpoint.Address, Legacy> legacies() {
        Map<Endpoint.Address, Legacy> legacies = new HashMap<>();
        for (Host host : hosts) {
            Ejection ejection = new Ejection();
            ejection.inherit(host.ejection);
            legacies.putIfAbsent(
                    host.endpoint().address(),
                    new Legacy(host.draining, host.failedCheck, host, host.failures.get(), ejection));
        }
        return legacies;
    }

    private void inherit(Host host, Legacy legacy) {
        host.draining = legacy.draining;
        host.inheritReach(legacy.reached);
        if (outliers != null) {
            host.failures.set(legacy.failures % outliers.consecutive5xx());
            host.ejection.inherit(legacy.ejection);
        }
        host.failedCheck = check == null ? null : legacy.failedCheck;
    }

    private int inService() {
        return those(Host::isInService).size();
    }

    /** Counts those that could be reached: requests to the others would gain nothing. */
    private int ejected() {
        return those(host -> host.ejection.isLasting() && !host.isUnreached()).size();
    }

    private void choose() {
        List<Host> hostsNow = those(Host::isInService);
        if (hostsNow.isEmpty()) {
            hostsNow = those(Host::isWell); // who answers its checks may have recovered
        }
        if (hostsNow.isEmpty()) {
            hostsNow = those(host -> !host.draining); // the checks may be wrong
        }
        List<Endpoint> chosen = hostsNow.stream().map(Host::endpoint).toList();
        if (chosen.equals(choice.endpoints)) {
            return; // their turn goes on
        }
        choice = new Choice(policy.over(hostsNow), chosen);
        for (Host host : hosts) {
            host.setChosen(hostsNow.contains(host));
        }
        for (Consumer<List<Host>> chooser : choosers) {
            chooser.accept(hostsNow);
        }
    }

    private List<Host> those(Predicate<Host> wanted) {
        return hosts.stream().filter(wanted).toList();
    }

    // For those who look

    /** Tells how an endpoint is. */
    public synchronized Report report(Endpoint endpoint) {
        Host host = required(endpoint);
        Ejection ejection = host.ejection;
        String failedCheck = host.failedCheck;
        State state = State.HEALTHY;
        if (host.draining) {
            state = State.DRAINING;
        } else if (failedCheck != null) {
            state = State.UNHEALTHY;
        } else if (ejection.isLasting()) {
            state = State.EJECTED;
        } else if (host.isUnreachedLately(clock.getAsLong())) {
            state = State.UNREACHABLE;
        }
        return new Report(
                state, host.failures.get(), ejection.count(), ejection.leftMillis(clock.getAsLong()), failedCheck);
    }

    /** Whether an endpoint gets no new request because an operator wants it so. */
    public boolean isDraining(Endpoint endpoint) {
        return report(endpoint).state() == State.DRAINING;
    }

    /** Whether failures of endpoints are counted. */
    public boolean detectsOutliers() {
        return outliers != null;
    }

    /** Returns how endpoints are asked whether they are well, null if they are not asked. */
    public @Nullable ActiveCheck activeCheck() {
        return check;
    }
}
