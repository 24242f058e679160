package dev.gateway.observe.metrics;

/** Takes what was counted of keys that are fetched. */
public interface KeySetCounts {
    /**
     * Takes the counts of one set of keys.
     *
     * @param succeeded fetches that brought keys
     * @param failed fetches that brought none
     * @param ageSeconds since the last fetch that brought keys, NaN if none has
     */
    void keySet(String url, long succeeded, long failed, double ageSeconds);
}
