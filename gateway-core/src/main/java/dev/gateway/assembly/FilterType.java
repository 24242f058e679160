package dev.gateway.assembly;

import dev.gateway.config.FilterConfig;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterOrder;
import dev.gateway.process.StartException;

/**
 * Filter type at run time: what becomes of its settings.
 *
 * @param record its settings
 * @param place where its filters are in the order
 */
record FilterType<C extends FilterConfig>(Class<C> record, FilterOrder place, Factory<C> factory) {
    Filter make(FilterConfig config, FilterSite site) throws StartException {
        return factory.make(record.cast(config), site);
    }

    /** Makes the filter of settings. */
    interface Factory<C extends FilterConfig> {
        /**
         * Makes it.
         *
         * @throws StartException if it cannot be made, such as when a file is missing
         * @throws IllegalArgumentException if its settings make no sense; the position of the rule is reported
         */
        Filter make(C config, FilterSite site) throws StartException;
    }
}
