package dev.gateway.exchange.route.assembly;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.SharedServices;
import dev.gateway.filter.assembly.BuiltInFilters;
import dev.gateway.filter.plugin.PluginFilters;
import dev.gateway.filter.timing.FilterTimings;
import dev.gateway.message.FieldName;
import dev.gateway.upstream.Upstream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Filter factory: turns configured filters into those that requests pass, by the list of {@link BuiltInFilters}. */
public final class FilterAssembly {
    private final FilterStates.Prepared states;
    private final SharedServices services;
    private final Map<String, Upstream> upstreams;
    private final boolean timed;

    /** A filter, and its place in the order of {@link BuiltInFilters}. */
    private record Placed(int order, Filter filter) {}

    /**
     * Makes one.
     *
     * @param states what outlives the generation
     * @param services threads, among others
     * @param upstreams that filters may call, by their names
     * @param timed whether to measure how long filters take
     */
    public FilterAssembly(
            FilterStates.Prepared states, SharedServices services, Map<String, Upstream> upstreams, boolean timed) {
        this.timed = timed;
        this.states = states;
        this.services = services;
        this.upstreams = upstreams;
    }

    /**
     * Returns the filters of a rule in the order in which requests pass them.
     *
     * @param name what logs and metrics call the rule
     * @param requestIds names of the fields in which upstreams get the request ID
     * @param answer the status of all requests that none of them answers, 0 if they go to an upstream
     */
    public List<Filter> chain(String name, RuleConfig rule, Set<FieldName> requestIds, int answer)
            throws StartException {
        List<String> claims = rule.filters().stream()
                .flatMap(filter -> filter.usedClaims().stream())
                .toList();
        FilterSite site = new FilterSite(name, states, services, claims, upstreams, requestIds);
        List<Placed> filters = new ArrayList<>();
        for (FilterConfig config : rule.filters()) {
            Filter filter = create(config, site);
            filters.add(new Placed(
                    FilterTypes.order(config), timed ? FilterTimings.timed(filter, config.type(), states) : filter));
        }
        if (answer != 0) {
            filters.add(new Placed(BuiltInFilters.orderOfAnswers(), BuiltInFilters.answering(answer)));
        }
        filters.sort(Comparator.comparingInt(Placed::order)); // of equal places, the first one stays first
        List<Filter> chain = new ArrayList<>();
        filters.forEach(each -> chain.add(each.filter));
        chain.addAll(PluginFilters.nets(rule.filters()));
        return chain;
    }

    private static Filter create(FilterConfig config, FilterSite site) throws StartException {
        FilterFeature<?> feature = BuiltInFilters.of(config.getClass());
        return feature == null ? PluginFilters.create(config) : feature.createOf(config, site);
    }

    /** Returns the states that outlive a generation, of filters and of other parts that count. */
    public FilterStates.Prepared states() {
        return states;
    }
}
