package dev.gateway.assembly;

import dev.gateway.config.FilterConfig;
import dev.gateway.config.FilterDeclaration;
import dev.gateway.config.PluginFilterConfig;
import dev.gateway.config.RuleConfig;
import dev.gateway.config.UncheckedFilterConfig;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.FilterOrder;
import dev.gateway.filter.FilterOrder.Placed;
import dev.gateway.filter.Verdict;
import dev.gateway.message.RequestHead;
import dev.gateway.process.StartException;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import java.util.List;

/** Filters of plugins: what becomes of their settings. The settings know their plugin, so no table has it. */
final class PluginFilters {
    private PluginFilters() {}

    /** Returns the type of a filter. */
    static FilterType<PluginFilterConfig> type(PluginFilterConfig config) {
        return new FilterType<>(PluginFilterConfig.class, place(config.declaration()), (each, site) -> filter(each));
    }

    /** Returns the type of a filter whose plugin is not loaded: it stands where most do, and cannot run. */
    static FilterType<UncheckedFilterConfig> unchecked(UncheckedFilterConfig config) {
        return new FilterType<>(UncheckedFilterConfig.class, FilterOrder.PLUGIN_REQUEST, (each, site) -> {
            throw new IllegalArgumentException("the filter type " + config.type() + " is of no plugin that is loaded");
        });
    }

    private static FilterOrder place(FilterDeclaration declaration) {
        return switch (declaration.place()) {
            case ACCESS -> FilterOrder.PLUGIN_ACCESS;
            case AUTHENTICATION -> FilterOrder.PLUGIN_AUTHENTICATION;
            case REQUEST -> FilterOrder.PLUGIN_REQUEST;
            case UPSTREAM -> FilterOrder.PLUGIN_UPSTREAM;
        };
    }

    private static Filter filter(PluginFilterConfig config) throws StartException {
        if (config.declaration() instanceof PluginType plugin) {
            return plugin.filter(config.settings());
        }
        throw new IllegalArgumentException("the filter type " + config.type() + " is of no plugin");
    }

    /** Adds what refuses the requests that a plugin has promised to answer and has not. */
    static void addNet(RuleConfig rule, List<Placed> filters) {
        for (FilterConfig config : rule.filters()) {
            if (config instanceof PluginFilterConfig && config.answer() != 0) {
                filters.add(new Placed(FilterOrder.PLUGIN_UPSTREAM, new Net(config.type())));
            }
        }
    }

    private record Net(String type) implements Filter {
        @Override
        public Verdict onRequest(RequestHead head, FilterContext context) {
            return new Verdict.Refuse(
                    Failure.of(Cause.FILTER_ERROR, type + " answers every request, but it let one pass"));
        }
    }
}
