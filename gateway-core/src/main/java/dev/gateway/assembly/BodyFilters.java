package dev.gateway.assembly;

import dev.gateway.config.BodyConfig;
import dev.gateway.filter.Filter;
import dev.gateway.filter.body.CompressedBytes;
import dev.gateway.filter.body.Compression;
import dev.gateway.filter.body.ContentCoding;
import dev.gateway.observe.metrics.CompressionCounts;
import dev.gateway.process.StartException;

/** Creates filters that compress bodies, and reads their counts. */
public final class BodyFilters {
    private BodyFilters() {}

    /** Key of the counts of a rule. */
    private record Key(String rule) {}

    static Filter compression(BodyConfig.Compression config, FilterSite site) throws StartException {
        CompressedBytes count = site.states().get(new Key(site.rule()), CompressedBytes.class, CompressedBytes::new);
        return new Compression(
                new Compression.Settings(
                        config.algorithms().stream().map(BodyFilters::coding).toList(),
                        config.minSize(),
                        config.contentTypes(),
                        config.level()),
                count);
    }

    private static ContentCoding coding(BodyConfig.Algorithm algorithm) {
        return switch (algorithm) {
            case GZIP -> ContentCoding.GZIP;
            case DEFLATE -> ContentCoding.DEFLATE;
        };
    }

    /** Reads the compression counts of all rules. */
    public static void readCompressed(FilterStates states, CompressionCounts counts) {
        states.forEach(CompressedBytes.class, (key, count) -> {
            if (key instanceof Key of) {
                counts.compressed(of.rule, count.input(), count.output(), count.skipped());
            }
        });
    }
}
