package dev.gateway.observe.metrics;

import dev.gateway.format.ShownText;
import dev.gateway.observe.counts.EndpointMeters;
import dev.gateway.observe.metrics.Attention.Finding.Level;
import dev.gateway.observe.metrics.UpstreamMeters.UpstreamCount;
import dev.gateway.observe.metrics.state.CertificateExpiry;
import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.observe.metrics.state.UpstreamState.EndpointState;
import dev.gateway.overload.Overload;
import dev.gateway.stream.Cause;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Attention: what an operator should look at first, in words. The dashboard and {@code gateway top} show it. What it says of
 * traffic is about the last five to ten seconds, for which it keeps counts. Safe from any thread but event loops.
 */
final class Attention {
    private static final int EVERY = 5; // seconds
    private static final int NAMED = 3;
    private static final int LAST_DAYS = 7;
    private static final int SOON_DAYS = 21;
    private static final double LONG_LAG_SECONDS = 0.1;
    private static final double HIGH_DIRECT_MEMORY = 0.85;
    private static final double MANY_FAILED = 0.05;
    private static final int LEAST_FAILED = 2;
    private static final String HEALTHY = "healthy";
    private static final String DRAINING = "draining";

    /** Causes other than those that clients bring about, and than refusals by policy. */
    private static final Set<Cause> TROUBLES = EnumSet.allOf(Cause.class);

    static {
        Pattern ofClients = Pattern.compile(
                "client|policy|proxy_auth|authz|rate|no_route|body_too|max_duration|idle_timeout|admin");
        TROUBLES.removeIf(cause -> ofClients.matcher(cause.label()).lookingAt());
    }

    private final Statistics statistics;
    private final ProcessMeters process;
    private Counts last = Counts.NONE; // guarded by this
    private Counts before = Counts.NONE; // guarded by this
    private int seconds; // guarded by this

    Attention(Statistics statistics, ProcessMeters process) {
        this.statistics = statistics;
        this.process = process;
    }

    /** What should be looked at. */
    record Finding(Level level, String text) {
        /** How urgent it is. */
        enum Level {
            /** Requests fail, or soon will. */
            BAD,
            WARN;

            String label() {
                return name().toLowerCase(Locale.ROOT);
            }
        }
    }

    /** Keeps counts if it is time to; called once a second. */
    synchronized void sample() {
        if (seconds++ % EVERY == 0) {
            before = last;
            last = count(process.upstreams.get());
        }
    }

    /** Returns what should be looked at now, the most general first. */
    List<Finding> findings() {
        List<UpstreamState> upstreams = process.upstreams.get();
        return new Look(upstreams, reference(), count(upstreams)).findings();
    }

    private synchronized Counts reference() {
        return before;
    }

    // ---- counts

    /** What has been counted until some moment. */
    private record Counts(
            Map<String, RouteCount> routes,
            Map<String, Long> overflows,
            Map<EndpointKey, EndpointCount> endpoints,
            long dropped) {
        static final Counts NONE = new Counts(Map.of(), Map.of(), Map.of(), 0);
    }

    private record EndpointKey(String upstream, String address) {}

    private record EndpointCount(long requests, long failures) {
        static final EndpointCount NONE = new EndpointCount(0, 0);
    }

    /** Requests of a route on all listeners, and those that failed for other causes than clients and policies. */
    private static final class RouteCount {
        static final RouteCount NONE = new RouteCount();
        private long requests;
        private Map<Cause, Long> failed = Map.of(); // most routes have none

        void add(RouteMeters meters) {
            meters.requests.forEach((key, count) -> {
                requests += count;
                Cause cause = RouteMeters.cause(key);
                if (cause != null && TROUBLES.contains(cause)) {
                    failed = failed.isEmpty() ? new HashMap<>() : failed;
                    failed.merge(cause, count, Long::sum);
                }
            });
        }
    }

    private Counts count(List<UpstreamState> upstreams) {
        Map<String, RouteCount> routes = new HashMap<>();
        Map<String, Long> overflows = new HashMap<>();
        Map<EndpointKey, EndpointCount> endpoints = new HashMap<>();
        for (LoopMetrics loop : statistics.loops()) {
            for (ListenerMeters listener : loop.listeners().values()) {
                listener.routes().forEach((name, meters) -> routes.computeIfAbsent(name, n -> new RouteCount())
                        .add(meters));
            }
            for (UpstreamState upstream : upstreams) {
                UpstreamMeters meters = loop.upstreams().get(upstream.name());
                if (meters != null) {
                    overflows.merge(upstream.name(), meters.get(UpstreamCount.PENDING_OVERFLOW), Long::sum);
                    addEndpoints(upstream, meters, endpoints);
                }
            }
        }
        return new Counts(routes, overflows, endpoints, process.accessLogDropped());
    }

    private static void addEndpoints(
            UpstreamState upstream, UpstreamMeters meters, Map<EndpointKey, EndpointCount> endpoints) {
        for (EndpointState endpoint : upstream.endpoints()) {
            EndpointMeters counts = meters.endpoints.of(endpoint.address());
            if (counts != null) {
                long failures = counts.failures(); // first: each is counted before its request
                endpoints.merge(
                        new EndpointKey(upstream.name(), endpoint.address()),
                        new EndpointCount(counts.requests(), failures),
                        (a, b) -> new EndpointCount(a.requests + b.requests, a.failures + b.failures));
            }
        }
    }

    // ---- findings

    /** One look at everything. */
    private final class Look {
        private final List<UpstreamState> upstreams;
        private final Counts before;
        private final Counts now;
        private final List<Finding> findings = new ArrayList<>();

        Look(List<UpstreamState> upstreams, Counts before, Counts now) {
            this.upstreams = upstreams;
            this.before = before;
            this.now = now;
        }

        private void bad(String text) {
            findings.add(new Finding(Level.BAD, text));
        }

        private void warn(String text) {
            findings.add(new Finding(Level.WARN, text));
        }

        List<Finding> findings() {
            if (process.lastReloadFailed) {
                bad("The last reload was refused; the log and /ready say why.");
            }
            overload();
            routes();
            upstreams();
            sources();
            certificates();
            int faulty = process.faultyAccountFiles.getAsInt();
            if (faulty > 0) {
                bad(plural(faulty, "file")
                        + " of users, tokens, groups or filters cannot be read as written; /ready says" + " why.");
            }
            if (now.dropped > before.dropped) {
                warn("The access log drops lines.");
            }
            double lag = statistics.loops().stream()
                    .mapToDouble(loop -> loop.lag().seconds())
                    .max()
                    .orElse(0);
            if (lag > LONG_LAG_SECONDS) {
                warn(String.format(Locale.ROOT, "An event loop kept its tasks waiting for %.0f ms.", lag * 1000));
            }
            return findings;
        }

        private void overload() {
            Overload overload = process.overload;
            if (overload != null && overload.refusing() != Overload.Refusing.NOTHING) {
                bad("Overloaded: new " + overload.refusing().name().toLowerCase(Locale.ROOT) + " are refused.");
            }
            double direct = (double) ProcessMeters.directMemoryUsed() / ProcessMeters.directMemoryMax();
            if (direct > HIGH_DIRECT_MEMORY) {
                bad(String.format(Locale.ROOT, "Direct memory: %.0f %% are in use.", direct * 100));
            }
        }

        /** Adds the worst three, and how many more there are. */
        private void addWorst(List<Finding> worstFirst, String more) {
            worstFirst.stream().limit(NAMED).forEach(findings::add);
            if (worstFirst.size() > NAMED) {
                warn(worstFirst.size() - NAMED + " more " + more);
            }
        }

        /** A route of which many requests fail. */
        private record Troubled(String route, double part, Cause most) {
            static final Comparator<Troubled> WORST_FIRST =
                    Comparator.comparingDouble(Troubled::part).reversed().thenComparing(Troubled::route);

            Finding finding() {
                return new Finding(
                        Level.BAD,
                        String.format(
                                Locale.ROOT,
                                "Route %s: %.0f %% of requests fail, most with %s.",
                                route,
                                Math.min(1, part) * 100,
                                most.label()));
            }
        }

        private void routes() {
            List<Troubled> troubled = new ArrayList<>();
            now.routes.forEach((name, count) -> {
                RouteCount former = before.routes.getOrDefault(name, RouteCount.NONE);
                Map<Cause, Long> failed = new TreeMap<>();
                count.failed.forEach(
                        (cause, total) -> failed.put(cause, total - former.failed.getOrDefault(cause, 0L)));
                long sum = failed.values().stream().mapToLong(Long::longValue).sum();
                double part = (double) sum / Math.max(1, count.requests - former.requests);
                if (sum >= LEAST_FAILED && part >= MANY_FAILED) {
                    Cause most = Collections.max(failed.entrySet(), Map.Entry.comparingByValue())
                            .getKey();
                    troubled.add(new Troubled(name, part, most));
                }
            });
            troubled.sort(Troubled.WORST_FIRST);
            addWorst(troubled.stream().map(Troubled::finding).toList(), "routes fail like that.");
        }

        private void upstreams() {
            List<UpstreamState> ill = upstreams.stream()
                    .filter(upstream -> illPart(upstream) > 0)
                    .sorted(Comparator.comparingDouble((UpstreamState upstream) -> -illPart(upstream))
                            .thenComparing(UpstreamState::name))
                    .toList();
            addWorst(
                    ill.stream()
                            .map(upstream ->
                                    new Finding(illPart(upstream) == 1 ? Level.BAD : Level.WARN, illness(upstream)))
                            .toList(),
                    "upstreams have endpoints that are not healthy.");
            List<Finding> troubled = new ArrayList<>();
            for (UpstreamState upstream : upstreams) {
                String name = upstream.name();
                if (upstream.panic()) {
                    troubled.add(new Finding(
                            Level.BAD,
                            "Upstream " + name
                                    + ": too few endpoints are in service, so all get requests (panic mode)."));
                }
                if (now.overflows.getOrDefault(name, 0L) > before.overflows.getOrDefault(name, 0L)) {
                    troubled.add(
                            new Finding(Level.BAD, "Upstream " + name + ": the queue of requests that wait is full."));
                }
                upstream.endpoints().stream()
                        .filter(endpoint -> isFailing(name, endpoint))
                        .forEach(endpoint -> troubled.add(new Finding(
                                Level.BAD,
                                "Upstream " + name + ": every request to " + endpoint.address()
                                        + " fails, although it counts as healthy.")));
            }
            addWorst(troubled, "findings of this kind about upstreams.");
        }

        /** An endpoint may count as healthy, and answer nothing but errors. */
        private boolean isFailing(String upstream, EndpointState endpoint) {
            EndpointKey key = new EndpointKey(upstream, endpoint.address());
            EndpointCount count = now.endpoints.getOrDefault(key, EndpointCount.NONE);
            EndpointCount former = before.endpoints.getOrDefault(key, EndpointCount.NONE);
            long failures = count.failures - former.failures;
            boolean allFail = failures == count.requests - former.requests;
            return endpoint.state().equals(HEALTHY) && failures >= LEAST_FAILED && allFail;
        }

        private void sources() {
            List<Finding> stale = new ArrayList<>();
            for (UpstreamState upstream : upstreams) {
                for (UpstreamState.Source source : upstream.sources()) {
                    if (source.isStale()) {
                        stale.add(new Finding(
                                Level.WARN,
                                "Upstream " + upstream.name() + ": " + source.name()
                                        + " fails, so its endpoints may be out of date: "
                                        + ShownText.line(source.problem())));
                    }
                }
            }
            addWorst(stale, "sources of endpoints fail.");
        }

        private void certificates() {
            Map<String, Long> days = new TreeMap<>();
            long today = System.currentTimeMillis();
            for (CertificateExpiry each : process.certificates.get()) {
                long left = TimeUnit.SECONDS.toMillis(each.notAfterSeconds()) - today;
                days.merge(
                        each.name() + " (" + each.owner() + ")",
                        Math.floorDiv(left, TimeUnit.DAYS.toMillis(1)),
                        Math::min);
            }
            List<Map.Entry<String, Long>> soon = days.entrySet().stream()
                    .filter(each -> each.getValue() < SOON_DAYS)
                    .sorted(Map.Entry.comparingByValue())
                    .toList();
            addWorst(
                    soon.stream()
                            .map(each -> certificate(each.getKey(), each.getValue()))
                            .toList(),
                    "certificates end soon or have expired.");
        }

        private static Finding certificate(String of, long daysLeft) {
            return new Finding(
                    daysLeft < LAST_DAYS ? Level.BAD : Level.WARN,
                    "The certificate of " + of
                            + (daysLeft < 0 ? " has expired." : " ends in " + plural(daysLeft, "day") + "."));
        }
    }

    // ---- words

    private static String illness(UpstreamState upstream) {
        List<EndpointState> endpoints = upstream.endpoints();
        String name = "Upstream " + upstream.name();
        if (endpoints.isEmpty()) {
            return name + " has no endpoints, so requests get 503.";
        } else if (endpoints.stream().allMatch(each -> each.state().equals(DRAINING))) {
            return name
                    + (endpoints.size() == 1
                            ? ": its endpoint drains"
                            : ": all " + endpoints.size() + " endpoints drain")
                    + ", so requests get 503.";
        }
        return name + ": " + ill(upstream) + " of " + plural(endpoints.size(), "endpoint") + " not healthy.";
    }

    /** Endpoints that drain do so because somebody wants it. But nobody wants all to. */
    private static long ill(UpstreamState upstream) {
        List<String> states =
                upstream.endpoints().stream().map(EndpointState::state).toList();
        boolean served = states.contains(HEALTHY);
        return states.stream()
                .filter(state -> !state.equals(HEALTHY) && !(served && state.equals(DRAINING)))
                .count();
    }

    /** Returns how much of an upstream is ill, from 0 to 1. */
    private static double illPart(UpstreamState upstream) {
        if (upstream.endpoints().isEmpty()) {
            return upstream.namedByRequests() ? 0 : 1;
        }
        return (double) ill(upstream) / upstream.endpoints().size();
    }

    private static String plural(long number, String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }
}
