package dev.gateway.config.yaml.schema.filter;

import dev.gateway.plugin.FilterPlace;

/** A place in the order in which requests pass filters: that of a type of the gateway itself, or one for plugins. */
public sealed interface FilterSlot permits FilterType, FilterSlot.Plugins {
    /** Where the filters of plugins run that name this place. */
    record Plugins(FilterPlace place) implements FilterSlot {}
}
