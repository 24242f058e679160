package dev.gateway.observe.metrics;

import dev.gateway.observe.Histogram;
import java.util.List;

/** Metrics of stores of limits. */
record StoreSource(Exposition out) implements StoreCounts {
    @Override
    public void decided(String store, String result, long count) {
        out.counter(
                "gateway_ratelimit_store_decisions",
                "Requests that a store of limits let pass or refused, and those decided while it did not answer.",
                count,
                "store",
                store,
                "result",
                result);
    }

    @Override
    public void state(String store, boolean up, List<Histogram> durations) {
        out.gauge("gateway_ratelimit_store_up", "Whether a store of limits answers.", up ? 1 : 0, "store", store);
        for (Histogram each : durations) {
            out.histogram(
                    "gateway_ratelimit_store_duration_seconds",
                    "How long answers of a store of limits took.",
                    each,
                    "store",
                    store);
        }
    }
}
