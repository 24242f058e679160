package dev.gateway.upstream;

import dev.gateway.config.upstream.UpstreamConfig.ActiveCheck;
import dev.gateway.config.upstream.UpstreamConfig.SuccessRate;
import dev.gateway.stream.Cause;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Endpoint health: the state of the endpoints of one upstream, and which of them the balancer may choose. These are the
 * endpoints in service, which neither drain nor are ejected or unhealthy; if they are too few, others, too. Event loops
 * report the results of attempts; they share a counter that only failures write. The rest is guarded by this object and
 * changes rarely. Safe from any thread.
 */
public final class Health {
    /** The state of an endpoint: the first of these that applies. */
    public enum State {
        /** An operator has taken it out of service: it gets no new requests. */
        DRAINING,
        /** Its checks fail, and it gets no requests. */
        UNHEALTHY,
        /** It has failed too often, and gets no requests for a while. */
        EJECTED,
        /** The last attempt to connect, not long ago, failed. It still gets requests. */
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
     * @param failures in a row; like the next two, 0 without outlier detection
     * @param ejections how often it was ejected
     * @param ejectedMillis for how much longer it is ejected
     * @param failedCheck why it is unhealthy, null if it is not
     * @param sessionsMillis for how much longer it keeps its sessions while it drains
     */
    public record Report(
            State state,
            int failures,
            long ejections,
            long ejectedMillis,
            @Nullable String failedCheck,
            long sessionsMillis) {}

    /**
     * A drain of an endpoint.
     *
     * @param number of a drain that leaves it its sessions, else {@link #NO_SESSIONS}
     * @param sessionsNanos for how much longer it keeps them
     */
    public record Drain(String endpoint, long number, long sessionsNanos) {
        /** Its sessions go to other endpoints. */
        public static final long NO_SESSIONS = -1;
    }

    private volatile HostSet set;
    private Consumer<Host> preparation = host -> {};
    private final HealthSettings settings;
    private final @Nullable OutlierDetection outliers;
    private final @Nullable ActiveCheck check;
    private final LongSupplier clock;
    private final ChosenHosts chosen;
    private final ExpectedDrains expected = new ExpectedDrains();
    private final @Nullable SuccessRates successRates;
    private boolean toldPanic; // used by the thread that calls review only
    private volatile HealthListener listener = HealthListener.NONE;
    private final List<BiConsumer<Host, String>> unresponsive = new CopyOnWriteArrayList<>(); // who is told

    /** Makes it without slow start and panic mode. */
    public Health(
            List<Endpoint> endpoints,
            Balancer.Policy policy,
            @Nullable OutlierDetection outliers,
            @Nullable ActiveCheck check,
            LongSupplier clock) {
        this(endpoints, policy, new HealthSettings(outliers, check, 0, 0), clock);
    }

    /**
     * Makes it, with all endpoints in service.
     *
     * @param policy makes the balancer among the endpoints that may be chosen
     * @param clock returns nanoseconds, such as System.nanoTime
     */
    public Health(List<Endpoint> endpoints, Balancer.Policy policy, HealthSettings settings, LongSupplier clock) {
        this.set = new HostSet(endpoints.stream().map(Host::new).toList());
        this.settings = settings;
        this.outliers = settings.outliers();
        this.check = settings.check();
        this.clock = clock;
        SuccessRate rate = outliers == null ? null : outliers.config().successRate();
        this.successRates = rate == null ? null : new SuccessRates(rate, clock.getAsLong());
        this.chosen = new ChosenHosts(set, policy, settings);
    }

    /** Prepares all hosts by this function, and later each new host before it is used. */
    synchronized void prepareHosts(Consumer<Host> prepared) {
        preparation = prepared;
        set.hosts.forEach(prepared);
    }

    /**
     * Replaces the endpoints by these; returns those that it has removed. An endpoint whose name or zone has changed is
     * another one, with the state of the former.
     *
     * @param slowly whether new endpoints start slowly
     */
    synchronized List<Host> update(List<EndpointSpec> wanted, boolean slowly) {
        HostSet before = set;
        HostSet next = before.next(wanted, preparation);
        Set<Host> stay = Set.copyOf(next.hosts);
        List<Host> gone =
                before.hosts.stream().filter(host -> !stay.contains(host)).toList();
        Map<Endpoint.Address, Legacy> legacies = legacies(gone);
        next.hosts.forEach(host -> {
            Legacy legacy = legacies.get(host.endpoint().address());
            if (legacy != null) {
                legacy.give(host, settings);
            }
        });
        next.hosts.forEach(expected::give);
        set = next; // not sooner: event loops use it at once
        gone.forEach(Host::leave);
        chosen.update(set, slowly, clock.getAsLong());
        return gone;
    }

    List<Endpoint> endpoints() {
        return set.endpoints;
    }

    List<Host> hosts() {
        return set.hosts;
    }

    /** Returns the live state of an endpoint, null if it is not one of these. */
    @Nullable
    Host host(Endpoint endpoint) {
        return set.host(endpoint);
    }

    /** Returns the balancer among the endpoints that may be chosen. */
    Balancer balancer() {
        return chosen.balancer();
    }

    /** Whether another endpoint than this one may be chosen. */
    public boolean hasOther(Endpoint endpoint) {
        return chosen.hasOther(endpoint);
    }

    /** Sets the listener of ejections, in place of the former one. */
    public void tell(HealthListener next) {
        listener = next;
    }

    /**
     * Tells a listener which endpoints may be chosen, now and at each change, and when an endpoint that drains loses its
     * sessions; on any thread, so it must not take long.
     */
    public synchronized void onChoice(Consumer<List<Host>> chooser) {
        chosen.tell(chooser, set);
    }

    /**
     * Tells a listener which endpoints take requests of sessions: those that may be chosen, and those that drain and keep their
     * sessions. Now and at each change; on any thread, so it must not take long.
     */
    synchronized void onSessionChoice(Consumer<List<Host>> chooser) {
        chosen.tellOfSessions(chooser, set);
    }

    /**
     * Tells a listener of each endpoint that is found not to answer, and how. It is out of service then. A bad status is an
     * answer. Called on any thread without a lock, so it must not take long.
     */
    public void onUnresponsive(BiConsumer<Host, String> told) {
        unresponsive.add(told);
    }

    private void tellUnresponsive(Host host, String why) {
        unresponsive.forEach(each -> each.accept(host, why));
    }

    /** Whether requests that wait at such an endpoint fail at once if they cannot be sent to another one. */
    public boolean closesOnFailure() {
        return settings.closeOnFailure();
    }

    // Results of attempts, which event loops report

    /** The gateway has connected to an endpoint. Endpoints that requests name are not counted. */
    public void onReached(Endpoint endpoint) {
        Host host = host(endpoint);
        if (host != null) {
            host.setReached(true, clock.getAsLong());
            endEarly(host, Ejection::endsByConnection);
        }
    }

    /** The gateway could not connect to an endpoint. Endpoints that requests name are not counted. */
    public void onUnreached(Endpoint endpoint, Cause cause) {
        Host host = host(endpoint);
        if (host != null) {
            host.setReached(false, clock.getAsLong());
            onFailed(host, true, Ejection.Why.NO_CONNECTION, isSilence(cause));
        }
    }

    /** Whether the endpoint itself does not answer. A name without an address and a wrong certificate say nothing of that. */
    private static boolean isSilence(Cause cause) {
        return cause == Cause.CONNECT_FAILED || cause == Cause.CONNECT_TIMEOUT;
    }

    /**
     * An endpoint has sent the head of its response.
     *
     * @return whether its status counts as a failure
     */
    public boolean onAnswered(Endpoint endpoint, int status) {
        Host host = outliers == null ? null : host(endpoint);
        if (outliers == null || host == null) {
            return false;
        }
        host.setUnanswered(false);
        boolean failed = outliers.isFailure(status);
        if (failed) {
            onFailed(host);
        } else if (outliers.counts() == OutlierDetection.Counts.ABSENCE) {
            host.forgive();
        }
        return failed;
    }

    /** An endpoint has sent a complete response that is no failure. */
    public void onServed(Endpoint endpoint) {
        // If responses that break off count as failures, a good head alone must not reset the count: all may break off.
        Host host = outliers == null || outliers.counts() == OutlierDetection.Counts.ABSENCE ? null : host(endpoint);
        if (host != null) {
            host.forgive();
            if (successRates != null) {
                host.countOutcome(true);
            }
        }
    }

    /**
     * An endpoint took a request and did not answer it in time.
     *
     * @param sentNanos when the request was sent
     * @param nanos now, by the same clock
     */
    public void onUnanswered(Endpoint endpoint, long sentNanos, long nanos) {
        Host host = host(endpoint);
        if (host != null) {
            host.setUnanswered(true);
            long waited = nanos - sentNanos;
            boolean silent = !host.isHeardSince(nanos - waited / 2); // else only this request takes long
            onFailed(host, true, Ejection.Why.NO_ANSWER, silent);
        }
    }

    /**
     * An endpoint is found not to answer on a connection: not even its protocol or its kernel does. That alone ejects it,
     * however many failures outlier detection asks for. If it has answered elsewhere meanwhile, only that connection is lost.
     * To be told once for each silence, and before who waits on that connection.
     *
     * @param sinceNanos since when it has not answered there
     */
    public void onSilent(Endpoint endpoint, long sinceNanos, String why) {
        Host host = host(endpoint);
        if (host != null && !host.isHeardSince(sinceNanos)) {
            host.setUnanswered(true);
            host.latency().addFailure(clock.getAsLong());
            if (successRates != null) {
                host.countOutcome(false);
            }
            if (outliers != null) {
                eject(host, outliers, Ejection.Why.NO_ANSWER, "does not answer: " + why);
            }
        }
    }

    /**
     * An endpoint reset a request, or the connection of one, and did not answer it. What was sent before the last such report
     * does not count as another failure in a row: one failure of the network or one lost connection ends many requests.
     *
     * @param sentNanos when the request was sent
     * @param nanos now, by the same clock
     */
    public void onReset(Endpoint endpoint, long sentNanos, long nanos) {
        Host host = host(endpoint);
        if (host != null) {
            host.setUnanswered(true);
            // Not as silent: other requests there are reset, too, or run.
            onFailed(host, host.isNewReset(sentNanos, nanos), Ejection.Why.NO_ANSWER, false);
        }
    }

    /** An endpoint answered a request with a failure other than {@link #onAnswered} counts, such as one that is not HTTP. */
    public void onAnsweredBadly(Endpoint endpoint) {
        Host host = host(endpoint);
        if (host != null && outliers != null && outliers.counts() == OutlierDetection.Counts.ANY_FAILURE) {
            onFailed(host);
        }
    }

    /** A response of an endpoint broke off; counted as {@link #onReset} counts, if such failures count at all. */
    public void onBrokenOff(Endpoint endpoint, long sentNanos, long nanos) {
        Host host = host(endpoint);
        if (host != null && outliers != null && outliers.counts() == OutlierDetection.Counts.ANY_FAILURE) {
            onFailed(host, host.isNewReset(sentNanos, nanos), Ejection.Why.BAD_ANSWER, false);
        }
    }

    private void onFailed(Host host) {
        onFailed(host, true, Ejection.Why.BAD_ANSWER, false);
    }

    private void onFailed(Host host, boolean another, Ejection.Why why, boolean silent) {
        host.latency().addFailure(clock.getAsLong());
        if (successRates != null) {
            host.countOutcome(false);
        }
        if (another && outliers != null && outliers.isTooMany(host.failures.incrementAndGet())) {
            boolean ejected =
                    eject(host, outliers, why, "has failed too often"); // if not, the next try is after as many more
            if (ejected && silent) {
                tellUnresponsive(host, "it was ejected, because it did not answer too often");
            }
        }
    }

    /** Active checks have judged an endpoint, which has answered. */
    public void onChecked(Endpoint endpoint, @Nullable String failure) {
        onChecked(endpoint, failure, false);
    }

    /**
     * Active checks have judged an endpoint.
     *
     * @param failure why it is unhealthy, or null if it is healthy
     * @param silent whether it has answered neither the last check nor a request since then
     */
    public void onChecked(Endpoint endpoint, @Nullable String failure, boolean silent) {
        Host host = host(endpoint);
        if (host == null) {
            return; // it was removed meanwhile
        }
        boolean changed;
        int inService = 0;
        synchronized (this) {
            changed = (host.failedCheck == null) != (failure == null);
            host.checked = true;
            host.setFailedCheck(failure, clock.getAsLong());
            if (changed) {
                host.failures.set(0); // they are from the time before
                choose(false);
                inService = inService();
            }
        }
        if (changed) {
            listener.onChecked(endpoint, failure, inService);
        }
        if (silent && failure != null) {
            tellUnresponsive(host, failure); // each time: more retries may be possible by now
        }
    }

    /**
     * An endpoint has answered a check well, of a type that asks it. This ends an ejection because it could not be reached, or
     * did not answer. A check that only connects tells {@link #onReached}.
     */
    public void onAnsweredCheck(Endpoint endpoint) {
        Host host = host(endpoint);
        if (host != null) {
            endEarly(host, Ejection::endsByAnswer);
        }
    }

    /** Whether active checks have judged the endpoint, or its predecessor. */
    public synchronized boolean wasChecked(Endpoint endpoint) {
        Host host = host(endpoint);
        return host != null && host.checked;
    }

    // Which endpoints are in service

    /** Returns whether limits allow it. */
    private boolean eject(Host host, OutlierDetection policy, Ejection.Why why, String reason) {
        long millis;
        int left;
        synchronized (this) {
            left = inService();
            boolean allowed = host.isUnresponsive() || ejected() < policy.most(set.hosts.size());
            if (!host.isInService() || left == 1 || !allowed) {
                return false;
            }
            left--;
            host.failures.set(0);
            millis = host.ejection.begin(policy, why, clock.getAsLong());
            choose(false);
        }
        listener.onEjected(host.endpoint(), reason, millis, left);
        return true;
    }

    /** Ends ejections whose time is over, and does all other periodic work; called about once a second. */
    public void review() {
        for (SuccessRates.Outlier outlier : advance()) {
            eject(outlier.host(), Objects.requireNonNull(outliers), Ejection.Why.BAD_ANSWER, outlier.reason());
        }
        for (Host host : set.hosts) {
            if (outliers != null && endsNow(host)) {
                listener.onReturned(host.endpoint());
            }
        }
        boolean panic = chosen.isPanic();
        if (panic != toldPanic) {
            toldPanic = panic;
            listener.onPanic(toldPanic, inService());
        }
    }

    /** Raises the shares of endpoints that start slowly; returns the endpoints that succeed too seldom. */
    private synchronized List<SuccessRates.Outlier> advance() {
        long now = clock.getAsLong();
        chosen.advance(set, now);
        return successRates == null ? List.of() : successRates.review(set.hosts, now);
    }

    private synchronized boolean endsNow(Host host) {
        long now = clock.getAsLong();
        if (!host.ejection.isLasting() || host.ejection.leftMillis(now) > 0) {
            return false;
        }
        end(host, now);
        return true;
    }

    private void end(Host host, long now) {
        host.ejection.end(now);
        host.failures.set(0); // requests that were in flight when it was ejected do not count
        choose(false);
    }

    /** Ends the ejection of an endpoint that has shown that its reason is gone; asks without the lock first. */
    private void endEarly(Host host, Predicate<Ejection> isOver) {
        if (!isOver.test(host.ejection)) {
            return;
        }
        synchronized (this) {
            if (!isOver.test(host.ejection)) {
                return; // another event loop was faster
            }
            end(host, clock.getAsLong());
        }
        listener.onReturned(host.endpoint());
    }

    /**
     * Takes an endpoint out of service and ends its sessions, or puts it back.
     *
     * @return whether the upstream has that endpoint
     */
    public boolean drain(String address, boolean drain) {
        return drain(address, drain, null);
    }

    /**
     * Takes an endpoint out of service, but requests of its sessions still go there, until {@link #endSessions}.
     *
     * @param number a number for this drain
     * @param stayNanos how long they go there, for pages
     * @return whether the upstream has that endpoint
     */
    public boolean drainButSessions(String address, long number, long stayNanos) {
        return drain(address, true, new Host.SessionDrain(number, clock.getAsLong() + stayNanos));
    }

    private synchronized boolean drain(String address, boolean drain, Host.@Nullable SessionDrain sessionDrain) {
        List<Host> known = those(host -> host.toString().equals(address));
        known.forEach(host -> {
            host.draining = drain;
            host.sessionDrain = sessionDrain;
        });
        if (!known.isEmpty()) {
            choose(false);
        }
        boolean wasExpected = expected.remove(address);
        if (wasExpected && drain) {
            expected.add(address, sessionDrain);
        }
        return !known.isEmpty() || wasExpected;
    }

    /**
     * Lets an endpoint drain that drained before the process started. One that discovery has not found yet does so as soon as
     * it is there.
     *
     * @param number a number for this drain
     * @param stayNanos how much longer its sessions go there, 0 if they do not
     * @return whether it is there
     */
    public synchronized boolean resumeDrain(String address, long number, long stayNanos) {
        Host.SessionDrain sessions =
                stayNanos <= 0 ? null : new Host.SessionDrain(number, clock.getAsLong() + stayNanos);
        boolean found = drain(address, true, sessions);
        if (!found) {
            expected.add(address, sessions);
        }
        return found;
    }

    /** Forgets drains of endpoints that have not come, and returns their addresses: discovery knows all endpoints now. */
    public synchronized List<String> forgetExpectedDrains() {
        return expected.clear();
    }

    /** Whether there are drains of endpoints that discovery has not found yet. */
    public synchronized boolean expectsDrains() {
        return !expected.isEmpty();
    }

    /** Whether anything drains, at little cost: it is asked each second, and nearly always nothing does. */
    public synchronized boolean hasDrains() {
        if (!expected.isEmpty()) {
            return true;
        }
        for (Host host : set.hosts) {
            if (host.draining) {
                return true;
            }
        }
        return false;
    }

    /** Returns what drains: the endpoints, and those that will when discovery finds them. */
    public synchronized List<Drain> drains() {
        List<Drain> drains = new ArrayList<>();
        those(host -> host.draining).forEach(host -> drains.add(drain(host.toString(), host.sessionDrain)));
        expected.forEach((address, sessions) -> drains.add(drain(address, sessions)));
        return drains;
    }

    private Drain drain(String address, Host.@Nullable SessionDrain sessions) {
        return sessions == null
                ? new Drain(address, Drain.NO_SESSIONS, 0)
                : new Drain(address, sessions.number(), Math.max(0, sessions.endNanos() - clock.getAsLong()));
    }

    /**
     * Ends the sessions of an endpoint that drains, unless it has got another drain since.
     *
     * @return whether it had sessions of this drain
     */
    public synchronized boolean endSessions(String address, long number) {
        List<Host> known = those(host ->
                host.toString().equals(address) && host.sessionDrain != null && host.sessionDrain.number() == number);
        known.forEach(host -> host.sessionDrain = null);
        if (!known.isEmpty()) {
            choose(false);
        }
        return expected.endSessions(address, number) || !known.isEmpty();
    }

    /** Takes over the state of endpoints of the same address from the upstream of an earlier generation. */
    public void inherit(Health before) {
        Map<Endpoint.Address, Legacy> legacies = before.allLegacies();
        ExpectedDrains drains = before.expectedDrains();
        synchronized (this) {
            drains.forEach(expected::add);
            for (Host host : set.hosts) {
                Legacy legacy = legacies.get(host.endpoint().address());
                if (legacy != null) {
                    legacy.give(host, settings);
                    host.checked = false; // the settings are others, so the first answer decides
                } else {
                    chosen.beginSlowly(host, clock.getAsLong());
                }
            }
            set.hosts.forEach(expected::give);
            choose(true);
        }
    }

    private synchronized ExpectedDrains expectedDrains() {
        return new ExpectedDrains(expected);
    }

    private synchronized Map<Endpoint.Address, Legacy> allLegacies() {
        return legacies(set.hosts);
    }

    /** Returns the state of endpoints by their address; the caller holds the lock. */
    private static Map<Endpoint.Address, Legacy> legacies(List<Host> hosts) {
        Map<Endpoint.Address, Legacy> legacies = new HashMap<>();
        for (Host host : hosts) {
            legacies.putIfAbsent(host.endpoint().address(), Legacy.of(host));
        }
        return legacies;
    }

    private synchronized int inService() {
        return those(Host::isInService).size();
    }

    /** Counts ejected endpoints that answered, if badly. The others do not count: requests to them would gain nothing. */
    private int ejected() {
        return those(host -> host.ejection.isLasting() && !host.isUnresponsive())
                .size();
    }

    private void choose(boolean rebuild) {
        chosen.choose(set, rebuild, clock.getAsLong());
    }

    private List<Host> those(Predicate<Host> wanted) {
        return set.hosts.stream().filter(wanted).toList();
    }

    // For pages, metrics and logs

    /** Returns the state of an endpoint. A removed one counts as draining. */
    public synchronized Report report(Endpoint endpoint) {
        Host host = host(endpoint);
        if (host == null) {
            return new Report(State.DRAINING, 0, 0, 0, null, 0);
        }
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
        long now = clock.getAsLong();
        return new Report(
                state,
                host.failures.get(),
                ejection.count(),
                ejection.leftMillis(now),
                failedCheck,
                sessionsMillis(host, now));
    }

    private static long sessionsMillis(Host host, long now) {
        Host.SessionDrain drain = host.sessionDrain;
        return drain == null ? 0 : Math.max(0, TimeUnit.NANOSECONDS.toMillis(drain.endNanos() - now));
    }

    /** Returns how many endpoints are in which state, such as {@code 2 of 3 draining, 1 of 3 unhealthy}. */
    synchronized String summary() {
        List<Endpoint> all = set.endpoints;
        Map<State, Long> counts = new EnumMap<>(State.class);
        all.forEach(endpoint -> counts.merge(report(endpoint).state(), 1L, Long::sum));
        return counts.entrySet().stream()
                .map(each -> each.getValue() + " of " + all.size() + " "
                        + each.getKey().label())
                .collect(Collectors.joining(", "));
    }

    /** Whether an endpoint gets no new requests because an operator has taken it out of service. */
    public boolean isDraining(Endpoint endpoint) {
        return report(endpoint).state() == State.DRAINING;
    }

    /** Whether so few endpoints are in service that all get requests (panic mode). */
    public boolean isPanic() {
        return chosen.isPanic();
    }

    /** Returns the share of requests that stays in the gateway's zone, from 0 to 1; null if zones make no difference. */
    public @Nullable Double localShare() {
        return chosen.localShare();
    }

    /** Whether this counts failures of endpoints. */
    public boolean detectsOutliers() {
        return outliers != null;
    }

    /** Returns the settings of active checks, null if there are no checks. */
    public @Nullable ActiveCheck activeCheck() {
        return check;
    }
}
