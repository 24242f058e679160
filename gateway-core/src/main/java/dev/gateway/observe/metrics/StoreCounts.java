package dev.gateway.observe.metrics;

import dev.gateway.observe.Histogram;
import java.util.List;

/** Sink of what stores of limits have decided. */
public interface StoreCounts {
    /**
     * Takes the requests of a store with one result.
     *
     * @param result a word of a closed set
     */
    void decided(String store, String result, long count);

    /**
     * Takes how a store is.
     *
     * @param durations how long its answers took, for each event loop
     */
    void state(String store, boolean up, List<Histogram> durations);
}
