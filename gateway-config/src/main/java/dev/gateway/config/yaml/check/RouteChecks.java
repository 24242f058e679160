package dev.gateway.config.yaml.check;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.filter.FilterConfig.PathRewrite;
import dev.gateway.config.filter.FilterConfig.PathRewriteType;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.MatchConfig.PathMatch;
import dev.gateway.config.route.MatchConfig.PathType;
import dev.gateway.config.route.MatchConfig.ValueMatch;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.route.RouteConfig.Hostname;
import dev.gateway.config.route.RouteConfig.ParentRef;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.route.RuleConfig.BackendRef;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.config.yaml.schema.filter.RuleSite;
import dev.gateway.config.yaml.type.Scope;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Every rule does something, with filters that fit together, and no match stands in the way of another. */
final class RouteChecks {
    private final Scope scope;
    private final List<String> listeners;

    /** Where each match was first written, by the listener, hostname and conditions that make it what it is. */
    private final Map<List<Object>, Position> seen = new HashMap<>();

    private RouteChecks(Scope scope, List<String> listeners) {
        this.scope = scope;
        this.listeners = listeners;
    }

    static void run(GatewayConfig config, Scope scope) {
        RouteChecks checks = new RouteChecks(
                scope,
                config.listeners().stream()
                        .filter(ListenerConfig::isHttp)
                        .map(ListenerConfig::name)
                        .distinct()
                        .toList());
        for (RouteConfig route : config.routes()) {
            checks.names(route);
            checks.evaded(route);
            for (RuleConfig rule : route.rules()) {
                checks.destination(rule);
                if (rule.timeouts().tunnel() == null) {
                    checks.filters(new RuleSite(config, route, rule, scope));
                    rule.matches().forEach(match -> checks.overlap(route, match));
                }
            }
        }
    }

    /** A rule without a name is called by its position, so a name must not look like one. */
    private void names(RouteConfig route) {
        Map<String, Position> first = new HashMap<>();
        for (RuleConfig rule : route.rules()) {
            String name = rule.name();
            if (name == null) {
                continue;
            }
            if (name.chars().allMatch(c -> c >= '0' && c <= '9')) {
                scope.problems.error(
                        scope.at(rule, "name"),
                        "name: '" + name + "' would be taken for the position of a rule: add a letter");
            }
            Position other = first.putIfAbsent(name, scope.at(rule, "name"));
            if (other != null) {
                scope.problems.error(
                        scope.at(rule, "name"), "duplicate rule '" + name + "': first defined in line " + other.line());
            }
        }
    }

    private void filters(RuleSite site) {
        RuleConfig rule = site.rule();
        FilterConfig answering = null;
        Set<String> types = new HashSet<>();
        for (FilterConfig filter : rule.filters()) {
            if (answering != null && !filter.editsAnswers() && !FilterTypes.runsBefore(filter, answering)) {
                scope.problems.warning(
                        filter.position(),
                        "no request reaches this filter: " + answering.type() + " answers before it");
            }
            if (!types.add(filter.type()) && !filter.isRepeatable()) {
                scope.problems.error(
                        filter.position(), "a rule has one " + filter.type() + " filter: merge this into the other");
            }
            prefixes(rule, filter);
            FilterTypes.check(filter, site);
            if (filter.answer() != 0 && answering == null) {
                answering = filter;
            }
        }
        answered(rule, answering);
        slashes(rule);
    }

    private void answered(RuleConfig rule, @Nullable FilterConfig answering) {
        if (answering != null && !rule.forwarding().backendRefs().isEmpty()) {
            scope.problems.error(
                    scope.at(rule, "backendRefs"),
                    "backendRefs are never used: " + answering.type() + " answers every request; remove one of them");
        } else if (answering == null && rule.forwarding().backendRefs().isEmpty() && !rule.hasUncheckedFilters()) {
            scope.problems.error(
                    scope.at(rule, "backendRefs"),
                    "a rule needs 'backendRefs', or a filter that answers: "
                            + String.join(" or ", FilterTypes.BUILT_IN.answering()));
        }
    }

    /** What decides by the path has seen one with merged slashes. */
    private void slashes(RuleConfig rule) {
        if (rule.forwarding().mergeSlashes()) {
            return;
        }
        rule.filters().stream()
                .filter(FilterConfig::decidesByPath)
                .findFirst()
                .ifPresent(filter -> scope.problems.warning(
                        scope.at(rule, "mergeSlashes"),
                        "mergeSlashes: false makes the gateway refuse paths with repeated slashes here, since "
                                + filter.type() + " may decide by the path: remove it"));
    }

    private void prefixes(RuleConfig rule, FilterConfig filter) {
        PathRewrite path = filter.rewrite();
        if (path == null || path.type() != PathRewriteType.REPLACE_PREFIX_MATCH) {
            return;
        }
        for (MatchConfig match : rule.matches()) {
            if (match.path().type() != PathType.PATH_PREFIX) {
                scope.problems.error(
                        path.position(),
                        "ReplacePrefixMatch in " + filter.type()
                                + " needs every match of its rule to be a PathPrefix, and that in line "
                                + match.path().position().line() + " is not");
                return;
            }
        }
    }

    /** Clients choose what they send, and with it whether a rule takes their request that has such conditions. */
    private void evaded(RouteConfig route) {
        for (RuleConfig rule : route.rules()) {
            for (MatchConfig match : isGuarded(rule) ? rule.matches() : List.<MatchConfig>of()) {
                RuleConfig open =
                        match.headers().isEmpty() && match.queryParams().isEmpty() ? null : open(route, match);
                if (open != null) {
                    scope.problems.warning(
                            match.position(),
                            "headers and queryParams are no protection: without them, requests for this path take the rule in "
                                    + "line " + open.position().line() + ", which has no access filter");
                }
            }
        }
    }

    /** What refuses all requests is rather meant for those who do not hide. */
    private static boolean isGuarded(RuleConfig rule) {
        return rule.filters().stream().anyMatch(filter -> filter.guards() && !filter.refusesAll());
    }

    private static @Nullable RuleConfig open(RouteConfig route, MatchConfig match) {
        return route.rules().stream()
                .filter(rule -> !rule.guards() && !rule.hasUncheckedFilters())
                .filter(rule -> rule.matches().stream()
                        .anyMatch(other -> other.headers().isEmpty()
                                && other.queryParams().isEmpty()
                                && (other.method() == null
                                        || match.method() == null
                                        || other.method().equals(match.method()))
                                && covers(other.path(), match.path())
                                && !isGuardedWithin(route, other, match)))
                .findFirst()
                .orElse(null);
    }

    /** Whether a guarded rule for fewer paths takes the requests of a match, so that they do not get to an open one. */
    private static boolean isGuardedWithin(RouteConfig route, MatchConfig open, MatchConfig match) {
        return route.rules().stream()
                .filter(RuleConfig::guards)
                .flatMap(rule -> rule.matches().stream())
                .anyMatch(guarded -> guarded.headers().isEmpty()
                        && guarded.queryParams().isEmpty()
                        && guarded.method() == null
                        && covers(guarded.path(), match.path())
                        && covers(open.path(), guarded.path())
                        && !covers(guarded.path(), open.path()));
    }

    private static boolean covers(PathMatch wide, PathMatch path) {
        if (wide.type() == PathType.PATH_PREFIX && path.type() != PathType.REGULAR_EXPRESSION) {
            String prefix = wide.value().endsWith("/") ? wide.value() : wide.value() + "/";
            return (path.value() + "/").startsWith(prefix);
        }
        return wide.type() == path.type() && wide.value().equals(path.value());
    }

    private void destination(RuleConfig rule) {
        List<BackendRef> refs = rule.forwarding().backendRefs();
        if (!refs.isEmpty() && refs.stream().allMatch(ref -> ref.weight() == 0)) {
            scope.problems.warning(
                    scope.at(rule, "backendRefs"),
                    "every weight is 0: "
                            + (rule.timeouts().tunnel() == null
                                    ? "the gateway answers matching requests with 500, as the Gateway API requires"
                                    : "the gateway closes every connection"));
        }
    }

    /** A second attempt needs a second endpoint. */
    private void overlap(RouteConfig route, MatchConfig match) {
        List<Object> conditions = conditions(match);
        List<String> parents = route.parentRefs().isEmpty()
                ? listeners
                : route.parentRefs().stream().map(ParentRef::name).toList();
        List<String> hostnames = route.hostnames().isEmpty()
                ? List.of("*")
                : route.hostnames().stream().map(Hostname::value).toList();
        int total = 0;
        int taken = 0;
        Position first = null;
        for (String parent : parents) {
            for (String hostname : hostnames) {
                Position before = seen.putIfAbsent(List.of(parent, hostname, conditions), match.position());
                total++;
                if (before != null) {
                    taken++;
                    first = first == null ? before : first;
                }
            }
        }
        if (first != null) {
            String where = first.seenFrom(match.position());
            scope.problems.warning(
                    match.position(),
                    taken == total
                            ? "this match is never reached: " + where + " has the same one, and comes first"
                            : "this match overlaps with the same one in " + where
                                    + ", which comes first for some of its hostnames or listeners");
        }
    }

    /** Two matches with equal conditions match the same requests. */
    private static List<Object> conditions(MatchConfig match) {
        String path = match.path().value();
        if (match.path().type() == PathType.PATH_PREFIX && path.length() > 1 && path.endsWith("/")) {
            path = path.substring(0, path.length() - 1); // /foo/ and /foo are the same prefix
        }
        return List.of(
                match.path().type(),
                path,
                match.method() == null ? "" : match.method(),
                match.headers().stream()
                        .map(header -> value(header, header.name().toLowerCase(Locale.ROOT)))
                        .sorted()
                        .toList(),
                match.queryParams().stream()
                        .map(param -> value(param, param.name()))
                        .sorted()
                        .toList());
    }

    private static String value(ValueMatch match, String name) {
        return name + "\0" + match.type() + "\0" + match.value();
    }
}
