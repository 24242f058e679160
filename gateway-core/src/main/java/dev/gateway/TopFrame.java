package dev.gateway;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** One picture of {@code gateway top}: what two readings of the statistics come to, in so many lines and columns. */
final class TopFrame {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

    private final Document now;
    private final @Nullable Document before;
    private final int columns;
    private final List<String> lines = new ArrayList<>();

    private TopFrame(Document now, @Nullable Document before, int columns) {
        this.now = now;
        this.before = before;
        this.columns = columns;
    }

    /**
     * Draws it.
     *
     * @param before the reading before, null for none: then there are no rates but the gateway's own
     * @param rows how many lines at most
     */
    static List<String> of(String from, Document now, @Nullable Document before, int rows, int columns) {
        TopFrame frame = new TopFrame(now, before, columns);
        frame.draw(from, rows);
        List<String> lines = frame.lines;
        return lines.subList(0, Math.min(rows, lines.size()));
    }

    private void draw(String from, int rows) {
        line(String.format(
                Locale.ROOT,
                "gateway %s at %s   up %s   generation %.0f%s",
                now.text("build", "version"),
                from,
                duration(now.number("uptimeSeconds")),
                now.number("config", "generation"),
                now.isTrue("config", "lastReloadFailed") ? "   RELOADS FAILED" : ""));
        line(String.format(
                Locale.ROOT,
                "requests    %10s/s   active %-8.0f total %.0f",
                decimal(rate("totals", "requestsTotal", "requestsPerSecond")),
                now.number("totals", "requestsActive"),
                now.number("totals", "requestsTotal")));
        Document busiest = busiest();
        line(String.format(
                Locale.ROOT,
                "latency     p50 %s  p90 %s  p99 %s  p999 %s  in %.0f s  %s",
                seconds(busiest, "p50"),
                seconds(busiest, "p90"),
                seconds(busiest, "p99"),
                seconds(busiest, "p999"),
                now.number("recentSeconds"),
                shortened(busiest.text("name"), 10)));
        line(String.format(
                Locale.ROOT,
                "connections %-8.0f in %s/s   out %s/s",
                now.number("totals", "connectionsActive"),
                bytes(rate("totals", "bytesReceived", "")),
                bytes(rate("totals", "bytesSent", ""))));
        line(String.format(
                Locale.ROOT,
                "tunnels     %-8.0f websockets %.0f",
                now.number("totals", "tunnelsActive"),
                now.number("totals", "websocketsActive")));
        line(String.format(
                Locale.ROOT,
                "memory      heap %s / %s  direct %s / %s  lag %s",
                bytes(now.number("memory", "heapUsedBytes")),
                bytes(now.number("memory", "heapMaxBytes")),
                bytes(now.number("memory", "directUsedBytes")),
                bytes(now.number("memory", "directMaxBytes")),
                time(now.list("eventLoops").stream()
                        .mapToDouble(loop -> loop.number("lagSeconds"))
                        .max()
                        .orElse(0))));
        line(String.format(Locale.ROOT, "causes      %s", causes()));
        line("");
        upstreams(rows);
        listeners();
    }

    /** Returns the listener with the most requests lately; the sum of all percentiles would be none. */
    private Document busiest() {
        Document busiest = new Document(null);
        for (Document listener : now.list("listeners")) {
            if (listener.number("recent", "requests") >= busiest.number("recent", "requests")) {
                busiest = listener;
            }
        }
        return busiest;
    }

    private static String seconds(Document listener, String part) {
        return time(listener.number("recent", part));
    }

    /** Returns those that failed most requests, in order; since the last reading where there is one. */
    private String causes() {
        Map<String, Double> causes = now.numbers("causes");
        StringBuilder text = new StringBuilder();
        causes.entrySet().stream()
                .sorted((a, b) -> Double.compare(b.getValue(), a.getValue()))
                .forEach(cause -> {
                    double more = before == null ? 0 : cause.getValue() - before.number("causes", cause.getKey());
                    text.append(text.isEmpty() ? "" : "   ")
                            .append(cause.getKey())
                            .append(' ')
                            .append(Math.round(cause.getValue()))
                            .append(more > 0 ? " (+" + Math.round(more) + ")" : "");
                });
        return text.isEmpty() ? "none" : text.toString();
    }

    private void upstreams(int rows) {
        line(String.format(
                Locale.ROOT,
                "%-18s %8s %6s %6s %6s %6s %6s  %s",
                "UPSTREAM",
                "REQ/S",
                "ACTIVE",
                "CONNS",
                "IDLE",
                "DIALS",
                "WAIT",
                "ENDPOINTS"));
        List<Document> upstreams = now.list("upstreams");
        int shown = Math.max(3, rows - lines.size() - 2 - now.list("listeners").size());
        for (Document upstream : upstreams.subList(0, Math.min(shown, upstreams.size()))) {
            List<Document> endpoints = upstream.list("endpoints");
            long good = endpoints.stream()
                    .filter(endpoint -> isGood(endpoint.text("state")))
                    .count();
            line(String.format(
                    Locale.ROOT,
                    "%-18s %8s %6.0f %6.0f %6.0f %6.0f %6.0f  %s",
                    shortened(upstream.text("name"), 18),
                    decimal(rate(upstream, "upstreams", "attempts", "total")),
                    upstream.number("attempts", "active"),
                    upstream.number("connections", "active"),
                    upstream.number("connections", "idle"),
                    endpoints.stream()
                            .mapToDouble(each -> each.number("connecting"))
                            .sum(),
                    upstream.number("pending", "active"),
                    endpoints.isEmpty() ? "any" : good + " of " + endpoints.size()));
        }
        if (upstreams.size() > shown) {
            line(String.format(Locale.ROOT, "and %d more", upstreams.size() - shown));
        }
    }

    private static boolean isGood(String state) {
        return state.equals("healthy");
    }

    private void listeners() {
        line(String.format(
                Locale.ROOT,
                "%-18s %8s %6s %6s %6s %10s %10s",
                "LISTENER",
                "REQ/S",
                "ACTIVE",
                "CONNS",
                "TUNNEL",
                "IN/S",
                "OUT/S"));
        for (Document listener : now.list("listeners")) {
            line(String.format(
                    Locale.ROOT,
                    "%-18s %8s %6.0f %6.0f %6.0f %10s %10s",
                    shortened(listener.text("name"), 18),
                    decimal(rate(listener, "listeners", "requests", "total")),
                    listener.number("requests", "active"),
                    listener.number("connections", "active"),
                    listener.number("tunnels", "active"),
                    bytes(rate(listener, "listeners", "receivedBytes")),
                    bytes(rate(listener, "listeners", "sentBytes"))));
        }
    }

    // ---- rates

    private double elapsed() {
        return before == null ? 0 : (now.number("time") - before.number("time")) / 1000;
    }

    private double rate(String group, String counter, String otherwise) {
        return before == null || elapsed() <= 0
                ? now.number(group, otherwise)
                : Math.max(0, now.number(group, counter) - before.number(group, counter)) / elapsed();
    }

    /** Returns how fast a counter grows, of something that has a name; 0 if that is new. */
    private double rate(Document of, String list, String... counter) {
        if (before == null || elapsed() <= 0) {
            return 0;
        }
        Predicate<Document> same = other -> other.text("name").equals(of.text("name"));
        return before.list(list).stream()
                .filter(same)
                .findFirst()
                .map(former -> Math.max(0, of.number(counter) - former.number(counter)) / elapsed())
                .orElse(0.0);
    }

    // ---- how it is written

    private void line(String line) {
        lines.add(line.length() > columns ? line.substring(0, columns - 1) + "\u2026" : line);
    }

    private static String shortened(String text, int length) {
        return text.length() <= length ? text : text.substring(0, length - 1) + "\u2026";
    }

    private static String decimal(double value) {
        return String.format(Locale.ROOT, value < 100 ? "%.1f" : "%.0f", value);
    }

    static String bytes(double bytes) {
        int unit = 0;
        double value = bytes;
        while (value >= 1024 && unit < UNITS.length - 1) {
            value /= 1024;
            unit++;
        }
        return String.format(Locale.ROOT, unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value, UNITS[unit]);
    }

    static String time(double seconds) {
        return seconds <= 0
                ? "-"
                : seconds < 0.001
                        ? String.format(Locale.ROOT, "%.0f µs", seconds * 1e6)
                        : seconds < 1
                                ? String.format(Locale.ROOT, "%.1f ms", seconds * 1e3)
                                : String.format(Locale.ROOT, "%.1f s", seconds);
    }

    static String duration(double seconds) {
        long whole = (long) seconds;
        return whole < 60
                ? whole + "s"
                : whole < 3600
                        ? whole / 60 + "m" + whole % 60 + "s"
                        : whole < 86_400
                                ? whole / 3600 + "h" + whole % 3600 / 60 + "m"
                                : whole / 86_400 + "d" + whole % 86_400 / 3600 + "h";
    }
}
