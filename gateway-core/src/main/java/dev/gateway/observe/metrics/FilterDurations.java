package dev.gateway.observe.metrics;

/** Sink of the times that filters took. */
public interface FilterDurations {
    /**
     * Takes the times of one type of filter in one phase.
     *
     * @param bounds upper bounds of the buckets, in seconds
     * @param buckets how many calls each bucket has; the last one is for what is above all bounds
     * @param seconds sum of all calls
     */
    void spent(String filter, String phase, double[] bounds, long[] buckets, double seconds);
}
