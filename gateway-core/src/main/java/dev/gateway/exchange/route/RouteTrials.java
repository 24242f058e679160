package dev.gateway.exchange.route;

import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.MatchConfig.PathMatch;
import dev.gateway.config.route.MatchConfig.PathType;
import dev.gateway.exchange.route.Miss.Part;
import dev.gateway.message.Authority;
import dev.gateway.message.RequestHead;
import dev.gateway.message.path.PathReadings;
import dev.gateway.message.path.PathReadings.Reading;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Linear route matching. Finds the route of a request as the {@link Router} of the same rules does, and tells what every
 * other match lacks: slowly, by trying them all. For those who ask why; used by one thread at a time.
 *
 * @param <T> what the asker knows a rule by
 */
public final class RouteTrials<T> {
    private static final int NO_HOST = -1;
    private static final int ANY_HOST = 0;
    private static final int EXACT_HOST = Integer.MAX_VALUE; // wildcards are between, the longer the better

    private static final Router.Match NOWHERE = new Router.Match(
            new Route("", List.of(), Route.Forwarding.NONE, Route.Timeouts.NONE, Route.Upgrades.NONE), 0);

    private final List<Added<T>> matches = new ArrayList<>();

    private record Added<T>(T rule, int number, List<String> hostnames, MatchConfig match, Candidate candidate) {}

    /**
     * How a request fares with a match.
     *
     * @param match which of the rule's matches
     * @param hostname which of the rule's host names covers the request, -1 if none does or the rule has none
     * @param misses what the request lacks; empty if it is accepted
     * @param isOwn whether the match is for this very path, or for it and all below
     */
    public record Trial<T>(T rule, int match, int hostname, List<Miss> misses, boolean isOwn) {
        /** Whether the match accepts the request. */
        public boolean isAccepted() {
            return misses.isEmpty();
        }
    }

    private record Ranked<T>(Trial<T> trial, int host, int path, boolean escaped, Candidate candidate) {}

    /** Adds a rule, as {@link RouterBuilder#add} does. */
    public RouteTrials<T> add(List<String> hostnames, List<MatchConfig> of, T rule) {
        List<MatchConfig> all = of.isEmpty() ? List.of(MatchConfig.ANY) : of;
        for (int i = 0; i < all.size(); i++) {
            Candidate candidate = new Candidate(all.get(i), NOWHERE, matches.size());
            matches.add(new Added<>(rule, i, hostnames, all.get(i), candidate));
        }
        return this;
    }

    /**
     * Tries every match.
     *
     * @param head with its path in normal form
     * @return those that accept the request, in order of precedence, so that the first is the router's; then the others,
     *     those that lack least first
     */
    public List<Trial<T>> of(RequestHead head) {
        return of(head, null);
    }

    /**
     * Tries every match with a path that an upstream may read out of the head's, by the rules' paths as it reads them. If
     * the head's path has no escapes, a rule that is written with escapes then comes after one that is not.
     *
     * @param reading null for the path as it is
     */
    public List<Trial<T>> of(RequestHead head, @Nullable Reading reading) {
        String host = host(head.authority());
        List<Ranked<T>> ranked = new ArrayList<>();
        boolean isPlain = reading != null
                && reading.ofRules() != null
                && !PathReadings.hasEscapes(head.path(), head.queryStart());
        for (Added<T> added : matches) {
            ranked.add(rank(added, head, reading, host));
        }
        ranked.sort(Comparator.<Ranked<T>>comparingInt(each -> distance(each.trial))
                .thenComparing(each -> -each.host)
                .thenComparing(each -> -each.path)
                .thenComparing(Ranked::candidate, Candidate.SPECIFICITY)
                .thenComparing(each -> isPlain && each.escaped)
                .thenComparing(Ranked::candidate, Candidate.PRECEDENCE));
        return ranked.stream().map(Ranked::trial).toList();
    }

    /** Whether a path has more readings than the router would look up if any rule guards. */
    public boolean hasTooManyReadings(RequestHead head) {
        boolean hasEscaped = false;
        boolean hasExpressions = false;
        for (Added<T> added : matches) {
            hasEscaped |= RouterBuilder.isEscaped(added.match.path());
            hasExpressions |= added.match.path().type() == PathType.REGULAR_EXPRESSION;
        }
        return hasExpressions
                && PathReadings.isAmbiguous(head.path(), head.queryStart())
                && PathReadings.areTooMany(PathReadings.all(head.path(), head.queryStart(), hasEscaped));
    }

    /** Returns how far a request is from being accepted: a host says more about what was meant than a header. */
    private static int distance(Trial<?> trial) {
        int distance = 0;
        for (Miss miss : trial.misses) {
            distance += switch (miss.part()) {
                case HOST -> 1_000;
                case PATH -> 100;
                case METHOD, HEADER, QUERY -> 1;
            };
        }
        return distance;
    }

    private static <T> Ranked<T> rank(Added<T> added, RequestHead head, @Nullable Reading reading, String host) {
        int hostRank = added.hostnames.isEmpty() ? ANY_HOST : NO_HOST;
        int hostname = -1;
        for (int i = 0; i < added.hostnames.size(); i++) {
            int rank = rank(added.hostnames.get(i), host);
            if (rank > hostRank) {
                hostRank = rank;
                hostname = i;
            }
        }
        List<Miss> misses = new ArrayList<>();
        if (hostRank == NO_HOST) {
            misses.add(new Miss(Part.HOST, 0));
        }
        if (!accepts(added, head, reading)) {
            misses.add(new Miss(Part.PATH, 0));
        }
        added.candidate.addMisses(head, misses);
        return new Ranked<>(
                new Trial<>(
                        added.rule,
                        added.number,
                        hostname,
                        List.copyOf(misses),
                        isOwn(added.match.path(), head, reading)),
                hostRank,
                rank(added.match.path(), reading),
                RouterBuilder.isEscaped(added.match.path()),
                added.candidate);
    }

    private static String host(AsciiString authority) {
        String host = authority.toString(0, Authority.hostLength(authority)).toLowerCase(Locale.ROOT);
        return withoutDot(host);
    }

    private static String withoutDot(String host) {
        return host.length() > 1 && host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    }

    private static int rank(String hostname, String host) {
        if (hostname.equals("*")) {
            return ANY_HOST;
        }
        String name = withoutDot(hostname.toLowerCase(Locale.ROOT));
        if (name.startsWith("*.")) {
            String suffix = name.substring(1);
            return host.endsWith(suffix) && host.length() > suffix.length() ? suffix.length() : NO_HOST;
        }
        return name.equals(host) ? EXACT_HOST : NO_HOST;
    }

    private static int rank(PathMatch path, @Nullable Reading reading) {
        return switch (path.type()) {
            case EXACT -> Integer.MAX_VALUE;
            case REGULAR_EXPRESSION -> Integer.MAX_VALUE - 1;
            case PATH_PREFIX -> prefix(wanted(path, reading)).length();
        };
    }

    private static boolean isOwn(PathMatch path, RequestHead head, @Nullable Reading reading) {
        return switch (path.type()) {
            case EXACT -> true;
            case REGULAR_EXPRESSION -> false;
            case PATH_PREFIX -> {
                AsciiString actual = actual(head, reading);
                AsciiString prefix = prefix(wanted(path, reading));
                yield prefix.length() == prefix(actual).length();
            }
        };
    }

    private static AsciiString actual(RequestHead head, @Nullable Reading reading) {
        return reading != null ? reading.path() : head.path().subSequence(0, head.queryStart());
    }

    /** Returns the path of a rule in the form in which it is compared with a reading. */
    private static AsciiString wanted(PathMatch path, @Nullable Reading reading) {
        AsciiString written = RouterBuilder.path(path.value());
        return reading == null || reading.ofRules() == null ? written : PathReadings.decode(written, reading.ofRules());
    }

    private static AsciiString prefix(AsciiString value) {
        int length = value.length(); // 0 for a CONNECT
        return length > 0 && value.byteAt(length - 1) == '/' ? value.subSequence(0, length - 1) : value;
    }

    private static <T> boolean accepts(Added<T> added, RequestHead head, @Nullable Reading reading) {
        PathMatch path = added.match.path();
        AsciiString actual = actual(head, reading);
        if (path.type() == PathType.REGULAR_EXPRESSION) {
            return new RegexPath(path.value(), added.candidate).matches(actual, actual.length());
        }
        AsciiString wanted = wanted(path, reading);
        if (path.type() == PathType.EXACT) {
            return actual.contentEquals(wanted);
        }
        AsciiString prefix = prefix(wanted);
        return actual.startsWith(prefix)
                && (prefix.isEmpty() || actual.length() == prefix.length() || actual.byteAt(prefix.length()) == '/');
    }
}
