package dev.gateway;

import dev.gateway.config.FilterConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.MatchConfig;
import dev.gateway.config.RouteConfig;
import dev.gateway.config.RuleConfig;
import dev.gateway.config.TunnelTimeouts;
import dev.gateway.filter.FilterOrder;
import dev.gateway.filter.FilterOrder.Placed;
import dev.gateway.filter.rewrite.DirectResponse;
import dev.gateway.filter.rewrite.FieldEdits;
import dev.gateway.filter.rewrite.PathRewrite;
import dev.gateway.filter.rewrite.RequestHeaderModifier;
import dev.gateway.filter.rewrite.RequestRedirect;
import dev.gateway.filter.rewrite.ResponseHeaderModifier;
import dev.gateway.filter.rewrite.UrlRewrite;
import dev.gateway.message.FieldName;
import dev.gateway.message.Method;
import dev.gateway.observe.LogPolicy;
import dev.gateway.route.Route;
import dev.gateway.route.RouteMatch;
import dev.gateway.route.Router;
import dev.gateway.route.RouterBuilder;
import dev.gateway.route.WeightedTarget;
import dev.gateway.stream.ViaSignature;
import dev.gateway.upstream.Upstream;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Turns configured routes into routers, one for each listener. */
final class RouteAssembly {
    private static final int NO_TARGET_STATUS = 500; // what the Gateway API wants of a rule whose weights are all 0

    private RouteAssembly() {}

    /**
     * Compiles the routes of each listener, in the order of the listeners.
     *
     * @param signatures how requests that take a route are signed, by its name
     */
    static List<Router> routers(
            GatewayConfig config, Map<String, Upstream> upstreams, Function<String, ViaSignature> signatures)
            throws StartException {
        List<RouterBuilder> builders = new ArrayList<>();
        config.listeners().forEach(listener -> builders.add(new RouterBuilder()));
        for (RouteConfig route : config.routes()) {
            List<String> hostnames =
                    route.hostnames().stream().map(RouteConfig.Hostname::value).toList();
            for (int r = 0; r < route.rules().size(); r++) {
                RuleConfig rule = route.rules().get(r);
                String name = name(route, r);
                try {
                    // One object for all listeners, so that weights are kept whichever a request came by.
                    Route runtime = route(
                            name,
                            rule,
                            upstreams,
                            signatures.apply(name),
                            LogAssembly.policy(config.accessLog(), rule.accessLog()));
                    List<RouteMatch> matches =
                            rule.matches().stream().map(RouteAssembly::match).toList();
                    for (int l = 0; l < builders.size(); l++) {
                        if (route.appliesTo(config.listeners().get(l))) {
                            builders.get(l).add(hostnames, matches, runtime);
                        }
                    }
                } catch (IllegalArgumentException e) {
                    throw Assembly.failure(rule.position(), e);
                }
            }
        }
        return builders.stream().map(RouterBuilder::build).toList();
    }

    /** Returns what logs and metrics call a rule. */
    static String name(RouteConfig route, int rule) {
        String given = route.rules().get(rule).name();
        if (given != null) {
            return route.name() + "/" + given;
        }
        return route.rules().size() == 1 ? route.name() : route.name() + "/" + (rule + 1);
    }

    private static Route route(
            String name,
            RuleConfig rule,
            Map<String, Upstream> upstreams,
            ViaSignature signature,
            @Nullable LogPolicy logPolicy) {
        List<Placed> filters = new ArrayList<>();
        rule.filters().forEach(filter -> filters.add(filter(filter)));
        List<WeightedTarget.Weighted> weighted = new ArrayList<>();
        for (RuleConfig.BackendRef ref : rule.backendRefs()) {
            Upstream upstream = upstreams.get(ref.name());
            if (upstream == null) {
                throw new IllegalArgumentException("no upstream " + ref.name());
            }
            if (ref.weight() > 0) {
                weighted.add(new WeightedTarget.Weighted(upstream, ref.weight()));
            }
        }
        Route.Target target = weighted.isEmpty() ? null : WeightedTarget.of(weighted);
        if (target == null && !rule.backendRefs().isEmpty()) {
            filters.add(new Placed(
                    FilterOrder.DIRECT_RESPONSE, new DirectResponse(NO_TARGET_STATUS, List.of(), new byte[0])));
        }
        RuleConfig.Timeouts timeouts = rule.timeouts();
        return new Route(
                name,
                FilterOrder.inOrder(filters),
                target,
                new Route.Timeouts(
                        Assembly.millis(timeouts.request()),
                        Assembly.millis(timeouts.backendRequest()),
                        Assembly.millis(timeouts.streamIdle()),
                        tunnel(rule)),
                new Route.Retry(
                        rule.retry().attempts(),
                        rule.retry().codes(),
                        Assembly.millis(rule.retry().backoff())),
                upgrades(rule),
                rule.preserveHost(),
                signature,
                logPolicy);
    }

    private static Route.Tunnel tunnel(RuleConfig rule) {
        TunnelTimeouts raw = rule.timeouts().tunnel();
        TunnelTimeouts timeouts = raw != null ? raw : rule.webSocket().timeouts();
        return new Route.Tunnel(
                Assembly.millis(timeouts.idle()),
                Assembly.millis(timeouts.halfClosed()),
                Assembly.millis(timeouts.max()));
    }

    private static Route.Upgrades upgrades(RuleConfig rule) {
        return new Route.Upgrades(lower(rule.upgrades()), lower(rule.webSocket().allowedOrigins()));
    }

    private static Set<AsciiString> lower(List<String> words) {
        return words.stream().map(word -> new AsciiString(word).toLowerCase()).collect(Collectors.toUnmodifiableSet());
    }

    /** Returns the filters of a rule in the order in which they see requests. */
    static List<FilterConfig> inOrder(List<FilterConfig> filters) {
        List<FilterConfig> sorted = new ArrayList<>(filters);
        sorted.sort(Comparator.comparing(each -> filter(each).place()));
        return sorted;
    }

    static RouteMatch match(MatchConfig match) {
        return new RouteMatch(
                new RouteMatch.Path(
                        switch (match.path().type()) {
                            case EXACT -> RouteMatch.PathType.EXACT;
                            case PATH_PREFIX -> RouteMatch.PathType.PREFIX;
                            case REGULAR_EXPRESSION -> RouteMatch.PathType.REGEX;
                        },
                        match.path().value()),
                match.method() == null ? null : Method.of(match.method()),
                match.headers().stream()
                        .map(header ->
                                new RouteMatch.Header(FieldName.of(header.name()), header.value(), isRegex(header)))
                        .toList(),
                match.queryParams().stream()
                        .map(query -> new RouteMatch.Query(query.name(), query.value(), isRegex(query)))
                        .toList());
    }

    private static boolean isRegex(MatchConfig.ValueMatch match) {
        return match.type() == MatchConfig.ValueType.REGULAR_EXPRESSION;
    }

    /** Whether a rule refuses requests, or asks who sends them. */
    static boolean guards(RuleConfig rule) {
        return rule.filters().stream().anyMatch(each -> filter(each).filter().guards());
    }

    private static Placed filter(FilterConfig config) {
        if (config instanceof FilterConfig.RequestHeaderModifier modifier) {
            return new Placed(FilterOrder.REQUEST_HEADER_MODIFIER, new RequestHeaderModifier(edits(modifier.edits())));
        } else if (config instanceof FilterConfig.ResponseHeaderModifier modifier) {
            return new Placed(
                    FilterOrder.RESPONSE_HEADER_MODIFIER, new ResponseHeaderModifier(edits(modifier.edits())));
        } else if (config instanceof FilterConfig.RequestRedirect redirect) {
            Integer port = redirect.port();
            return new Placed(
                    FilterOrder.REQUEST_REDIRECT,
                    new RequestRedirect(
                            redirect.scheme(),
                            redirect.hostname(),
                            port == null ? 0 : port,
                            path(redirect.path()),
                            redirect.statusCode()));
        } else if (config instanceof FilterConfig.UrlRewrite rewrite) {
            return new Placed(FilterOrder.URL_REWRITE, new UrlRewrite(rewrite.hostname(), path(rewrite.path())));
        } else if (config instanceof FilterConfig.DirectResponse direct) {
            List<FieldEdits.Field> fields = new ArrayList<>(fields(direct.headers()));
            if (direct.contentType() != null) {
                fields.add(FieldEdits.Field.of("Content-Type", direct.contentType()));
            }
            return new Placed(
                    FilterOrder.DIRECT_RESPONSE,
                    new DirectResponse(
                            direct.statusCode(), fields, direct.body().getBytes(StandardCharsets.UTF_8)));
        }
        throw new IllegalArgumentException("a filter of an unknown kind: " + config.getClass());
    }

    private static @Nullable PathRewrite path(FilterConfig.@Nullable PathRewrite rewrite) {
        if (rewrite == null) {
            return null;
        }
        return switch (rewrite.type()) {
            case REPLACE_FULL_PATH -> PathRewrite.full(rewrite.value());
            case REPLACE_PREFIX_MATCH -> PathRewrite.prefix(rewrite.value());
        };
    }

    private static FieldEdits edits(FilterConfig.HeaderEdits edits) {
        return new FieldEdits(
                fields(edits.set()),
                fields(edits.add()),
                edits.remove().stream().map(FieldName::of).toList());
    }

    private static List<FieldEdits.Field> fields(List<FilterConfig.Header> headers) {
        return headers.stream()
                .map(header -> FieldEdits.Field.of(header.name(), header.value()))
                .toList();
    }
}
