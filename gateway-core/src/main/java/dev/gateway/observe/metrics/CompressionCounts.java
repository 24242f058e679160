package dev.gateway.observe.metrics;

/** Sink of compression counts. */
public interface CompressionCounts {
    /**
     * Takes the counts of one rule.
     *
     * @param input bytes before compression
     * @param output bytes after compression
     * @param skipped responses that were not compressed, because memory was short
     */
    void compressed(String route, long input, long output, long skipped);
}
