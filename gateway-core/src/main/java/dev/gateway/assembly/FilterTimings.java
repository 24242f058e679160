package dev.gateway.assembly;

import dev.gateway.filter.Filter;
import dev.gateway.filter.timing.FilterTimes;
import dev.gateway.filter.timing.TimedFilter;
import dev.gateway.observe.metrics.FilterDurations;
import dev.gateway.process.StartException;

/** Times of filters: one record for each type of filter, whichever rules have it and across reloads. */
public final class FilterTimings {
    private FilterTimings() {}

    private record Key(String type) {}

    /** Returns a filter whose calls are measured. */
    static Filter timed(Filter filter, String type, FilterStates.Prepared states) throws StartException {
        return new TimedFilter(filter, states.get(new Key(type), FilterTimes.class, FilterTimes::new));
    }

    /** Reads the times of all types. */
    public static void read(FilterStates states, FilterDurations durations) {
        states.forEach(FilterTimes.class, (key, times) -> {
            if (key instanceof Key of) {
                for (FilterTimes.Phase phase : FilterTimes.Phase.values()) {
                    durations.spent(
                            of.type, phase.label(), FilterTimes.bounds(), times.buckets(phase), times.seconds(phase));
                }
            }
        });
    }
}
