package dev.gateway.exchange.route;

import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.MatchConfig.PathType;
import dev.gateway.message.Authority;
import dev.gateway.message.path.PathNormalizer;
import dev.gateway.message.path.PathReadings;
import dev.gateway.message.path.PathReadings.Separators;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Router compiler: compiles the routes of a listener into a {@link Router}. Precedence, as in the Gateway API:
 *
 * <ol>
 *   <li>the exact host name, then the longest wildcard, then matches for any host. A wildcard covers one or more
 *       labels. Only if no match of the more specific host accepts the request are the next host's tried;
 *   <li>an Exact path; then regular expressions, so that a catch-all prefix does not hide them (the Gateway API leaves
 *       their place open; among themselves, whatever their length, the next points decide); then the longest prefix;
 *   <li>a match that names a method; then more headers; then more query parameters; then the first in the file.
 * </ol>
 *
 * Used by one thread, once.
 */
public final class RouterBuilder {
    /** A match; an expression is compiled once for all tables. */
    private record Added(MatchConfig match, Route route, int position, @Nullable RegexPath regex) {
        Candidate prefix(int length) {
            return new Candidate(match, new Router.Match(route, length), position);
        }

        Candidate exact() {
            return new Candidate(match, Router.Match.exact(route), position);
        }

        /** Returns the same, later in the file. */
        Added later(int by) {
            return new Added(match, route, position + by, regex);
        }
    }

    private final Map<AsciiString, List<Added>> exactHosts = new HashMap<>();
    // Shorter suffixes first, so that each finds the wildcard it falls back to.
    private final Map<AsciiString, List<Added>> wildcards = new TreeMap<>(
            (a, b) -> a.length() != b.length() ? Integer.compare(a.length(), b.length()) : a.compareTo(b));
    private final List<Added> anyHost = new ArrayList<>();
    private int position;
    private @Nullable Route guard; // the first
    private boolean hasExpressions;
    private boolean hasEscapedRules;
    private boolean hasEscapedSlashes;
    private boolean hasEscapedBackslashes;
    private boolean hasEscapedGuards;
    private boolean hasGuardsOfWholePaths;

    /**
     * Adds a rule; earlier ones win where all else is equal.
     *
     * @param hostnames exact or {@code *.} and a name; {@code *} or none at all for any host
     * @param matches of which one must accept a request; none at all for every request
     * @throws IllegalArgumentException if a host name or path is not valid; a path must be in the form that
     *     {@link PathNormalizer} gives it, or nothing would ever match
     * @throws com.google.re2j.PatternSyntaxException if a regular expression is not valid
     */
    public RouterBuilder add(List<String> hostnames, List<MatchConfig> matches, Route route) {
        guard = guard == null && route.guards() ? route : guard;
        for (MatchConfig match : matches.isEmpty() ? List.of(MatchConfig.ANY) : matches) {
            Added added = added(match, route, position++);
            boolean isEscaped = isEscaped(match.path());
            hasExpressions |= added.regex != null;
            hasEscapedRules |= isEscaped;
            hasEscapedSlashes |= isEscaped && match.path().value().contains("%2F");
            hasEscapedBackslashes |= isEscaped && match.path().value().contains("%5C");
            hasEscapedGuards |= isEscaped && route.guards();
            hasGuardsOfWholePaths |= match.path().type() != PathType.PATH_PREFIX && route.guardsAccess();
            if (hostnames.isEmpty()) {
                anyHost.add(added);
            }
            for (String hostname : hostnames) {
                listOf(hostname).add(added);
            }
        }
        return this;
    }

    private static Added added(MatchConfig match, Route route, int position) {
        String value = match.path().value();
        if (match.path().type() != PathType.REGULAR_EXPRESSION) {
            path(value); // fails here, not in build
            return new Added(match, route, position, null);
        }
        Candidate candidate = new Candidate(match, new Router.Match(route, 0), position);
        return new Added(match, route, position, new RegexPath(value, candidate));
    }

    private List<Added> listOf(String hostname) {
        if (hostname.equals("*")) {
            return anyHost;
        }
        boolean wildcard = hostname.startsWith("*.");
        String name = hostname.substring(wildcard ? 2 : 0).toLowerCase(Locale.ROOT);
        name = name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
        Authority authority = Authority.parse(new AsciiString(name));
        if (authority == null || authority.host().length() != name.length()) {
            throw new IllegalArgumentException("not a host name: \"" + hostname + "\"");
        }
        return wildcard
                ? wildcards.computeIfAbsent(new AsciiString("." + name), n -> new ArrayList<>())
                : exactHosts.computeIfAbsent(authority.host(), n -> new ArrayList<>());
    }

    /** Compiles what was added. */
    public Router build() {
        RouteTable written = table(UnaryOperator.identity());
        if (guard == null) {
            return written;
        }
        Map<Separators, RouteTable> decoded = hasEscapedRules ? decoded() : Map.of();
        // Paths without escapes only need another order where a rule with escapes guards.
        Map<Separators, RouteTable> plain = hasEscapedGuards ? escapedLast().decoded() : Map.of();
        Router.Match unclear = hasExpressions ? new Router.Match(guard, 0).asUnclear() : null;
        return new GuardedTable(written, decoded, plain, hasEscapedRules, hasGuardsOfWholePaths, unclear);
    }

    /** Compiles what was added by paths as servers decode them; once where they agree. */
    private Map<Separators, RouteTable> decoded() {
        Map<Separators, RouteTable> tables = new EnumMap<>(Separators.class);
        RouteTable both = table(path -> PathReadings.decode(path, Separators.BOTH));
        for (Separators each : Separators.values()) {
            boolean differs =
                    switch (each) {
                        case BOTH -> false;
                        case SLASH -> hasEscapedBackslashes;
                        case NONE -> hasEscapedBackslashes || hasEscapedSlashes;
                    };
            tables.put(each, differs ? table(path -> PathReadings.decode(path, each)) : both);
        }
        return tables;
    }

    /** Returns the same rules, those that are written with escapes last. */
    private RouterBuilder escapedLast() {
        int last = position;
        RouterBuilder plain = new RouterBuilder();
        plain.hasEscapedSlashes = hasEscapedSlashes;
        plain.hasEscapedBackslashes = hasEscapedBackslashes;
        plain.anyHost.addAll(escapedLast(anyHost, last));
        wildcards.forEach((name, added) -> plain.wildcards.put(name, escapedLast(added, last)));
        exactHosts.forEach((name, added) -> plain.exactHosts.put(name, escapedLast(added, last)));
        return plain;
    }

    /** Whether a path is written with escapes. */
    static boolean isEscaped(MatchConfig.PathMatch path) {
        return path.type() != PathType.REGULAR_EXPRESSION && path.value().indexOf('%') >= 0;
    }

    private static List<Added> escapedLast(List<Added> all, int last) {
        List<Added> ordered = new ArrayList<>();
        for (Added added : all) {
            ordered.add(isEscaped(added.match.path()) ? added.later(last) : added);
        }
        return ordered;
    }

    /** Compiles what was added, by paths in some form. */
    private RouteTable table(UnaryOperator<AsciiString> form) {
        HostRoutes any = anyHost.isEmpty() ? null : compile(anyHost, form, null);
        Map<AsciiString, HostRoutes> compiledWildcards = new HashMap<>();
        wildcards.forEach((suffix, added) ->
                compiledWildcards.put(suffix, compile(added, form, parent(suffix, 1, compiledWildcards, any))));
        Map<AsciiString, HostRoutes> compiledHosts = new HashMap<>();
        exactHosts.forEach((host, added) ->
                compiledHosts.put(host, compile(added, form, parent(host, 1, compiledWildcards, any))));
        return new RouteTable(
                new ByteTable<>(compiledHosts, RouteTable::hash),
                new ByteTable<>(compiledWildcards, RouteTable::hash),
                any);
    }

    private static @Nullable HostRoutes parent(
            AsciiString name, int from, Map<AsciiString, HostRoutes> wildcards, @Nullable HostRoutes any) {
        for (int dot = name.indexOf('.', from); dot >= 0; dot = name.indexOf('.', dot + 1)) {
            HostRoutes wildcard = wildcards.get(name.subSequence(dot));
            if (wildcard != null) {
                return wildcard;
            }
        }
        return any;
    }

    private static HostRoutes compile(
            List<Added> matches, UnaryOperator<AsciiString> form, @Nullable HostRoutes parent) {
        HostRoutes.Builder builder = new HostRoutes.Builder();
        matches.forEach(added -> candidate(added, form, builder));
        return builder.build(parent);
    }

    private static void candidate(Added added, UnaryOperator<AsciiString> form, HostRoutes.Builder builder) {
        String value = added.match.path().value();
        switch (added.match.path().type()) {
            case EXACT -> builder.exact(form.apply(path(value)), added.exact());
            case PATH_PREFIX -> {
                AsciiString path = form.apply(path(value));
                int length = path.length();
                AsciiString prefix = path.byteAt(length - 1) == '/' ? path.subSequence(0, length - 1) : path;
                builder.prefix(prefix, added.prefix(prefix.length()));
            }
            case REGULAR_EXPRESSION -> builder.regex(Objects.requireNonNull(added.regex));
        }
    }

    /** Returns a path as it is compared. */
    static AsciiString path(String value) {
        AsciiString bytes = new AsciiString(value, StandardCharsets.UTF_8);
        AsciiString normal = PathNormalizer.normalize(bytes);
        if (normal == null || !value.startsWith("/") || value.indexOf('?') >= 0 || !normal.equals(bytes)) {
            throw new IllegalArgumentException("not a path in normal form: \"" + value + "\""
                    + (normal == null ? "" : ", which is matched as \"" + normal + "\""));
        }
        return bytes;
    }
}
