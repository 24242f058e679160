package dev.gateway.filter.assembly;

import dev.gateway.filter.Filter;
import java.util.Comparator;
import java.util.List;

/**
 * A filter, and where it runs.
 *
 * @param order its place in the order of {@link BuiltInFilters}
 */
record Placed(int order, Filter filter) {
    /** Returns the filters in the order in which they run; of equal places, the first one first. */
    static List<Filter> inOrder(List<Placed> filters) {
        return filters.stream()
                .sorted(Comparator.comparingInt(Placed::order))
                .map(Placed::filter)
                .toList();
    }
}
