package dev.gateway.observe;

import org.jspecify.annotations.Nullable;

/** The part of the statistics that is about the last seconds: how many requests there were, and percentiles of their durations. */
final class RecentStatistics {
    private static final double[] PARTS = {0.5, 0.9, 0.99, 0.999};
    private static final String[] NAMES = {"p50", "p90", "p99", "p999"};

    private RecentStatistics() {}

    /**
     * Writes a member.
     *
     * @param buckets of {@link FineHistogram}; null if nothing is known, then every number is
     */
    static void write(JsonText json, int @Nullable [] buckets) {
        json.object("recent");
        if (buckets == null) {
            json.put("requests", Double.NaN);
        } else {
            json.put("requests", FineHistogram.count(buckets));
        }
        for (int i = 0; i < PARTS.length; i++) {
            json.put(NAMES[i], buckets == null ? Double.NaN : FineHistogram.quantile(PARTS[i], buckets));
        }
        json.endObject();
    }
}
