package dev.gateway.observe.metrics;

import dev.gateway.format.JsonText;
import dev.gateway.observe.counts.Histogram;
import dev.gateway.observe.metrics.ConnectionMeters.Count;
import dev.gateway.observe.metrics.state.Denials;
import dev.gateway.stream.Cause;
import dev.gateway.stream.HttpVersion;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** The part of the statistics that is about listeners, their routes and what failed there: the sums of all event loops. */
final class ListenerStatistics {
    private final List<LoopMetrics> loops;
    private final List<Consumer<Denials>> policies;
    private final RecentRequests.Window window;
    private final JsonText json;

    ListenerStatistics(
            List<LoopMetrics> loops, List<Consumer<Denials>> policies, RecentRequests.Window window, JsonText json) {
        this.loops = loops;
        this.policies = policies;
        this.window = window;
        this.json = json;
    }

    void write() {
        Map<String, ListenerSum> listeners = sums();
        causes(listeners);
        json.array("listeners");
        listeners.forEach(this::listener);
        json.endArray();
        json.array("routes");
        listeners.forEach((listener, sum) -> sum.routes.forEach((route, counts) -> route(listener, route, counts)));
        json.endArray();
    }

    /** What all loops have counted of a listener. */
    static final class ListenerSum {
        final long[] counts = new long[Count.values().length];
        final Map<String, RouteSum> routes = new TreeMap<>();
        final Map<String, Long> violations = new TreeMap<>();
        final Map<String, Long> tunnelCauses = new TreeMap<>();
        final Map<String, Long> denied = new TreeMap<>();
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
    static final class RouteSum {
        final Map<String, Long> codes = new TreeMap<>();
        final Map<String, Long> causes = new TreeMap<>();
        final Map<String, Long> webSocketCauses = new TreeMap<>();
        final long[] buckets = new long[Histogram.Buckets.REQUEST.count()];
        double seconds;
        long requests;
        long webSockets;
        long webSocketsActive;
    }

    Map<String, ListenerSum> sums() {
        Map<String, ListenerSum> sums = new TreeMap<>();
        for (LoopMetrics loop : loops) {
            loop.listeners().forEach((name, meters) -> add(sums.computeIfAbsent(name, n -> new ListenerSum()), meters));
        }
        policies.forEach(policy -> policy.accept((listener, rule, count) -> {
            ListenerSum sum = sums.get(listener);
            if (sum != null) {
                sum.denied.merge(rule, count, Long::sum);
            }
        }));
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
                sum.activeH2 += version.multiplexes() ? active : 0;
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
                .put("denied", sum.counts[Count.DENIED.ordinal()])
                .put("idleClosed", sum.counts[Count.IDLE_CLOSED.ordinal()])
                .put("handshakesFailed", sum.counts[Count.HANDSHAKE_FAILED.ordinal()])
                .put("socketErrors", sum.counts[Count.SOCKET_ERROR.ordinal()])
                .endObject();
        json.object("requests")
                .put("total", sum.requests)
                .put("active", sum.requestsActive)
                .endObject();
        RecentStatistics.of(window.of(RecentRequests.Key.ofListener(name))).write(json, "recent");
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

    private void route(String listener, String name, RouteSum sum) {
        json.object().put("listener", listener).put("route", name).put("requests", sum.requests);
        json.put("codes", sum.codes);
        json.put("causes", sum.causes);
        json.object("latency")
                .put("sumSeconds", sum.seconds)
                .put("buckets", sum.buckets)
                .endObject();
        RecentStatistics.of(window.of(RecentRequests.Key.ofRoute(listener, name)))
                .write(json, "recent");
        json.object("websockets")
                .put("total", sum.webSockets)
                .put("active", sum.webSocketsActive)
                .put("causes", sum.webSocketCauses)
                .endObject();
        json.endObject();
    }
}
