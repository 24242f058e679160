package dev.gateway.exchange.route.assembly;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.route.HedgeConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.route.AnswerTimes;
import dev.gateway.exchange.route.HedgeDelay;
import dev.gateway.exchange.route.Route;
import dev.gateway.exchange.route.Route.Hedging;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.route.RouterBuilder;
import dev.gateway.exchange.route.WeightedTarget;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterStates;
import dev.gateway.format.Durations;
import dev.gateway.message.FieldName;
import dev.gateway.message.Method;
import dev.gateway.message.path.PathForm;
import dev.gateway.observe.LogPolicy;
import dev.gateway.observe.accesslog.LogAssembly;
import dev.gateway.stream.ViaSignature;
import dev.gateway.upstream.Upstream;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Router factory: turns configured routes into routers, one for each listener. */
public final class RouteAssembly {
    private static final int NO_TARGET_STATUS = 500; // what the Gateway API wants of a rule whose weights are all 0

    private RouteAssembly() {}

    /** The key of the answer times of a rule. */
    private record Key(String rule) {}

    /**
     * Compiles the routes of each listener, in the order of the listeners.
     *
     * @param signatures how requests that take a route are signed, by its name
     */
    public static List<Router> routers(
            GatewayConfig config,
            Map<String, Upstream> upstreams,
            Function<String, ViaSignature> signatures,
            FilterAssembly filters)
            throws StartException {
        List<RouterBuilder> builders = new ArrayList<>();
        config.listeners().forEach(listener -> builders.add(new RouterBuilder()));
        for (RouteConfig route : config.routes()) {
            List<String> hostnames =
                    route.hostnames().stream().map(RouteConfig.Hostname::value).toList();
            Set<FieldName> requestIds = config.listeners().stream()
                    .filter(listener -> listener.isHttp() && route.appliesTo(listener))
                    .map(listener -> FieldName.of(listener.http().requestId().header()))
                    .collect(Collectors.toUnmodifiableSet());
            for (int r = 0; r < route.rules().size(); r++) {
                RuleConfig rule = route.rules().get(r);
                String name = route.ruleName(r);
                try {
                    // One object for all listeners, so that weights are kept whichever a request came by.
                    Route runtime = route(
                            name,
                            rule,
                            requestIds,
                            upstreams,
                            filters,
                            hedging(rule.forwarding().hedge(), name, filters.states()),
                            signatures.apply(name),
                            LogAssembly.policy(config.accessLog(), rule.accessLog()));
                    for (int l = 0; l < builders.size(); l++) {
                        if (route.appliesTo(config.listeners().get(l))) {
                            builders.get(l).add(hostnames, rule.matches(), runtime);
                        }
                    }
                } catch (IllegalArgumentException e) {
                    throw StartException.at(rule.position(), e);
                }
            }
        }
        return builders.stream().map(RouterBuilder::build).toList();
    }

    private static Route route(
            String name,
            RuleConfig rule,
            Set<FieldName> requestIds,
            Map<String, Upstream> upstreams,
            FilterAssembly filters,
            @Nullable Hedging hedging,
            ViaSignature signature,
            @Nullable LogPolicy logPolicy)
            throws StartException {
        RuleConfig.Forwarding forwarding = rule.forwarding();
        List<WeightedTarget.Weighted> weighted = new ArrayList<>();
        for (RuleConfig.BackendRef ref : forwarding.backendRefs()) {
            Upstream upstream = upstreams.get(ref.name());
            if (upstream == null) {
                throw new IllegalArgumentException("no upstream " + ref.name());
            }
            weighted.add(new WeightedTarget.Weighted(upstream, ref.weight()));
        }
        boolean none = weighted.stream().allMatch(each -> each.weight() == 0);
        Route.Target target = none ? null : WeightedTarget.of(weighted);
        boolean leadsNowhere = target == null && !forwarding.backendRefs().isEmpty();
        return new Route(
                name,
                filters.chain(name, rule, requestIds, leadsNowhere ? NO_TARGET_STATUS : 0),
                new Route.Forwarding(
                        target, new Route.Retry(forwarding.retry()), hedging, forwarding.preserveHost(), path(rule)),
                timeouts(rule),
                upgrades(rule.upgrades()),
                signature,
                logPolicy);
    }

    /** Returns the limits of time of a rule. */
    public static Route.Timeouts timeouts(RuleConfig rule) {
        RuleConfig.Timeouts timeouts = rule.timeouts();
        return new Route.Timeouts(
                Durations.millis(timeouts.request()),
                Durations.millis(timeouts.backendRequest()),
                Durations.millis(timeouts.streamIdle()),
                tunnel(rule));
    }

    /** Returns the form in which a rule forwards paths. */
    public static PathForm path(RuleConfig rule) {
        RuleConfig.Forwarding forwarding = rule.forwarding();
        PathForm wanted = !forwarding.normalizePath()
                ? PathForm.AS_WRITTEN
                : forwarding.mergeSlashes() ? PathForm.NORMAL : PathForm.SLASHES_KEPT;
        return rule.filters().stream().anyMatch(FilterConfig::decidesByPath) ? wanted.whereFiltersDecide() : wanted;
    }

    private static TunnelTimeouts tunnel(RuleConfig rule) {
        TunnelTimeouts own = rule.timeouts().tunnel();
        return own != null ? own : rule.upgrades().webSocket().timeouts();
    }

    private static Route.Upgrades upgrades(RuleConfig.Upgrades upgrades) {
        return new Route.Upgrades(
                lower(upgrades.tokens()), lower(upgrades.webSocket().allowedOrigins()));
    }

    private static Set<AsciiString> lower(List<String> words) {
        return words.stream().map(word -> new AsciiString(word).toLowerCase()).collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Returns the policy of a rule, null if the rule does not hedge.
     *
     * @param rule its name in logs and metrics; answer times of a rule of the same name outlive a reload
     */
    private static @Nullable Hedging hedging(@Nullable HedgeConfig config, String rule, FilterStates.Prepared states)
            throws StartException {
        return config == null
                ? null
                : new Hedging(
                        delay(config, rule, states),
                        config.budget(),
                        config.methods().stream().map(Method::of).collect(Collectors.toUnmodifiableSet()));
    }

    private static HedgeDelay delay(HedgeConfig config, String rule, FilterStates.Prepared states)
            throws StartException {
        HedgeConfig.After after = config.after();
        return after.isPercentile()
                ? HedgeDelay.percentile(
                        after.perMille(),
                        Durations.millis(config.atLeast()),
                        states.get(new Key(rule), AnswerTimes.class, AnswerTimes::new))
                : HedgeDelay.fixed(Durations.millis(after.fixed()));
    }
}
