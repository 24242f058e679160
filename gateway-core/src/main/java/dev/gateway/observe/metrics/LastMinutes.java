package dev.gateway.observe.metrics;

import dev.gateway.format.JsonText;
import dev.gateway.observe.metrics.ConnectionMeters.Count;
import dev.gateway.stream.Cause;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What went on in the last ten minutes, for a dashboard that is opened later: a point each five seconds, 120 in all, which
 * take at most some 300 KB. Safe from any thread.
 */
final class LastMinutes {
    private static final int EVERY = 5; // seconds
    private static final int POINTS = 120;
    private static final Cause[] CAUSES = Cause.values();

    private final Statistics statistics;
    private final Deque<Point> points = new ArrayDeque<>(); // guarded by this
    private @Nullable Totals last; // guarded by this
    private int seconds; // guarded by this

    /** What has been counted until some moment. */
    private static final class Totals {
        final long nanos = System.nanoTime();
        final long[] codes = new long[RouteMeters.CODE_CLASSES];
        final long[] causes = new long[CAUSES.length];
        long received;
        long sent;
        long tunnels;
        long webSockets;
    }

    /** A moment: rates since the one before, what there was then, and percentiles of the last seconds. */
    private record Point(long millis, Rates rates, RecentStatistics recent, Gauges gauges) {}

    /** What there was of each in a second. */
    private record Rates(Map<String, Double> codes, Map<String, Double> causes, double received, double sent) {}

    /** What there was at that moment. */
    private record Gauges(long tunnels, long webSockets, double lag, long tasks, long heap, long direct) {}

    LastMinutes(Statistics statistics) {
        this.statistics = statistics;
    }

    /** Takes a point if it is time for one; called once a second. */
    synchronized void sample() {
        if (seconds++ % EVERY != 0) {
            return;
        }
        Totals now = totals();
        if (last != null) {
            points.addLast(point(last, now));
            if (points.size() > POINTS) {
                points.removeFirst();
            }
        }
        last = now;
    }

    private Totals totals() {
        Totals totals = new Totals();
        for (LoopMetrics loop : statistics.loops()) {
            for (ListenerMeters listener : loop.listeners().values()) {
                totals.received += listener.get(Count.RECEIVED_BYTES);
                totals.sent += listener.get(Count.SENT_BYTES);
                totals.tunnels += listener.tunnels.active();
                for (RouteMeters route : listener.routes().values()) {
                    totals.webSockets += route.webSocketsActive();
                    route.requests.forEach((key, count) -> {
                        totals.codes[RouteMeters.codeClass(RouteMeters.status(key))] += count;
                        int cause = RouteMeters.causeIndex(key);
                        if (cause >= 0) {
                            totals.causes[cause] += count;
                        }
                    });
                }
            }
        }
        return totals;
    }

    private Point point(Totals before, Totals now) {
        double elapsed = Math.max(1, now.nanos - before.nanos) / 1e9;
        Map<String, Double> codes = new TreeMap<>();
        for (int i = 0; i < now.codes.length; i++) {
            put(codes, RouteMeters.codeClassLabel(i), (now.codes[i] - before.codes[i]) / elapsed);
        }
        Map<String, Double> causes = new TreeMap<>();
        for (int i = 0; i < now.causes.length; i++) {
            put(causes, CAUSES[i].label(), (now.causes[i] - before.causes[i]) / elapsed);
        }
        double lag = 0;
        long tasks = 0;
        for (LoopMetrics loop : statistics.loops()) {
            lag = Math.max(lag, loop.lag().seconds());
            tasks += loop.lag().pendingTasks();
        }
        Runtime runtime = Runtime.getRuntime();
        return new Point(
                System.currentTimeMillis(),
                new Rates(
                        codes, causes, (now.received - before.received) / elapsed, (now.sent - before.sent) / elapsed),
                RecentStatistics.of(statistics.recent().ofAll()),
                new Gauges(
                        now.tunnels,
                        now.webSockets,
                        lag,
                        tasks,
                        runtime.totalMemory() - runtime.freeMemory(),
                        ProcessMeters.directMemoryUsed()));
    }

    private static void put(Map<String, Double> rates, String word, double rate) {
        if (rate > 0) {
            rates.put(word, rate);
        }
    }

    /** Returns the points as a JSON object, oldest first. */
    String json() {
        List<Point> copy;
        synchronized (this) {
            copy = new ArrayList<>(points);
        }
        JsonText json = new JsonText();
        json.object().put("schema", 1).put("everySeconds", EVERY).array("points");
        copy.forEach(point -> write(json, point));
        return json.endArray().endObject() + "\n";
    }

    private static void write(JsonText json, Point point) {
        json.object().put("time", point.millis);
        json.object("codes");
        point.rates.codes.forEach(json::put);
        json.endObject().object("causes");
        point.rates.causes.forEach(json::put);
        json.endObject();
        point.recent.write(json, "latency");
        json.put("received", point.rates.received)
                .put("sent", point.rates.sent)
                .put("tunnels", point.gauges.tunnels)
                .put("webSockets", point.gauges.webSockets)
                .put("lag", point.gauges.lag)
                .put("tasks", point.gauges.tasks)
                .put("heap", point.gauges.heap)
                .put("direct", point.gauges.direct)
                .endObject();
    }
}
