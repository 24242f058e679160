package dev.gateway.config.yaml.schema.filter;

import java.util.List;

/** List of the filter types that the gateway itself has. The engine of the configuration finds it by ServiceLoader. */
public interface FilterTypeList {
    /** Returns all types, and the places for those of plugins, in the order in which requests pass them. */
    List<FilterSlot> inOrder();
}
