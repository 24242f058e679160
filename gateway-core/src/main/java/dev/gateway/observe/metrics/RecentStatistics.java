package dev.gateway.observe.metrics;

import dev.gateway.format.JsonText;
import dev.gateway.observe.counts.FineHistogram;
import org.jspecify.annotations.Nullable;

/**
 * How many requests there were in the last seconds, and percentiles of their durations in seconds. What is not known is NaN.
 */
record RecentStatistics(double requests, double p50, double p90, double p99, double p999) {
    private static final RecentStatistics UNKNOWN =
            new RecentStatistics(Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN);

    /**
     * Reads them off buckets.
     *
     * @param buckets of {@link FineHistogram}; null if nothing is known
     */
    static RecentStatistics of(int @Nullable [] buckets) {
        return buckets == null
                ? UNKNOWN
                : new RecentStatistics(
                        FineHistogram.count(buckets),
                        FineHistogram.quantile(0.5, buckets),
                        FineHistogram.quantile(0.9, buckets),
                        FineHistogram.quantile(0.99, buckets),
                        FineHistogram.quantile(0.999, buckets));
    }

    /** Writes a member of that name. */
    void write(JsonText json, String name) {
        json.object(name);
        if (Double.isNaN(requests)) {
            json.put("requests", Double.NaN);
        } else {
            json.put("requests", (long) requests);
        }
        json.put("p50", p50).put("p90", p90).put("p99", p99).put("p999", p999).endObject();
    }
}
