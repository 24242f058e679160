package dev.gateway.config.yaml.check;

import dev.gateway.config.AccessConfig.Cors;
import dev.gateway.config.BodyConfig.BodyLimit;
import dev.gateway.config.ExternalAuthConfig;
import dev.gateway.config.FilterConfig;
import dev.gateway.config.FilterConfig.PathRewrite;
import dev.gateway.config.FilterConfig.PathRewriteType;
import dev.gateway.config.FilterConfig.RequestRedirect;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.JwtConfig;
import dev.gateway.config.KeyPlace;
import dev.gateway.config.ListenerConfig;
import dev.gateway.config.MatchConfig;
import dev.gateway.config.MatchConfig.PathMatch;
import dev.gateway.config.MatchConfig.PathType;
import dev.gateway.config.MatchConfig.ValueMatch;
import dev.gateway.config.PluginFilterConfig;
import dev.gateway.config.Position;
import dev.gateway.config.RateLimitConfig;
import dev.gateway.config.RequestMirrorConfig;
import dev.gateway.config.RouteConfig;
import dev.gateway.config.RouteConfig.Hostname;
import dev.gateway.config.RouteConfig.ParentRef;
import dev.gateway.config.RuleConfig;
import dev.gateway.config.RuleConfig.BackendRef;
import dev.gateway.config.ShownCredentials;
import dev.gateway.config.UncheckedFilterConfig;
import dev.gateway.config.UpstreamConfig;
import dev.gateway.config.yaml.schema.FilterTypes;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.format.Sizes;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Every rule does something, with filters that fit together, and no match stands in the way of another. */
final class RouteChecks {
    private final Scope scope;
    private final List<String> listeners;
    private final Map<String, Position> http1; // upstreams that speak HTTP/1.1 only

    /** Where each match was first written, by the listener, hostname and conditions that make it what it is. */
    private final Map<List<Object>, Position> seen = new HashMap<>();

    private RouteChecks(Scope scope, List<String> listeners, List<UpstreamConfig> upstreams) {
        this.scope = scope;
        this.listeners = listeners;
        this.http1 = new HashMap<>();
        for (UpstreamConfig upstream : upstreams) {
            if (!upstream.protocols().mayBeHttp2()) {
                http1.put(upstream.name(), upstream.position());
            }
        }
    }

    static void run(GatewayConfig config, Scope scope) {
        RouteChecks checks = new RouteChecks(
                scope,
                config.listeners().stream()
                        .filter(ListenerConfig::isHttp)
                        .map(ListenerConfig::name)
                        .distinct()
                        .toList(),
                config.upstreams());
        for (RouteConfig route : config.routes()) {
            checks.names(route);
            checks.evaded(route);
            for (RuleConfig rule : route.rules()) {
                checks.destination(rule);
                if (rule.timeouts().tunnel() == null) {
                    checks.filters(rule);
                    checks.bodyLimits(config, route, rule);
                    rule.matches().forEach(match -> checks.overlap(route, match));
                }
            }
        }
    }

    /** Calls of gRPC need HTTP/2. */
    private void calls(ExternalAuthConfig auth) {
        Position server = auth.isGrpc() ? http1.get(auth.backendRef().name()) : null;
        if (server != null) {
            scope.problems.error(
                    scope.at(auth.backendRef(), "name"),
                    "protocol: GRPC needs HTTP/2, and the upstream '"
                            + auth.backendRef().name() + "' in line "
                            + server.line()
                            + " speaks HTTP/1.1: write protocol: h2c (cleartext) or protocol: h2 (with tls) there");
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

    private void filters(RuleConfig rule) {
        FilterConfig answering = null;
        Map<String, FilterConfig> single = new HashMap<>();
        for (FilterConfig filter : rule.filters()) {
            if (answering != null && !editsAnswers(filter) && !FilterTypes.runsBefore(filter, answering)) {
                scope.problems.warning(
                        filter.position(),
                        "no request reaches this filter: " + answering.type() + " answers before it");
            }
            if (!filter.isRepeatable() && single.put(filter.type(), filter) != null) {
                scope.problems.error(
                        filter.position(), "a rule has one " + filter.type() + " filter: merge this into the other");
            }
            forms(rule, filter);
            prefixes(rule, filter);
            if (filter instanceof ExternalAuthConfig auth) {
                calls(auth);
            }
            if (filter instanceof RequestMirrorConfig mirror) {
                twice(rule, mirror);
            }
            if (filter instanceof Cors) {
                preflights(rule, filter);
            }
            ShownCredentials shown = filter.credentials();
            if (shown != null) {
                apart(rule, filter, shown);
            }
            if (filter instanceof RateLimitConfig limits) {
                identities(rule, limits);
                limits.limits().stream().flatMap(limit -> limit.key().stream()).forEach(part -> {
                    taken(rule, part);
                    claimed(rule, part);
                });
            }
            if (filter.answer() != 0 && answering == null) {
                answering = filter;
            }
        }
        FilterConfig rewrite = single.get("URLRewrite");
        if (rewrite != null && answering instanceof RequestRedirect) {
            scope.problems.error(
                    rewrite.position(),
                    "a rule cannot have both URLRewrite and RequestRedirect: give the redirect its own path");
        }
        answered(rule, answering);
    }

    /** Two requests for one may do harm, such as two orders. */
    private void twice(RuleConfig rule, RequestMirrorConfig mirror) {
        String name = mirror.backendRef().name();
        if (rule.forwarding().backendRefs().stream().anyMatch(ref -> ref.name().equals(name))) {
            scope.problems.warning(
                    mirror.backendRef().position(),
                    "upstream '" + name + "' also serves the rule, so it gets requests twice: name another upstream");
        }
    }

    private void preflights(RuleConfig rule, FilterConfig filter) {
        if (rule.matches().stream()
                .allMatch(match -> match.method() != null && !match.method().equals("OPTIONS"))) {
            scope.problems.warning(
                    filter.position(),
                    "browsers ask by OPTIONS first, which no match of this rule takes: add one with 'method: OPTIONS'");
        }
    }

    /** No request can show two kinds of credentials in one place. */
    private void apart(RuleConfig rule, FilterConfig filter, ShownCredentials shown) {
        for (FilterConfig other : rule.filters()) {
            ShownCredentials taken =
                    filter instanceof JwtConfig && !(other instanceof JwtConfig) ? other.credentials() : null;
            if (taken != null && taken.isAt(shown.place(), shown.name())) {
                scope.problems.error(
                        filter.position(),
                        other.type() + " expects other credentials in the same place, " + shown.name()
                                + ": write another header, queryParameter or cookie");
            }
        }
    }

    private void answered(RuleConfig rule, @Nullable FilterConfig answering) {
        if (answering != null && !rule.forwarding().backendRefs().isEmpty()) {
            scope.problems.error(
                    scope.at(rule, "backendRefs"),
                    "backendRefs are never used: " + answering.type() + " answers every request; remove one of them");
        } else if (answering == null
                && rule.forwarding().backendRefs().isEmpty()
                && !UncheckedFilterConfig.isIn(rule)) {
            scope.problems.error(
                    scope.at(rule, "backendRefs"),
                    "a rule needs 'backendRefs', or a filter that answers: RequestRedirect or DirectResponse");
        }
    }

    /** The limit of a listener is looked at before the route is found, so no rule can allow more. */
    private void bodyLimits(GatewayConfig config, RouteConfig route, RuleConfig rule) {
        for (FilterConfig filter : rule.filters()) {
            if (filter instanceof BodyLimit limit) {
                config.listeners().stream()
                        .filter(listener -> listener.isHttp() && route.appliesTo(listener))
                        .filter(listener -> listener.limits().maxBody() > 0
                                && listener.limits().maxBody() <= limit.maxBytes())
                        .findFirst()
                        .ifPresent(listener -> scope.problems.warning(
                                limit.position(),
                                "maxBytes: listener '" + listener.name() + "' allows no more than "
                                        + Sizes.print(listener.limits().maxBody()) + " (limits.maxBody)"));
            }
        }
    }

    private void identities(RuleConfig rule, RateLimitConfig filter) {
        if (rule.filters().stream().anyMatch(FilterConfig::identifies)) {
            return;
        }
        filter.limits().stream()
                .flatMap(limit -> limit.key().stream())
                .filter(RateLimitConfig.KeyPart::identity)
                .forEach(part -> scope.problems.warning(
                        part.position(), "no filter of the rule tells who the client is: all requests count together"));
    }

    private static boolean isAt(ShownCredentials shown, RateLimitConfig.KeyPart part) {
        return shown.isAt(KeyPlace.HEADER, part.header())
                || shown.isAt(KeyPlace.QUERY_PARAMETER, part.queryParameter())
                || shown.isAt(KeyPlace.COOKIE, part.cookie());
    }

    /** A part of a key that an earlier filter takes out of the request is missing in every request. */
    private void taken(RuleConfig rule, RateLimitConfig.KeyPart part) {
        for (FilterConfig filter : rule.filters()) {
            ShownCredentials shown = filter.credentials();
            if (shown != null && shown.removed() && isAt(shown, part)) {
                scope.problems.error(
                        part.position(),
                        filter.type() + " removes the " + part.summary() + " before: write 'identity: true'");
            }
        }
    }

    /** A claim that no filter of the rule verifies could only be what a client says. */
    private void claimed(RuleConfig rule, RateLimitConfig.KeyPart part) {
        if (part.claim() != null && rule.filters().stream().noneMatch(RouteChecks::verifiesClaims)) {
            scope.problems.error(
                    scope.at(part, "claim"),
                    "no request has claims without a token: add the filter JWT to this rule, or write another key");
        }
    }

    private static boolean verifiesClaims(FilterConfig filter) {
        return filter instanceof JwtConfig
                || filter instanceof UncheckedFilterConfig
                || (filter instanceof PluginFilterConfig && filter.identifies());
    }

    /** Whether it also edits what other filters of its rule answer. */
    private static boolean editsAnswers(FilterConfig filter) {
        return filter instanceof FilterConfig.ResponseHeaderModifier headers && headers.always();
    }

    /** A new path is made of the normal form, so nothing of another form would be left. */
    private void forms(RuleConfig rule, FilterConfig filter) {
        PathRewrite path = filter.rewrite();
        RuleConfig.Forwarding forwarding = rule.forwarding();
        if (path != null
                && filter instanceof FilterConfig.UrlRewrite
                && !(forwarding.normalizePath() && forwarding.mergeSlashes())) {
            scope.problems.error(
                    path.position(),
                    "URLRewrite changes the normal form of the path, so it has no meaning with "
                            + (forwarding.normalizePath() ? "mergeSlashes" : "normalizePath") + ": false");
        }
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
                .filter(rule ->
                        rule.filters().stream().noneMatch(FilterConfig::guards) && !UncheckedFilterConfig.isIn(rule))
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
                .filter(rule -> rule.filters().stream().anyMatch(FilterConfig::guards))
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
            String where = "line " + first.line();
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
