package dev.gateway.exchange.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.MatchConfig.PathType;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.Scheme;
import dev.gateway.message.path.PathFuzz;
import dev.gateway.message.path.PathNormalizer;
import io.netty.util.AsciiString;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Fuzz target: a path among rules that refuse requests, that ask who sends them, and others. However a server reads the path
 * that it is sent, it serves nothing that a guarded rule is about, unless that rule has been applied. The input is path and query.
 */
final class GuardedPathsFuzz {
    private static final Filter GUARD = new Guard(false);
    private static final Filter REFUSAL = new Guard(true);

    private record Guard(boolean refusesAll) implements Filter {
        @Override
        public boolean guards() {
            return true;
        }

        @Override
        public Verdict onRequest(RequestHead head, FilterContext context) {
            return Verdict.PROCEED;
        }
    }

    private record Rule(PathType type, String path, Route route) {}

    private static final List<Rule> RULES = List.of(
            rule(PathType.PATH_PREFIX, "/"),
            rule(PathType.PATH_PREFIX, "/admin", REFUSAL),
            rule(PathType.PATH_PREFIX, "/private", GUARD),
            rule(PathType.PATH_PREFIX, "/private/open"),
            rule(PathType.EXACT, "/staff", GUARD),
            rule(PathType.EXACT, "/team", GUARD),
            rule(PathType.EXACT, "/team/"),
            rule(PathType.EXACT, "/shop/secret/key", REFUSAL),
            rule(PathType.PATH_PREFIX, "/space%20here", GUARD),
            rule(PathType.PATH_PREFIX, "/a%2Fb", GUARD),
            rule(PathType.PATH_PREFIX, "/private/back%5Cslash"),
            rule(PathType.PATH_PREFIX, "/private/a%2Fb"),
            rule(PathType.PATH_PREFIX, "/%40s", GUARD),
            rule(PathType.PATH_PREFIX, "/%40s%2Fopen"),
            rule(PathType.REGULAR_EXPRESSION, "/repos/[^/]+", GUARD),
            rule(PathType.PATH_PREFIX, "/priv%5Ck", GUARD),
            rule(PathType.PATH_PREFIX, "/priv%5Ck/open"),
            rule(PathType.REGULAR_EXPRESSION, "/docs/[a-z]/[a-z]", REFUSAL),
            rule(PathType.PATH_PREFIX, "/docs"));

    /** How servers decode paths, those of rules as those of requests. */
    private static final List<UnaryOperator<String>> SERVERS =
            List.of(GuardedPathsFuzz::onWindows, GuardedPathsFuzz::onUnix, GuardedPathsFuzz::lateForSeparators);

    private static final Router ROUTER = router();

    /** So many bytes have at most 32 KB in all readings, of which there are at most 73. */
    private static final int MAX_ALWAYS_CLEAR = 440;

    private GuardedPathsFuzz() {}

    private static Rule rule(PathType type, String path, Filter... filters) {
        return new Rule(
                type,
                path,
                new Route(path, List.of(filters), Route.Forwarding.NONE, Route.Timeouts.NONE, Route.Upgrades.NONE));
    }

    private static Router router() {
        RouterBuilder builder = new RouterBuilder();
        for (Rule rule : RULES) {
            builder.add(List.of(), List.of(MatchConfig.path(rule.type, rule.path)), rule.route);
        }
        return builder.build();
    }

    public static void fuzzerTestOneInput(byte[] input) {
        AsciiString normal = PathNormalizer.normalize(new AsciiString(input));
        if (normal == null || !normal.startsWith("/")) {
            return;
        }
        RequestHead head =
                new RequestHead(Method.GET, Scheme.HTTP, new AsciiString("a.example"), normal, new Fields(), 0);
        String path = normal.toString(0, head.queryStart());
        Route written = Objects.requireNonNull(select(path, UnaryOperator.identity())).route;
        Set<String> guarded = new TreeSet<>();
        addGuard(guarded, path, UnaryOperator.identity());
        for (UnaryOperator<String> server : SERVERS) {
            for (String reading : readings(path, server)) {
                addGuard(guarded, reading, server);
                if (path.indexOf('%') < 0) {
                    addGuard(guarded, reading, UnaryOperator.identity());
                }
            }
        }
        if (path.indexOf(';') >= 0) {
            addGuard(guarded, PathFuzz.resolve(path.replaceAll(";[^/]*", "")), UnaryOperator.identity());
        }
        Router.Match match = Objects.requireNonNull(ROUTER.match(head));
        if (match.isUnclear()) {
            assertThat(match.isDeceptive()).isTrue();
            assertThat(normal.length()).isGreaterThan(MAX_ALWAYS_CLEAR);
            return;
        }
        guarded.remove(written.name());
        if (written.refusesAll() || guarded.isEmpty()) {
            assertThat(match.route()).isEqualTo(written);
            assertThat(match.isReading()).isFalse();
        } else {
            assertThat(guarded).as(path).contains(match.route().name());
            assertThat(match.isDeceptive() || match.route().refusesAll()).isTrue();
            assertThat(match.insteadOf()).isEqualTo(written);
        }
    }

    private static void addGuard(Set<String> guarded, String reading, UnaryOperator<String> rules) {
        Rule selected = select(reading, rules);
        if (selected != null && selected.route.guards()) {
            guarded.add(selected.route.name());
        }
        boolean isOwn = selected != null && isOwn(selected, reading, rules);
        if (!isOwn && reading.length() > 1 && reading.endsWith("/")) {
            addGuard(guarded, reading.substring(0, reading.length() - 1), rules);
        }
    }

    /** Whether a rule is for the path with its slash, so that servers which ignore that do not count. */
    private static boolean isOwn(Rule rule, String path, UnaryOperator<String> form) {
        return switch (rule.type) {
            case EXACT -> true;
            case REGULAR_EXPRESSION -> false;
            case PATH_PREFIX -> path.equals(form.apply(rule.path) + "/");
        };
    }

    /** Returns the rule that a path leads to, by trying them all. */
    private static @Nullable Rule select(String path, UnaryOperator<String> form) {
        return RULES.stream()
                .filter(rule -> accepts(rule, path, form))
                .max(Comparator.comparingInt(rule -> rank(rule, form)))
                .orElse(null);
    }

    private static boolean accepts(Rule rule, String path, UnaryOperator<String> form) {
        return switch (rule.type) {
            case EXACT -> path.equals(form.apply(rule.path));
            case REGULAR_EXPRESSION -> path.matches(rule.path);
            case PATH_PREFIX ->
                rule.path.equals("/")
                        || path.equals(form.apply(rule.path))
                        || path.startsWith(form.apply(rule.path) + "/");
        };
    }

    private static int rank(Rule rule, UnaryOperator<String> form) {
        return switch (rule.type) {
            case EXACT -> 10_000;
            case REGULAR_EXPRESSION -> 1_000;
            case PATH_PREFIX -> form.apply(rule.path).length();
        };
    }

    /** Returns what servers make of a path, as the documentation says: docs/routing.md, "Rules that refuse a path". */
    private static Set<String> readings(String path, UnaryOperator<String> server) {
        Set<String> found = new TreeSet<>();
        String decoded = server.apply(path);
        for (String text : List.of(decoded, server.apply(path.replaceAll(";[^/]*", "")))) {
            addForms(found, text);
            addForms(found, untilEnd(text));
        }
        addForms(found, decoded.replaceAll(";[^/]*", ""));
        addForms(found, untilEnd(decoded).replaceAll(";[^/]*", ""));
        return found;
    }

    private static String untilEnd(String path) {
        return path.replaceAll("(?s)[?#].*", "");
    }

    private static void addForms(Set<String> found, String text) {
        String plain = text.replaceAll("[\\x00-\\x1f\\x7f]", "").replaceAll("(?<=/) +| +(?=/|\\z)", "");
        for (String path : List.of(PathFuzz.resolve(text), PathFuzz.resolve(plain))) {
            found.add(path);
            String withoutStreams = path.replaceAll("(?<=/)([^/:]*):(?:[^/]*:)?\\$[^/]*", "$1");
            found.add(PathFuzz.resolve(withoutStreams.replaceAll("[. ]+(?=/|\\z)", "")));
        }
    }

    private static String onWindows(String path) {
        return onUnix(path).replace('\\', '/');
    }

    private static String onUnix(String path) {
        return Pattern.compile("%([0-9A-F]{2})").matcher(path).replaceAll(GuardedPathsFuzz::octet);
    }

    private static String lateForSeparators(String path) {
        return Pattern.compile("%(?!2F|5C)([0-9A-F]{2})").matcher(path).replaceAll(GuardedPathsFuzz::octet);
    }

    private static String octet(MatchResult escape) {
        return Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(escape.group(1), 16)));
    }
}
