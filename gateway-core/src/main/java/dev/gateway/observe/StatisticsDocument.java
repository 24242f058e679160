package dev.gateway.observe;

import dev.gateway.observe.ConnectionMeters.Count;
import dev.gateway.observe.UpstreamMeters.UpstreamCount;
import dev.gateway.observe.UpstreamState.EndpointState;
import dev.gateway.stream.Cause;
import dev.gateway.stream.HttpVersion;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * The statistics as one JSON document, for dashboards that read it each second. Whatever it counts only grows, so that
 * readers take differences and do not disturb each other; what is of now or of the last seconds is named so. The operator's
 * guide describes the members, which may become more.
 */
final class StatisticsDocument {
    private static final double[] PARTS = {0.5, 0.9, 0.99, 0.999};
    private static final String[] PART_NAMES = {"p50", "p90", "p99", "p999"};

    private final Statistics statistics;
    private final ProcessMeters process;
    private final JsonText json = new JsonText();

    StatisticsDocument(Statistics statistics, ProcessMeters process) {
        this.statistics = statistics;
        this.process = process;
    }

    String write() {
        json.object();
        json.put("schema", 1);
        json.put("time", System.currentTimeMillis());
        json.put("uptimeSeconds", statistics.uptimeSeconds());
        json.object("build")
                .put("version", process.version)
                .put("java", ProcessMeters.javaVersion())
                .endObject();
        json.object("config")
                .put("generation", process.generation.get())
                .put("generationsDraining", process.draining.get())
                .put("reloadsSucceeded", process.reloadsSucceeded.get())
                .put("reloadsFailed", process.reloadsFailed.get())
                .endObject();
        totals();
        RecentRequests.Window window = statistics.recent();
        json.put("latencyBoundsSeconds", Histogram.REQUEST_SECONDS);
        json.put("recentSeconds", window.seconds());
        Map<String, ListenerSum> listeners = listeners(window);
        causes(listeners);
        json.array("listeners");
        listeners.forEach(this::listener);
        json.endArray();
        json.array("routes");
        listeners.forEach(
                (listener, sum) -> sum.routes.forEach((route, counts) -> route(listener, route, counts, window)));
        json.endArray();
        upstreams();
        json.object("h2");
        http2("downstream", meters -> meters.listeners().values());
        http2("upstream", meters -> meters.upstreams().values());
        json.endObject();
        eventLoops();
        memory();
        json.array("certificates");
        process.certificates.get().forEach(each -> json.object()
                .put(each.kind(), each.owner())
                .put("name", each.name())
                .put("notAfterSeconds", each.notAfterSeconds())
                .endObject());
        json.endArray();
        json.object("accessLog").put("dropped", process.accessLogDropped()).endObject();
        return json.endObject() + "\n";
    }

    private void totals() {
        json.object("totals");
        statistics.values().forEach((name, value) -> {
            if (value instanceof Double number) {
                json.put(name, number.doubleValue());
            } else {
                json.put(name, value.longValue());
            }
        });
        json.endObject();
    }

    // ---- listeners and routes

    /** What all loops have counted of a listener. */
    private static final class ListenerSum {
        final long[] counts = new long[Count.values().length];
        final Map<String, RouteSum> routes = new TreeMap<>();
        final Map<String, Long> violations = new TreeMap<>();
        final Map<String, Long> tunnelCauses = new TreeMap<>();
        final Map<String, Long> denied = new TreeMap<>();
        final long[] recent = new long[Histogram.REQUEST_SECONDS.length + 1];
        long opened;
        long active;
        long activeTls;
        long activeH2;
        long requests;
        long requestsActive;
        long tunnels;
        long tunnelsActive;
        long tunnelReceivedBytes;
        long tunnelSentBytes;
    }

    /** What all loops have counted of a route of a listener. */
    private static final class RouteSum {
        final Map<String, Long> codes = new TreeMap<>();
        final Map<String, Long> causes = new TreeMap<>();
        final Map<String, Long> webSocketCauses = new TreeMap<>();
        final long[] buckets = new long[Histogram.REQUEST_SECONDS.length + 1];
        double seconds;
        long requests;
        long webSockets;
        long webSocketsActive;
    }

    private Map<String, ListenerSum> listeners(RecentRequests.Window window) {
        Map<String, ListenerSum> sums = new TreeMap<>();
        for (LoopMetrics loop : statistics.loops()) {
            loop.listeners().forEach((name, meters) -> add(sums.computeIfAbsent(name, n -> new ListenerSum()), meters));
        }
        process.policies.forEach(policy -> policy.accept((listener, rule, count) -> {
            ListenerSum sum = sums.get(listener);
            if (sum != null) {
                sum.denied.merge(rule, count, Long::sum);
            }
        }));
        window.buckets().forEach((key, buckets) -> {
            ListenerSum sum = sums.get(key.listener());
            for (int i = 0; sum != null && i < buckets.length; i++) {
                sum.recent[i] += buckets[i];
            }
        });
        return sums;
    }

    @SuppressWarnings("EnumOrdinal") // positions in arrays that never leave the process
    private static void add(ListenerSum sum, ListenerMeters meters) {
        for (Count count : Count.values()) {
            sum.counts[count.ordinal()] += meters.get(count);
        }
        for (HttpVersion version : HttpVersion.values()) {
            for (boolean tls : new boolean[] {false, true}) {
                long active = meters.active(version, tls);
                sum.opened += meters.opened(version, tls);
                sum.active += active;
                sum.activeTls += tls ? active : 0;
                sum.activeH2 += version == HttpVersion.HTTP_2 ? active : 0;
            }
        }
        sum.requestsActive += meters.requestsActive();
        sum.requests += meters.requests();
        meters.violations().forEach((kind, count) -> sum.violations.merge(kind, count.get(0), Long::sum));
        sum.tunnels += meters.tunnels.total();
        sum.tunnelsActive += meters.tunnels.active();
        sum.tunnelReceivedBytes += meters.tunnels.receivedBytes();
        sum.tunnelSentBytes += meters.tunnels.sentBytes();
        meters.tunnels.forEachEnded((denied, cause, count) -> {
            if (cause != null) {
                sum.tunnelCauses.merge(cause.label(), count, Long::sum);
            }
        });
        meters.routes().forEach((name, route) -> add(sum.routes.computeIfAbsent(name, n -> new RouteSum()), route));
    }

    private static void add(RouteSum sum, RouteMeters meters) {
        meters.requests.forEach((key, count) -> {
            sum.requests += count;
            String codeClass = RouteMeters.codeClassLabel(RouteMeters.codeClass(RouteMeters.status(key)));
            sum.codes.merge(codeClass, count, Long::sum);
            Cause cause = RouteMeters.cause(key);
            if (cause != null) {
                sum.causes.merge(cause.label(), count, Long::sum);
            }
        });
        meters.addDurationsTo(sum.buckets);
        sum.seconds += meters.durationSeconds();
        sum.webSockets += meters.webSockets();
        sum.webSocketsActive += meters.webSocketsActive();
        meters.forEachWebSocketEnded((cause, count) -> {
            if (cause != null) {
                sum.webSocketCauses.merge(cause.label(), count, Long::sum);
            }
        });
    }

    private void causes(Map<String, ListenerSum> listeners) {
        Map<String, Long> causes = new TreeMap<>();
        listeners.values().forEach(listener -> listener.routes
                .values()
                .forEach(route -> route.causes.forEach((cause, count) -> causes.merge(cause, count, Long::sum))));
        json.put("causes", causes);
    }

    @SuppressWarnings("EnumOrdinal")
    private void listener(String name, ListenerSum sum) {
        json.object().put("name", name);
        json.object("connections")
                .put("total", sum.opened)
                .put("active", sum.active)
                .put("activeTls", sum.activeTls)
                .put("activeH2", sum.activeH2)
                .put("refused", sum.counts[Count.REFUSED.ordinal()])
                .put("idleClosed", sum.counts[Count.IDLE_CLOSED.ordinal()])
                .put("handshakesFailed", sum.counts[Count.HANDSHAKE_FAILED.ordinal()])
                .put("socketErrors", sum.counts[Count.SOCKET_ERROR.ordinal()])
                .endObject();
        json.object("requests")
                .put("total", sum.requests)
                .put("active", sum.requestsActive)
                .endObject();
        recent(sum.recent);
        json.put("receivedBytes", sum.counts[Count.RECEIVED_BYTES.ordinal()]);
        json.put("sentBytes", sum.counts[Count.SENT_BYTES.ordinal()]);
        json.put("violations", sum.violations);
        json.object("tunnels")
                .put("total", sum.tunnels)
                .put("active", sum.tunnelsActive)
                .put("receivedBytes", sum.tunnelReceivedBytes)
                .put("sentBytes", sum.tunnelSentBytes)
                .put("causes", sum.tunnelCauses)
                .put("deniedByRule", sum.denied)
                .endObject();
        json.endObject();
    }

    private void route(String listener, String name, RouteSum sum, RecentRequests.Window window) {
        json.object().put("listener", listener).put("route", name).put("requests", sum.requests);
        json.put("codes", sum.codes);
        json.put("causes", sum.causes);
        json.object("latency")
                .put("sumSeconds", sum.seconds)
                .put("buckets", sum.buckets)
                .endObject();
        recent(window.buckets()
                .getOrDefault(new RecentRequests.Key(listener, name), new long[Histogram.REQUEST_SECONDS.length + 1]));
        json.object("websockets")
                .put("total", sum.webSockets)
                .put("active", sum.webSocketsActive)
                .put("causes", sum.webSocketCauses)
                .endObject();
        json.endObject();
    }

    private void recent(long[] buckets) {
        json.object("recent").put("requests", RecentRequests.count(buckets));
        for (int i = 0; i < PARTS.length; i++) {
            json.put(PART_NAMES[i], RecentRequests.quantile(PARTS[i], buckets));
        }
        json.endObject();
    }

    // ---- upstreams

    private void upstreams() {
        Map<String, UpstreamState> states = new TreeMap<>();
        process.upstreams.get().forEach(state -> states.put(state.name(), state));
        json.array("upstreams");
        states.forEach((name, state) -> {
            json.object().put("name", name).put("protocol", state.protocol());
            upstream(name);
            json.array("endpoints");
            state.endpoints().forEach(this::endpoint);
            json.endArray().endObject();
        });
        json.endArray();
    }

    private void upstream(String name) {
        long opened = 0;
        long active = 0;
        long idle = 0;
        long[] counts = new long[UpstreamCount.values().length];
        long[] buckets = new long[Histogram.REQUEST_SECONDS.length + 1];
        double seconds = 0;
        Map<String, Long> codes = new TreeMap<>();
        Map<String, Long> failures = new TreeMap<>();
        long received = 0;
        long sent = 0;
        for (LoopMetrics loop : statistics.loops()) {
            UpstreamMeters meters = loop.upstreams().get(name);
            if (meters == null) {
                continue;
            }
            for (HttpVersion version : HttpVersion.values()) {
                opened += meters.opened(version, false) + meters.opened(version, true);
                active += meters.active(version, false) + meters.active(version, true);
                idle += meters.idle(version);
            }
            meters.addTo(counts);
            seconds += meters.addDurationsTo(buckets);
            meters.addCodesTo(codes);
            meters.addConnectFailuresTo(failures);
            received += meters.get(Count.RECEIVED_BYTES);
            sent += meters.get(Count.SENT_BYTES);
        }
        json.object("connections")
                .put("total", opened)
                .put("active", active)
                .put("idle", idle)
                .put("failures", failures)
                .endObject();
        attempts(counts);
        json.put("codes", codes);
        json.object("latency")
                .put("sumSeconds", seconds)
                .put("buckets", buckets)
                .endObject();
        json.put("receivedBytes", received);
        json.put("sentBytes", sent);
    }

    @SuppressWarnings("EnumOrdinal")
    private void attempts(long[] counts) {
        long begun = counts[UpstreamCount.ATTEMPTS_BEGUN.ordinal()];
        json.object("attempts")
                .put("total", begun)
                .put("active", begun - counts[UpstreamCount.ATTEMPTS_ENDED.ordinal()])
                .put("retriesSucceeded", counts[UpstreamCount.RETRIES_SUCCEEDED.ordinal()])
                .put("retriesFailed", counts[UpstreamCount.RETRIES_FAILED.ordinal()])
                .put("staleRetried", counts[UpstreamCount.STALE_RETRIED.ordinal()])
                .put("staleFailed", counts[UpstreamCount.STALE_FAILED.ordinal()])
                .endObject();
        json.object("pending")
                .put("total", counts[UpstreamCount.PENDING_BEGUN.ordinal()])
                .put(
                        "active",
                        counts[UpstreamCount.PENDING_BEGUN.ordinal()] - counts[UpstreamCount.PENDING_ENDED.ordinal()])
                .put("overflow", counts[UpstreamCount.PENDING_OVERFLOW.ordinal()])
                .put("timeout", counts[UpstreamCount.PENDING_TIMEOUT.ordinal()])
                .endObject();
    }

    private void endpoint(EndpointState endpoint) {
        json.object()
                .put("address", endpoint.address())
                .put("weight", endpoint.weight())
                .put("state", endpoint.state())
                .put("idle", endpoint.idle())
                .put("active", endpoint.active())
                .put("connecting", endpoint.connecting())
                .put("pending", endpoint.pending())
                .endObject();
    }

    // ---- the rest

    private interface Side {
        Iterable<? extends ConnectionMeters> of(LoopMetrics loop);
    }

    @SuppressWarnings("EnumOrdinal")
    private void http2(String name, Side side) {
        long[] counts = new long[Count.values().length];
        for (LoopMetrics loop : statistics.loops()) {
            for (ConnectionMeters meters : side.of(loop)) {
                for (Count count : Count.values()) {
                    counts[count.ordinal()] += meters.get(count);
                }
            }
        }
        ToLongFunction<Count> of = count -> counts[count.ordinal()];
        long streams = of.applyAsLong(Count.H2_STREAMS_OPENED);
        json.object(name)
                .put("streams", streams)
                .put("streamsActive", streams - of.applyAsLong(Count.H2_STREAMS_CLOSED))
                .put("flushes", of.applyAsLong(Count.H2_FLUSHES))
                .put("flowControlPauses", of.applyAsLong(Count.H2_FLOW_CONTROL_PAUSES));
        bothWays("frames", of, Count.H2_FRAMES_RECEIVED, Count.H2_FRAMES_SENT);
        bothWays("frameBytes", of, Count.H2_FRAME_BYTES_RECEIVED, Count.H2_FRAME_BYTES_SENT);
        bothWays("resets", of, Count.H2_RESETS_RECEIVED, Count.H2_RESETS_SENT);
        bothWays("goaways", of, Count.H2_GOAWAYS_RECEIVED, Count.H2_GOAWAYS_SENT);
        bothWays("pings", of, Count.H2_PINGS_RECEIVED, Count.H2_PINGS_SENT);
        bothWays("windowUpdates", of, Count.H2_WINDOW_UPDATES_RECEIVED, Count.H2_WINDOW_UPDATES_SENT);
        json.endObject();
    }

    private void bothWays(String name, ToLongFunction<Count> of, Count received, Count sent) {
        json.object(name)
                .put("received", of.applyAsLong(received))
                .put("sent", of.applyAsLong(sent))
                .endObject();
    }

    private void eventLoops() {
        json.array("eventLoops");
        int index = 0;
        for (LoopMetrics loop : statistics.loops()) {
            long connections = 0;
            long exchanges = 0;
            for (ListenerMeters listener : loop.listeners().values()) {
                connections += Arrays.stream(HttpVersion.values())
                        .mapToLong(version -> listener.active(version, false) + listener.active(version, true))
                        .sum();
                exchanges += listener.requestsActive();
            }
            json.object()
                    .put("loop", index++)
                    .put("lagSeconds", loop.health().lagSeconds())
                    .put("pendingTasks", loop.health().pendingTasks())
                    .put("connections", connections)
                    .put("exchanges", exchanges)
                    .endObject();
        }
        json.endArray();
    }

    private void memory() {
        Runtime runtime = Runtime.getRuntime();
        json.object("memory")
                .put("heapUsedBytes", runtime.totalMemory() - runtime.freeMemory())
                .put("heapMaxBytes", runtime.maxMemory())
                .put("directUsedBytes", ProcessMeters.directMemoryUsed())
                .put("directMaxBytes", ProcessMeters.directMemoryMax())
                .endObject();
    }
}
