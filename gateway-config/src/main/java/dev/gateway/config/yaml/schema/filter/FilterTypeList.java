package dev.gateway.config.yaml.schema.filter;

import dev.gateway.config.yaml.type.FeatureList;

/** List of the filter types, and of the places for those of plugins, in the order in which requests pass them. */
public interface FilterTypeList extends FeatureList<FilterSlot> {}
