package dev.gateway.observe.metrics;

/** Sink of compression counts: takes how many bytes the rules have compressed. */
public interface CompressionCounts {
    /**
     * Takes the counts of one rule.
     *
     * @param input bytes that were compressed
     * @param output bytes that they became
     * @param skipped responses that were not compressed for want of memory
     */
    void compressed(String route, long input, long output, long skipped);
}
