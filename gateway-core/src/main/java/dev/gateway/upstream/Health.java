package dev.gateway.upstream;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How the endpoints of one upstream are, and so which of them are chosen: those in service, which neither drain nor are
 * ejected or unhealthy; if none is, the best of the others. Told of by event loops, which share a counter that only failures
 * write; the rest is guarded by this object and changes rarely. Safe from any thread.
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
        /** The last connection tried could not be made. It is chosen all the same. */
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

    /** Who is told of ejections and checks, by whatever thread; nothing is locked meanwhile. */
    public interface Listener {
        /** Is told nothing. */
        Listener NONE = new Listener() {
            @Override
            public void onEjected(Endpoint endpoint, long millis, int inService) {}

            @Override
            public void onReturned(Endpoint endpoint) {}

            @Override
            public void onChecked(Endpoint endpoint, @Nullable String failure, int inService) {}
        };

        /** An endpoint is ejected for some time; so many others are in service. */
        void onEjected(Endpoint endpoint, long millis, int inService);

        /** The time of an ejected endpoint is over. */
        void onReturned(Endpoint endpoint);

        /**
         * Checks have found that an endpoint is well again, or not any more.
         *
         * @param failure why not, or null
         * @param inService how many endpoints are
         */
        void onChecked(Endpoint endpoint, @Nullable String failure, int inService);
    }

    /** What is chosen from, and by what. */
    private record Choice(Balancer balancer, List<Endpoint> endpoints) {}

    /** What an endpoint leaves to the one of its address in the next generation. */
    private record Legacy(
            boolean draining, @Nullable String failedCheck, int unreached, int failures, Ejection ejection) {}

    private final List<Endpoint> endpoints;
    private final Balancer all;
    private final @Nullable OutlierDetection outliers;
    private final @Nullable ActiveCheck check;
    private final LongSupplier clock;
    private final AtomicIntegerArray unreached; // by endpoint, 1 if the last connection tried could not be made
    private final AtomicIntegerArray failures; // by endpoint, in a row
    private final boolean[] draining;
    private final Ejection[] ejections;
    private final @Nullable String[] failedChecks; // why endpoints are unhealthy, null if they are not
    private volatile Choice choice;
    private volatile Listener listener = Listener.NONE;

    /**
     * Makes it, with all endpoints in service.
     *
     * @param balancer chooses among exactly these endpoints
     * @param outliers when endpoints are ejected, null for never
     * @param check how they are asked whether they are well, null for not at all
     * @param clock nanoseconds since some time
     */
    public Health(
            List<Endpoint> endpoints,
            Balancer balancer,
            @Nullable OutlierDetection outliers,
            @Nullable ActiveCheck check,
            LongSupplier clock) {
        this.endpoints = List.copyOf(endpoints);
        this.all = balancer;
        this.outliers = outliers;
        this.check = check;
        this.clock = clock;
        int count = this.endpoints.size();
        this.unreached = new AtomicIntegerArray(count);
        this.failures = new AtomicIntegerArray(count);
        this.draining = new boolean[count];
        this.ejections = new Ejection[count];
        Arrays.setAll(ejections, i -> new Ejection());
        this.failedChecks = new @Nullable String[count];
        this.choice = new Choice(balancer, this.endpoints);
    }

    List<Endpoint> endpoints() {
        return endpoints;
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

    /** Lets somebody be told of ejections from now on, instead of whoever was before. */
    public void tell(Listener next) {
        listener = next;
    }

    // What becomes of attempts, told by event loops

    /** A connection to an endpoint was tried. Nothing is done about those that requests name. */
    public void onTried(Endpoint endpoint, boolean reached) {
        int index = endpoint.index();
        if (index < 0 || index >= unreached.length()) {
            return;
        }
        set(unreached, index, reached ? 0 : 1);
        if (!reached) {
            onFailed(endpoint);
        }
    }

    /**
     * An endpoint answered.
     *
     * @return whether that is a failure
     */
    public boolean onAnswered(Endpoint endpoint, int status) {
        boolean failed = status >= 500;
        if (failed) {
            onFailed(endpoint);
        } else if (outliers != null) {
            set(failures, endpoint.index(), 0);
        }
        return failed;
    }

    /** An endpoint could not be reached, or took a request and did not answer as it should. */
    public void onFailed(Endpoint endpoint) {
        if (outliers != null && failures.incrementAndGet(endpoint.index()) % outliers.consecutive5xx() == 0) {
            eject(endpoint, outliers); // if it must not be now, maybe after as many more
        }
    }

    /** Writes only what changes, so that loops do not contend for what hardly ever does. */
    private static void set(AtomicIntegerArray values, int index, int value) {
        if (values.getOpaque(index) != value) {
            values.set(index, value);
        }
    }

    /**
     * Checks have found how an endpoint is.
     *
     * @param failure why it is not well, or null
     */
    public void onChecked(Endpoint endpoint, @Nullable String failure) {
        int index = endpoint.index();
        int inService;
        synchronized (this) {
            boolean changed = (failedChecks[index] == null) != (failure == null);
            failedChecks[index] = failure;
            if (!changed) {
                return;
            }
            failures.set(index, 0); // those of the time when it got no requests
            choose();
            inService = inService();
        }
        listener.onChecked(endpoint, failure, inService);
    }

    // Who is in service

    private void eject(Endpoint endpoint, OutlierDetection policy) {
        long millis;
        int left;
        synchronized (this) {
            int index = endpoint.index();
            left = inService();
            if (!isInService(index) || left == 1 || ejected() >= policy.most(endpoints.size())) {
                return;
            }
            left--;
            failures.set(index, 0);
            millis = ejections[index].begin(policy, clock.getAsLong());
            choose();
        }
        listener.onEjected(endpoint, millis, left);
    }

    /** Lets ejected endpoints return whose time is over; called again and again. */
    public void review() {
        for (Endpoint endpoint : endpoints) {
            if (outliers != null && endsNow(endpoint.index())) {
                listener.onReturned(endpoint);
            }
        }
    }

    private synchronized boolean endsNow(int index) {
        long now = clock.getAsLong();
        if (!ejections[index].isLasting() || ejections[index].leftMillis(now) > 0) {
            return false;
        }
        ejections[index].end(now);
        failures.set(index, 0); // whatever was under way when it was ejected does not count
        choose();
        return true;
    }

    /**
     * Lets an endpoint get no new request, or get them again.
     *
     * @return whether there is that endpoint
     */
    public synchronized boolean drain(String address, boolean drain) {
        boolean known = false;
        for (Endpoint endpoint : endpoints) {
            if (endpoint.toString().equals(address)) {
                known = true;
                draining[endpoint.index()] = drain;
            }
        }
        if (known) {
            choose();
        }
        return known;
    }

    /** Takes over how endpoints of the same address are in an upstream of an earlier generation. */
    public void inherit(Health before) {
        Map<Endpoint.Address, Legacy> legacies = before.legacies();
        synchronized (this) {
            for (Endpoint endpoint : endpoints) {
                Legacy legacy = legacies.get(endpoint.address());
                if (legacy != null) {
                    inherit(endpoint.index(), legacy);
                }
            }
            choose();
        }
    }

    /** Returns how endpoints are, by their address. */
    private synchronized Map<Endpoint.Address, Legacy> legacies() {
        Map<Endpoint.Address, Legacy> legacies = new HashMap<>();
        for (Endpoint endpoint : endpoints) {
            int index = endpoint.index();
            Ejection ejection = new Ejection();
            ejection.inherit(ejections[index]);
            legacies.putIfAbsent(
                    endpoint.address(),
                    new Legacy(
                            draining[index], failedChecks[index], unreached.get(index), failures.get(index), ejection));
        }
        return legacies;
    }

    private void inherit(int index, Legacy legacy) {
        draining[index] = legacy.draining;
        unreached.set(index, legacy.unreached);
        if (outliers != null) {
            failures.set(index, legacy.failures % outliers.consecutive5xx());
            ejections[index].inherit(legacy.ejection);
        }
        failedChecks[index] = check == null ? null : legacy.failedCheck;
    }

    private boolean isInService(int index) {
        return isWell(index) && !ejections[index].isLasting();
    }

    private boolean isWell(int index) {
        return !draining[index] && failedChecks[index] == null;
    }

    private int inService() {
        return those(this::isInService).size();
    }

    private int ejected() {
        return (int) Arrays.stream(ejections).filter(Ejection::isLasting).count();
    }

    private void choose() {
        List<Endpoint> chosen = those(this::isInService);
        if (chosen.isEmpty()) {
            chosen = those(this::isWell); // who answers its checks may have recovered
        }
        if (chosen.isEmpty()) {
            chosen = those(index -> !draining[index]); // the checks may be wrong
        }
        if (chosen.equals(choice.endpoints)) {
            return; // their turn goes on
        }
        choice = new Choice(chosen.size() == endpoints.size() ? all : all.over(chosen), chosen);
    }

    private List<Endpoint> those(IntPredicate index) {
        return endpoints.stream().filter(each -> index.test(each.index())).toList();
    }

    // For those who look

    /** Tells how an endpoint is. */
    public synchronized Report report(Endpoint endpoint) {
        int index = endpoint.index();
        Ejection ejection = ejections[index];
        String failedCheck = failedChecks[index];
        State state = State.HEALTHY;
        if (draining[index]) {
            state = State.DRAINING;
        } else if (failedCheck != null) {
            state = State.UNHEALTHY;
        } else if (ejection.isLasting()) {
            state = State.EJECTED;
        } else if (unreached.get(index) != 0) {
            state = State.UNREACHABLE;
        }
        return new Report(
                state, failures.get(index), ejection.count(), ejection.leftMillis(clock.getAsLong()), failedCheck);
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
