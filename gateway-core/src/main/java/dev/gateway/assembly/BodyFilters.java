package dev.gateway.assembly;

import dev.gateway.config.BodyConfig;
import dev.gateway.config.Position;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.body.Codecs;
import dev.gateway.filter.body.CompressedBytes;
import dev.gateway.filter.body.Compression;
import dev.gateway.filter.body.ContentCoding;
import dev.gateway.filter.body.Decompression;
import dev.gateway.observe.metrics.Exposition;
import dev.gateway.process.StartException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates filters that compress and decompress bodies. */
final class BodyFilters {
    private static final Logger log = LoggerFactory.getLogger(BodyFilters.class);

    private BodyFilters() {}

    /** Key of the counts of a rule. */
    private record Key(String rule) implements FilterStates.CountedKey<CompressedBytes> {
        @Override
        public Class<CompressedBytes> kind() {
            return CompressedBytes.class;
        }

        @Override
        public void addTo(Exposition out, CompressedBytes counts) {
            out.counter(
                    "gateway_compression_input_bytes",
                    "Bytes of compressed responses before compression.",
                    counts.input(),
                    "route",
                    rule);
            out.counter(
                    "gateway_compression_output_bytes",
                    "Bytes of compressed responses after compression.",
                    counts.output(),
                    "route",
                    rule);
            out.counter(
                    "gateway_compression_skipped",
                    "Responses that were not compressed because memory was short.",
                    counts.skipped(),
                    "route",
                    rule);
        }
    }

    /** Key of whether the log tells that a coding is missing here. */
    private record Missing(ContentCoding coding) {}

    static Filter compression(BodyConfig.Compression config, FilterSite site) throws StartException {
        CompressedBytes count = site.states().get(new Key(site.rule()), CompressedBytes::new);
        return new Compression(
                new Compression.Settings(
                        codings(config.algorithms(), config.algorithmsAt(), site),
                        config.minSize(),
                        config.contentTypes(),
                        config.level()),
                count);
    }

    static Filter decompression(BodyConfig.Decompression config, FilterSite site) throws StartException {
        return new Decompression(
                Set.copyOf(codings(config.algorithms(), config.algorithmsAt(), site)),
                config.maxBytes(),
                config.maxRatio());
    }

    /**
     * Returns the codings that can be used here, in their order, and loads their libraries.
     *
     * @param namedAt where the configuration names them; null if it does not, and leaves out what is missing
     */
    private static List<ContentCoding> codings(
            List<BodyConfig.Algorithm> algorithms, @Nullable Position namedAt, FilterSite site) throws StartException {
        List<ContentCoding> codings = new ArrayList<>();
        for (BodyConfig.Algorithm algorithm : algorithms) {
            ContentCoding coding = coding(algorithm);
            String missing = Codecs.load(coding);
            if (missing == null) {
                codings.add(coding);
            } else if (namedAt != null) {
                throw new StartException(namedAt + ": algorithms: " + missing);
            } else if (!site.states()
                    .get(new Missing(coding), AtomicBoolean.class, AtomicBoolean::new)
                    .getAndSet(true)) {
                log.info("Filters Compression and Decompression do without a coding: {}", missing);
            }
        }
        return codings;
    }

    private static ContentCoding coding(BodyConfig.Algorithm algorithm) {
        return switch (algorithm) {
            case ZSTD -> ContentCoding.ZSTD;
            case BR -> ContentCoding.BR;
            case GZIP -> ContentCoding.GZIP;
            case DEFLATE -> ContentCoding.DEFLATE;
        };
    }
}
