package dev.gateway.exchange.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.MatchConfig.PathMatch;
import dev.gateway.config.route.MatchConfig.PathType;
import dev.gateway.config.route.MatchConfig.ValueMatch;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Compares the compiled table with the plainest reading of the precedence rules: try all, keep the best. */
class RouterDifferentialTest {
    private static final String[] LABELS = {"a", "b", "api", "com", "org"};
    private static final String[] SEGMENTS = {"", "a", "b", "ab", "api", "v1"};
    private static final String[] METHODS = {"GET", "POST"};

    private final Random random = new Random(20240607);

    private record Rule(List<String> hosts, MatchConfig match, Route route) {}

    /** How good a match is, the parts in order of weight; null is none. */
    private static int @Nullable [] rank(Rule rule, int position, RequestHead head) {
        MatchConfig match = rule.match;
        int hostRank = hostRank(rule.hosts, head.authority().toString());
        int pathRank = pathRank(match.path(), head.path().toString().replaceFirst("\\?.*", ""));
        boolean others =
                (match.method() == null || match.method().equals(head.method().toString()))
                        && match.headers().stream()
                                .allMatch(h -> head.fields().toString().contains(h.name() + ": " + h.value() + "\n"))
                        && match.queryParams().stream().allMatch(q -> head.path()
                                .toString()
                                .matches(".*[?&]" + q.name() + "=" + q.value() + "(&.*|$)"));
        if (hostRank < 0 || pathRank < 0 || !others) {
            return null;
        }
        return new int[] {
            hostRank,
            pathRank,
            match.method() == null ? 0 : 1,
            match.headers().size(),
            match.queryParams().size(),
            -position
        };
    }

    private static int hostRank(List<String> hosts, String authority) {
        String host =
                authority.toLowerCase(Locale.ROOT).replaceFirst(":\\d+$", "").replaceFirst("\\.$", "");
        int best = hosts.isEmpty() ? 0 : -1;
        for (String name : hosts) {
            if (name.equals(host)) {
                best = 1000;
            } else if (name.startsWith("*.") && host.endsWith(name.substring(1)) && host.length() >= name.length()) {
                best = Math.max(best, name.length());
            }
        }
        return best;
    }

    private static int pathRank(PathMatch path, String actual) {
        String value = path.value();
        return switch (path.type()) {
            case EXACT -> value.equals(actual) ? 100_000 : -1;
            case REGULAR_EXPRESSION -> actual.matches(value) ? 10_000 : -1;
            case PATH_PREFIX -> {
                String prefix = value.endsWith("/") ? value.substring(0, value.length() - 1) : value;
                yield actual.equals(prefix) || actual.startsWith(prefix + "/") ? prefix.length() : -1;
            }
        };
    }

    private static @Nullable Route reference(List<Rule> rules, RequestHead head) {
        Route best = null;
        int[] bestRank = null;
        for (int i = 0; i < rules.size(); i++) {
            int[] rank = rank(rules.get(i), i, head);
            if (rank != null && (bestRank == null || Arrays.compare(rank, bestRank) > 0)) {
                best = rules.get(i).route;
                bestRank = rank;
            }
        }
        return best;
    }

    private String pick(String[] from) {
        return from[random.nextInt(from.length)];
    }

    private String host() {
        StringBuilder host = new StringBuilder(pick(LABELS));
        for (int i = random.nextInt(3); i > 0; i--) {
            host.append('.').append(pick(LABELS));
        }
        return host.toString();
    }

    private String path(int segments) {
        StringBuilder path = new StringBuilder("/");
        for (int i = random.nextInt(segments); i > 0; i--) {
            String segment = pick(SEGMENTS);
            path.append(segment.isEmpty() || path.charAt(path.length() - 1) == '/' ? "" : "/")
                    .append(segment);
        }
        return path.append(random.nextInt(4) == 0 && path.length() > 1 ? "/" : "")
                .toString();
    }

    private Rule rule(int number) {
        List<String> hosts = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            hosts.add((random.nextInt(3) == 0 ? "*." : "") + host());
        }
        PathType type =
                switch (random.nextInt(6)) {
                    case 0, 1 -> PathType.EXACT;
                    case 2 -> PathType.REGULAR_EXPRESSION;
                    default -> PathType.PATH_PREFIX;
                };
        String path =
                switch (type) {
                    case EXACT -> path(5);
                    case REGULAR_EXPRESSION -> path(3) + (random.nextBoolean() ? ".*" : "[a-z]?");
                    case PATH_PREFIX -> path(4);
                };
        List<ValueMatch> headers = new ArrayList<>();
        List<ValueMatch> query = new ArrayList<>();
        for (String name : new String[] {"x-one", "x-two"}) {
            if (random.nextInt(5) == 0) {
                headers.add(Matches.exact(name, "" + random.nextInt(2)));
            }
        }
        for (String name : new String[] {"p", "q"}) {
            if (random.nextInt(5) == 0) {
                query.add(Matches.exact(name, "" + random.nextInt(2)));
            }
        }
        String method = random.nextInt(3) == 0 ? pick(METHODS) : null;
        return new Rule(hosts, Matches.of(type, path, method, headers, query), RouterTest.route("r" + number));
    }

    private RequestHead request() {
        String host = host();
        host = random.nextInt(4) == 0 ? host.toUpperCase(Locale.ROOT) : host;
        host += random.nextInt(6) == 0 ? "." : "";
        host += random.nextInt(3) == 0 ? ":8080" : "";
        String query = random.nextInt(3) == 0 ? "" : "?p=" + random.nextInt(2) + "&q=" + random.nextInt(2);
        return Heads.request(
                pick(METHODS), host, path(6) + query, "x-one: " + random.nextInt(2), "x-two: " + random.nextInt(2));
    }

    @Test
    void theTableFindsWhatTryingEveryRouteFindsAndExplainsIt() {
        int matched = 0;
        int unmatched = 0;
        for (int table = 0; table < 150; table++) {
            List<Rule> rules = new ArrayList<>();
            RouterBuilder builder = new RouterBuilder();
            RouteTrials<Route> trials = new RouteTrials<>();
            for (int i = random.nextInt(table + 2); i > 0; i--) {
                Rule rule = rule(rules.size());
                rules.add(rule);
                builder.add(rule.hosts, List.of(rule.match), rule.route);
                trials.add(rule.hosts, List.of(rule.match), rule.route);
            }
            Router router = builder.build();
            for (int i = 0; i < 100; i++) {
                RequestHead head = request();
                Route expected = reference(rules, head);
                Router.Match actual = router.match(head);
                assertThat(actual == null ? null : actual.route())
                        .as("%s %s%s%n%s among %s", head.method(), head.authority(), head.path(), head.fields(), rules)
                        .isSameAs(expected);
                // Who explains which route is taken tries all of them, and comes to the same.
                List<RouteTrials.Trial<Route>> tried = trials.of(head);
                boolean accepted = !tried.isEmpty() && tried.get(0).isAccepted();
                assertThat(tried).hasSameSizeAs(rules);
                assertThat(accepted ? tried.get(0).rule() : null)
                        .as("%s %s%s among %s", head.method(), head.authority(), head.path(), rules)
                        .isSameAs(expected);
                if (expected == null) {
                    unmatched++;
                } else {
                    matched++;
                }
            }
        }
        assertThat(matched).isGreaterThan(5_000);
        assertThat(unmatched).isGreaterThan(500);
    }
}
