package dev.gateway.cli;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** What an operator should look at first, in words: the lines that the dashboard has at its top. */
final class TopAttention {
    private static final double DAY_SECONDS = 86_400;
    private static final int SOON_DAYS = 21;
    private static final double LONG_LAG_SECONDS = 0.1;
    private static final double HIGH_DIRECT_MEMORY = 0.85;
    private static final double MANY_FAILED = 0.05;
    private static final int NAMED = 3;

    /** Causes that clients bring about, or that are refusals by policy. */
    private static final Pattern OF_CLIENTS =
            Pattern.compile("client|policy|proxy_auth|authz|rate|no_route|body_too|max_duration|idle_timeout|admin");

    private final JsonView now;
    private final TopRates rates;
    private final List<String> lines = new ArrayList<>();

    private TopAttention(JsonView now, TopRates rates) {
        this.now = now;
        this.rates = rates;
    }

    static List<String> of(JsonView now, TopRates rates) {
        TopAttention attention = new TopAttention(now, rates);
        attention.look();
        return attention.lines;
    }

    private void look() {
        if (now.isTrue("config", "lastReloadFailed")) {
            lines.add("the last reload was refused; the log and /ready say why");
        }
        routes();
        endpoints();
        sources();
        certificates();
        if (now.number("authFilesStale") > 0) {
            lines.add("files of users, tokens, groups or filters cannot be read as written; /ready says why");
        }
        if (rates.ofTotal("accessLog", "dropped") > 0) {
            lines.add("the access log drops lines");
        }
        if (!now.text("overload", "refusing").isEmpty()
                && !now.text("overload", "refusing").equals("nothing")) {
            lines.add("overloaded: new " + now.text("overload", "refusing") + " are refused");
        }
        double lag = now.list("eventLoops").stream()
                .mapToDouble(loop -> loop.number("lagSeconds"))
                .max()
                .orElse(0);
        if (lag > LONG_LAG_SECONDS) {
            lines.add("an event loop kept its tasks waiting for " + TopUnits.time(lag));
        }
        double direct = now.number("memory", "directUsedBytes") / now.number("memory", "directMaxBytes");
        if (direct > HIGH_DIRECT_MEMORY) {
            lines.add(String.format(Locale.ROOT, "direct memory: %.0f %% are in use", direct * 100));
        }
    }

    /** Endpoints that drain do so because somebody wants it. But nobody wants all to. */
    static long ill(JsonView upstream) {
        boolean served = upstream.list("endpoints").stream().anyMatch(each -> isIn(each, "healthy"));
        return upstream.list("endpoints").stream()
                .filter(each -> !isIn(each, "healthy") && !(served && isIn(each, "draining")))
                .count();
    }

    /** Whether an endpoint is in a state. */
    static boolean isIn(JsonView endpoint, String state) {
        return endpoint.text("state").equals(state);
    }

    /** Returns how much of an upstream is ill, from 0 to 1. */
    static double illPart(JsonView upstream) {
        return isEmpty(upstream)
                ? 1
                : (double) ill(upstream)
                        / Math.max(1, upstream.list("endpoints").size());
    }

    /** Whether an upstream has no endpoint, and requests do not name them. */
    static boolean isEmpty(JsonView upstream) {
        return upstream.list("endpoints").isEmpty() && !upstream.isTrue("namedByRequests");
    }

    private static String illness(JsonView upstream) {
        List<JsonView> endpoints = upstream.list("endpoints");
        if (endpoints.isEmpty()) {
            return "has no endpoints, so requests get 503";
        } else if (endpoints.stream().allMatch(each -> isIn(each, "draining"))) {
            return endpoints.size() == 1
                    ? "its endpoint drains, so requests get 503"
                    : "all " + endpoints.size() + " endpoints drain, so requests get 503";
        }
        return ill(upstream) + " of " + endpoints.size() + " endpoints not healthy";
    }

    private void endpoints() {
        List<JsonView> ill = now.list("upstreams").stream()
                .filter(upstream -> illPart(upstream) > 0)
                .sorted(Comparator.comparingDouble(upstream -> -illPart(upstream)))
                .toList();
        for (JsonView upstream : ill.subList(0, Math.min(NAMED, ill.size()))) {
            lines.add("upstream " + upstream.text("name") + ": " + illness(upstream));
        }
        if (ill.size() > NAMED) {
            lines.add(ill.size() - NAMED + " more upstreams have endpoints that are not healthy");
        }
    }

    private void sources() {
        List<String> stale = new ArrayList<>();
        for (JsonView upstream : now.list("upstreams")) {
            for (JsonView source : upstream.list("sources")) {
                if (source.text("state").equals("stale")) {
                    stale.add("upstream " + upstream.text("name") + ": " + source.text("source")
                            + " fails, so its endpoints may be out of date");
                }
            }
        }
        lines.addAll(stale.subList(0, Math.min(NAMED, stale.size())));
        if (stale.size() > NAMED) {
            lines.add(stale.size() - NAMED + " more sources of endpoints fail");
        }
    }

    private void routes() {
        for (JsonView route : now.list("routes")) {
            Map<String, Double> failing = new TreeMap<>();
            route.numbers("causes").keySet().stream()
                    .filter(cause -> !OF_CLIENTS.matcher(cause).lookingAt())
                    .forEach(cause -> failing.put(cause, rates.ofRoute(route, "causes", cause)));
            double failed =
                    failing.values().stream().mapToDouble(Double::doubleValue).sum();
            double part = failed / rates.ofRoute(route, "requests");
            if (failed > 0 && part >= MANY_FAILED) {
                String most = Collections.max(failing.entrySet(), Map.Entry.comparingByValue())
                        .getKey();
                lines.add(String.format(
                        Locale.ROOT,
                        "route %s: %.0f %% of requests fail, most with %s",
                        route.text("route"),
                        Math.min(1, part) * 100,
                        most));
            }
        }
    }

    private void certificates() {
        Map<String, Double> left = new TreeMap<>();
        for (JsonView certificate : now.list("certificates")) {
            String owner = certificate.text("listener");
            String of =
                    certificate.text("name") + " (" + (owner.isEmpty() ? certificate.text("upstream") : owner) + ")";
            left.merge(
                    of, (certificate.number("notAfterSeconds") - now.number("time") / 1000) / DAY_SECONDS, Math::min);
        }
        List<Map.Entry<String, Double>> soon = left.entrySet().stream()
                .filter(each -> each.getValue() < SOON_DAYS)
                .sorted(Map.Entry.comparingByValue())
                .toList();
        for (Map.Entry<String, Double> each : soon.subList(0, Math.min(NAMED, soon.size()))) {
            long days = (long) Math.floor(each.getValue());
            lines.add("the certificate of " + each.getKey()
                    + (days < 0 ? " has expired" : " ends in " + days + (days == 1 ? " day" : " days")));
        }
        if (soon.size() > NAMED) {
            lines.add(soon.size() - NAMED + " more certificates end soon or have expired");
        }
    }
}
