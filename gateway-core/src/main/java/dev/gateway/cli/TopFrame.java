package dev.gateway.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** One picture of {@code gateway top}: what two readings of the statistics come to, in so many lines and columns. */
final class TopFrame {
    private static final String UPSTREAM_ROW = "%-18s %8s %7s %8s %6s %6s %5s  %s";
    private static final String BETWEEN = "   ";
    private static final int BAD_ENDPOINTS = 5;
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

    private final JsonView now;
    private final Rates rates;
    private final int columns;
    private final List<String> lines = new ArrayList<>();

    private TopFrame(JsonView now, @Nullable JsonView before, int columns) {
        this.now = now;
        this.rates = new Rates(now, before);
        this.columns = columns;
    }

    /**
     * Draws it.
     *
     * @param before the reading before, null for none: then there are no rates but the gateway's own
     * @param rows how many lines at most
     */
    static List<String> of(String from, JsonView now, @Nullable JsonView before, int rows, int columns) {
        TopFrame frame = new TopFrame(now, before, columns);
        frame.draw(from, rows);
        List<String> lines = frame.lines;
        return lines.subList(0, Math.min(rows, lines.size()));
    }

    private void draw(String from, int rows) {
        line(String.format(
                Locale.ROOT,
                "gateway %s at %s   up %s   generation %.0f",
                now.text("build", "version"),
                from,
                duration(now.number("uptimeSeconds")),
                now.number("config", "generation")));
        now.list("attention").forEach(each -> line("! " + each.text("text")));
        line(String.format(
                Locale.ROOT,
                "requests    %10s/s   active %-8.0f total %.0f",
                decimal(
                        rates.areKnown()
                                ? rates.ofTotal("totals", "requestsTotal")
                                : now.number("totals", "requestsPerSecond")),
                now.number("totals", "requestsActive"),
                now.number("totals", "requestsTotal")));
        line(String.format(
                Locale.ROOT,
                "latency     p50 %s  p90 %s  p99 %s  p999 %s  in %.0f s",
                time(now.number("recent", "p50")),
                time(now.number("recent", "p90")),
                time(now.number("recent", "p99")),
                time(now.number("recent", "p999")),
                now.number("recentSeconds")));
        line(String.format(
                Locale.ROOT,
                "connections %-8.0f in %s/s   out %s/s",
                now.number("totals", "connectionsActive"),
                bytes(rates.ofTotal("totals", "bytesReceived")),
                bytes(rates.ofTotal("totals", "bytesSent"))));
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
        wrapped("causes      ", causes());
        line("");
        upstreams(rows);
        listeners();
    }

    /** Returns those that failed most requests, in order, and how many more there are than before. */
    private List<String> causes() {
        List<String> causes = now.numbers("causes").entrySet().stream()
                .sorted((a, b) -> Double.compare(b.getValue(), a.getValue()))
                .map(cause -> {
                    double more = rates.moreOfCause(cause.getKey());
                    return cause.getKey() + " " + Math.round(cause.getValue())
                            + (more > 0 ? " (+" + Math.round(more) + ")" : "");
                })
                .toList();
        return causes.isEmpty() ? List.of("none") : causes;
    }

    /** Adds lines of these words, which are never parted. */
    private void wrapped(String title, List<String> words) {
        StringBuilder text = new StringBuilder(title);
        int empty = title.length();
        for (String word : words) {
            if (text.length() > empty && text.length() + BETWEEN.length() + word.length() > columns) {
                line(text.toString());
                text = new StringBuilder(" ".repeat(empty));
            }
            text.append(text.length() > empty ? BETWEEN : "").append(word);
        }
        line(text.toString());
    }

    /** An upstream, and how bad it is. */
    private record Ranked(JsonView upstream, double failures, double requests, double ill) {
        static final Comparator<Ranked> WORST_FIRST = Comparator.comparingDouble(Ranked::failures)
                .thenComparingDouble(Ranked::ill)
                .thenComparingDouble(Ranked::requests)
                .reversed()
                .thenComparing(each -> each.upstream.text("name"));
    }

    private void upstreams(int rows) {
        line(String.format(
                Locale.ROOT,
                UPSTREAM_ROW,
                "UPSTREAM",
                "REQ/S",
                "FAIL/S",
                "P99",
                "ACTIVE",
                "CONNS",
                "WAIT",
                "ENDPOINTS"));
        List<Ranked> upstreams = now.list("upstreams").stream()
                .map(upstream -> new Ranked(
                        upstream,
                        rates.of(upstream, "upstreams", "attempts", "failed"),
                        rates.of(upstream, "upstreams", "attempts", "total"),
                        illPart(upstream)))
                .sorted(Ranked.WORST_FIRST)
                .toList();
        int room = Math.max(3, rows - lines.size() - 2 - now.list("listeners").size());
        int shown = 0;
        for (Ranked ranked : upstreams) {
            List<String> bad = badEndpoints(ranked.upstream);
            if (room < 1) {
                break;
            }
            upstream(ranked);
            shown++;
            room--;
            for (String endpoint : bad.subList(0, Math.min(bad.size(), Math.max(0, room)))) {
                line(endpoint);
                room--;
            }
        }
        if (upstreams.size() > shown) {
            line(String.format(Locale.ROOT, "and %d more", upstreams.size() - shown));
        }
    }

    private void upstream(Ranked ranked) {
        JsonView upstream = ranked.upstream;
        List<JsonView> endpoints = upstream.list("endpoints");
        long good = endpoints.stream()
                .filter(endpoint -> endpoint.text("state").equals("healthy"))
                .count();
        line(String.format(
                Locale.ROOT,
                UPSTREAM_ROW,
                shortened(upstream.text("name"), 18),
                decimal(ranked.requests),
                decimal(ranked.failures),
                time(upstream.number("recent", "p99")),
                whole(upstream.number("attempts", "active")),
                whole(upstream.number("connections", "active")),
                whole(upstream.number("pending", "active")),
                endpoints.isEmpty() && !isEmpty(upstream) ? "any" : good + " of " + endpoints.size()));
    }

    /** Returns a line for each endpoint that fails or is not healthy, the first few. */
    private List<String> badEndpoints(JsonView upstream) {
        List<String> bad = new ArrayList<>();
        boolean served = isServed(upstream);
        for (JsonView endpoint : upstream.list("endpoints")) {
            double failures = rates.ofEndpoint(upstream, endpoint, "failures");
            if (bad.size() < BAD_ENDPOINTS && (failures > 0 || isIll(endpoint, served))) {
                bad.add(String.format(
                        Locale.ROOT,
                        UPSTREAM_ROW,
                        "  " + shortened(endpoint.text("address"), 16),
                        decimal(rates.ofEndpoint(upstream, endpoint, "requests")),
                        decimal(failures),
                        "",
                        whole(endpoint.number("requestsActive")),
                        whole(endpoint.number("active") + endpoint.number("idle")),
                        whole(endpoint.number("pending")),
                        endpoint.text("state")));
            }
        }
        return bad;
    }

    /** Whether any endpoint of an upstream is healthy. */
    private static boolean isServed(JsonView upstream) {
        return upstream.list("endpoints").stream().anyMatch(each -> isIn(each, "healthy"));
    }

    /** Endpoints that drain do so because somebody wants it. But nobody wants all to. */
    private static boolean isIll(JsonView endpoint, boolean served) {
        return !isIn(endpoint, "healthy") && !(served && isIn(endpoint, "draining"));
    }

    /** Whether an endpoint is in a state. */
    private static boolean isIn(JsonView endpoint, String state) {
        return endpoint.text("state").equals(state);
    }

    /** Returns how much of an upstream is ill, from 0 to 1. */
    private static double illPart(JsonView upstream) {
        if (isEmpty(upstream)) {
            return 1;
        }
        List<JsonView> endpoints = upstream.list("endpoints");
        boolean served = isServed(upstream);
        double ill = endpoints.stream().filter(each -> isIll(each, served)).count();
        return ill / Math.max(1, endpoints.size());
    }

    /** Whether an upstream has no endpoint, and requests do not name them. */
    private static boolean isEmpty(JsonView upstream) {
        return upstream.list("endpoints").isEmpty() && !upstream.isTrue("namedByRequests");
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
        for (JsonView listener : now.list("listeners")) {
            line(String.format(
                    Locale.ROOT,
                    "%-18s %8s %6.0f %6.0f %6.0f %10s %10s",
                    shortened(listener.text("name"), 18),
                    decimal(rates.of(listener, "listeners", "requests", "total")),
                    listener.number("requests", "active"),
                    listener.number("connections", "active"),
                    listener.number("tunnels", "active"),
                    bytes(rates.of(listener, "listeners", "receivedBytes")),
                    bytes(rates.of(listener, "listeners", "sentBytes"))));
        }
    }

    // ---- how it is written

    private void line(String line) {
        lines.add(line.length() > columns ? line.substring(0, columns - 1) + "\u2026" : line);
    }

    private static String shortened(String text, int length) {
        return text.length() <= length ? text : text.substring(0, length - 1) + "\u2026";
    }

    private static String whole(double value) {
        return String.format(Locale.ROOT, "%.0f", value);
    }

    static String decimal(double value) {
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

    /** How fast counters have grown from one reading of the statistics to the next; 0 where there is only one. */
    static final class Rates {
        private final JsonView now;
        private final @Nullable JsonView before;
        private final double elapsed;

        Rates(JsonView now, @Nullable JsonView before) {
            this.now = now;
            this.before = before;
            this.elapsed = before == null ? 0 : (now.number("time") - before.number("time")) / 1000;
        }

        /** Whether there are rates. */
        boolean areKnown() {
            return before != null && elapsed > 0;
        }

        private double grown(double to, double from) {
            return areKnown() ? Math.max(0, to - from) / elapsed : 0;
        }

        double ofTotal(String... counter) {
            return before == null ? 0 : grown(now.number(counter), before.number(counter));
        }

        /** Returns the rate of something that has a name in a list; 0 if that is new. */
        double of(JsonView named, String list, String... counter) {
            JsonView former = former(before, list, "name", named);
            return former == null ? 0 : grown(named.number(counter), former.number(counter));
        }

        /** The same of an endpoint of an upstream. */
        double ofEndpoint(JsonView upstream, JsonView endpoint, String counter) {
            JsonView former = former(former(before, "upstreams", "name", upstream), "endpoints", "address", endpoint);
            return former == null ? 0 : grown(endpoint.number(counter), former.number(counter));
        }

        private static @Nullable JsonView former(@Nullable JsonView in, String list, String key, JsonView like) {
            if (in != null) {
                for (JsonView each : in.list(list)) {
                    if (each.text(key).equals(like.text(key))) {
                        return each;
                    }
                }
            }
            return null;
        }

        /** Returns how much more of a cause there is than before, 0 if there is nothing to compare with. */
        double moreOfCause(String cause) {
            return before == null ? 0 : now.number("causes", cause) - before.number("causes", cause);
        }
    }
}
