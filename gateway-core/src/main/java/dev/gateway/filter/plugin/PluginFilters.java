package dev.gateway.filter.plugin;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.filter.PluginFilterConfig;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import java.util.List;

/** Filters of plugins: what becomes of their settings. The settings know their plugin, so no table has it. */
public final class PluginFilters {
    private PluginFilters() {}

    /**
     * Makes a filter.
     *
     * @throws IllegalArgumentException if no plugin that is loaded has its type
     */
    public static Filter create(FilterConfig config) throws StartException {
        if (config instanceof PluginFilterConfig filter && filter.declaration() instanceof PluginType plugin) {
            return plugin.filter(filter.settings());
        }
        throw new IllegalArgumentException("the filter type " + config.type() + " is of no plugin that is loaded");
    }

    /** Returns what refuses, after all filters of a rule, the requests that a plugin has promised to answer and has not. */
    public static List<Filter> nets(List<FilterConfig> filters) {
        return filters.stream()
                .filter(config -> config instanceof PluginFilterConfig && config.answer() != 0)
                .<Filter>map(config -> new Net(config.type()))
                .toList();
    }

    private record Net(String type) implements Filter {
        @Override
        public Verdict onRequest(RequestHead head, FilterContext context) {
            return new Verdict.Refuse(
                    Failure.of(Cause.FILTER_ERROR, type + " answers every request, but it let one pass"));
        }
    }
}
