package dev.gateway.filter.timing;

import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterStates;
import dev.gateway.observe.metrics.Exposition;

/** Times of filters: one record for each type of filter, whichever rules have it and across reloads. */
public final class FilterTimings {
    private FilterTimings() {}

    private record Key(String type) implements FilterStates.CountedKey<FilterTimes> {
        @Override
        public Class<FilterTimes> kind() {
            return FilterTimes.class;
        }

        @Override
        public void addTo(Exposition out, FilterTimes times) {
            for (FilterTimes.Phase phase : FilterTimes.Phase.values()) {
                out.histogram(
                        "gateway_filter_duration_seconds",
                        "Time that filters took from their event loop, for each head or piece of a body.",
                        FilterTimes.bounds(),
                        times.buckets(phase),
                        times.seconds(phase),
                        "filter",
                        type,
                        "phase",
                        phase.label());
            }
        }
    }

    /** Returns a filter whose calls are measured. */
    public static Filter timed(Filter filter, String type, FilterStates.Prepared states) throws StartException {
        return new TimedFilter(filter, states.get(new Key(type), FilterTimes::new));
    }
}
