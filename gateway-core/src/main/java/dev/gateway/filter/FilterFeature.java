package dev.gateway.filter;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.files.StartException;

/**
 * Filter feature: all that the gateway knows of one type of filter. Each is in a package of its own, with its settings, its
 * checks, what it counts, and its tests; {@code BuiltInFilters} lists them.
 *
 * @param <C> the settings
 */
public interface FilterFeature<C extends FilterConfig> {
    /** Returns the name, keys, texts and checks of its settings. */
    FilterType<C, ?> type();

    /**
     * Makes the filter of settings.
     *
     * @throws StartException if it cannot be made, such as when a file is missing
     * @throws IllegalArgumentException if its settings make no sense; the position of the rule is reported
     */
    Filter create(C config, FilterSite site) throws StartException;

    /** Makes the filter of settings that are of this type. */
    default Filter createOf(FilterConfig config, FilterSite site) throws StartException {
        return create(type().record().cast(config), site);
    }
}
