package dev.gateway.observe.metrics;

import dev.gateway.format.JsonText;
import dev.gateway.observe.counts.FineHistogram;
import dev.gateway.observe.metrics.ListenerStatistics.ListenerSum;
import dev.gateway.observe.metrics.ListenerStatistics.RouteSum;
import dev.gateway.observe.metrics.UpstreamMeters.UpstreamCount;
import dev.gateway.observe.metrics.state.UpstreamState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The statistics for people: first how much there is to do, then what fails and where, worst first, and last the counters
 * that one seldom needs, with what they mean.
 */
final class StatisticsText {
    private static final int MOST_ROWS = 20;
    private static final int NAME = 34;
    private static final List<String> FIRST = List.of(
            "uptimeSeconds",
            "requestsPerSecond",
            "requestsActive",
            "requestsTotal",
            "connectionsActive",
            "connectionsTotal",
            "tunnelsActive",
            "tunnelsTotal",
            "websocketsActive",
            "websocketsTotal",
            "bytesReceived",
            "bytesSent");
    private static final Map<String, String> MEANINGS = Map.ofEntries(
            Map.entry("handlerErrors", "requests that the gateway itself answered with 5xx"),
            Map.entry("replyErrors", "responses that broke off before their end"),
            Map.entry("socketErrors", "connections of clients that failed"),
            Map.entry("handshakeErrors", "TLS handshakes of clients that failed; /metrics has the reasons"),
            Map.entry("connectionsRefusedOverLimit", "connections beyond limits.maxConnections"),
            Map.entry("idleCloses", "connections of clients closed for being idle"),
            Map.entry("h2MeanFrameBytes", "mean size of an HTTP/2 frame"),
            Map.entry("h2Flushes", "writes of HTTP/2 frames to a socket"),
            Map.entry("h2FlowControlPauses", "times that a client's flow control stopped a response"));

    private final Statistics statistics;
    private final ProcessMeters process;
    private final RecentRequests.Window window;
    private final StringBuilder text = new StringBuilder(2048);

    StatisticsText(Statistics statistics, ProcessMeters process) {
        this.statistics = statistics;
        this.process = process;
        this.window = statistics.recent();
    }

    String write() {
        Map<String, Number> values = statistics.values();
        FIRST.forEach(name -> line(words(name), String.valueOf(values.get(name)), ""));
        Map<String, ListenerSum> listeners =
                new ListenerStatistics(statistics.loops(), process.policies, window, new JsonText()).sums();
        causes(listeners);
        routes(listeners);
        upstreams();
        text.append("\nfurther counters\n");
        values.forEach((name, value) -> {
            if (!FIRST.contains(name)) {
                line(words(name), String.valueOf(value), MEANINGS.getOrDefault(name, ""));
            }
        });
        return text.toString();
    }

    private void line(String name, String value, String meaning) {
        text.append(name).append(" ".repeat(Math.max(1, NAME - name.length()))).append(value);
        if (!meaning.isEmpty()) {
            text.append(" ".repeat(Math.max(2, 12 - value.length()))).append(meaning);
        }
        text.append('\n');
    }

    private void causes(Map<String, ListenerSum> listeners) {
        Map<String, Long> causes = new TreeMap<>();
        listeners.values().forEach(listener -> listener.routes
                .values()
                .forEach(route -> route.causes.forEach((cause, count) -> causes.merge(cause, count, Long::sum))));
        text.append("\nfailed exchanges by cause\n");
        if (causes.isEmpty()) {
            text.append("  none\n");
        }
        causes.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                .forEach(each -> line("  " + each.getKey(), each.getValue().toString(), ""));
    }

    /** A line of a table. */
    private record Row(String name, long failed, long requests, String p99, String more) {
        static final Comparator<Row> WORST_FIRST = Comparator.comparingLong(Row::failed)
                .thenComparingLong(Row::requests)
                .reversed()
                .thenComparing(Row::name);
    }

    private void routes(Map<String, ListenerSum> listeners) {
        List<Row> rows = new ArrayList<>();
        listeners.forEach((listener, sum) -> sum.routes.forEach((route, counts) -> rows.add(new Row(
                (route.isEmpty() ? "(no route)" : route) + " of " + listener,
                failed(counts),
                counts.requests,
                p99(window.of(RecentRequests.Key.ofRoute(listener, route))),
                mostFrequent(counts.causes)))));
        table("routes", "requests", rows);
    }

    private static long failed(RouteSum route) {
        return route.causes.values().stream().mapToLong(Long::longValue).sum();
    }

    private static String mostFrequent(Map<String, Long> causes) {
        return causes.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(each -> "most with " + each.getKey())
                .orElse("");
    }

    private void upstreams() {
        List<Row> rows = new ArrayList<>();
        EndpointSums sums = new EndpointSums(statistics.loops());
        for (UpstreamState upstream : process.upstreams.get()) {
            long failed = 0;
            long ended = 0;
            for (LoopMetrics loop : statistics.loops()) {
                UpstreamMeters meters = loop.upstreams().get(upstream.name());
                if (meters != null) {
                    failed += meters.get(UpstreamCount.ATTEMPTS_FAILED);
                    ended += meters.get(UpstreamCount.ATTEMPTS_ENDED);
                }
            }
            String p99 = p99(window.of(RecentRequests.Key.ofUpstream(upstream.name())));
            rows.add(new Row(upstream.name(), failed, ended, p99, endpoints(upstream, sums.of(upstream))));
        }
        table("upstreams", "attempts", rows);
    }

    /** Tells how many endpoints are healthy, and which one fails most. */
    private static String endpoints(UpstreamState upstream, Map<String, EndpointSums.Sum> sums) {
        if (upstream.namedByRequests()) {
            return "";
        }
        long healthy = upstream.endpoints().stream()
                .filter(each -> each.state().equals("healthy"))
                .count();
        String well = healthy + " of " + upstream.endpoints().size() + " healthy";
        return sums.entrySet().stream()
                .filter(each -> each.getValue().failures > 0)
                .max(Comparator.comparingLong(each -> each.getValue().failures))
                .map(each -> well + ", most failures at " + each.getKey() + ": " + each.getValue().failures)
                .orElse(well);
    }

    private void table(String title, String unit, List<Row> rows) {
        if (rows.isEmpty()) {
            return;
        }
        text.append('\n');
        row(title + ", most failures first", "failed", unit, "p99 now", "");
        rows.stream()
                .sorted(Row.WORST_FIRST)
                .limit(MOST_ROWS)
                .forEach(each -> row(
                        "  " + each.name,
                        Long.toString(each.failed),
                        Long.toString(each.requests),
                        each.p99,
                        each.more));
        if (rows.size() > MOST_ROWS) {
            text.append("  and ").append(rows.size() - MOST_ROWS).append(" more\n");
        }
    }

    private void row(String name, String failed, String requests, String took, String more) {
        text.append(String.format(Locale.ROOT, "%-33s %8s %10s %10s  %s", name, failed, requests, took, more)
                        .stripTrailing())
                .append('\n');
    }

    private static String p99(int @Nullable [] recent) {
        return recent == null ? "-" : seconds(FineHistogram.quantile(0.99, recent));
    }

    private static String seconds(double seconds) {
        return Double.isNaN(seconds)
                ? "-"
                : seconds < 1
                        ? String.format(Locale.ROOT, "%.1f ms", seconds * 1000)
                        : String.format(Locale.ROOT, "%.1f s", seconds);
    }

    /** {@code h2FramesSent} is "h2 frames sent". */
    private static String words(String name) {
        StringBuilder words = new StringBuilder(name.length() + 8);
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (Character.isUpperCase(c)) {
                words.append(' ');
            }
            words.append(Character.toLowerCase(c));
        }
        return words.toString();
    }
}
