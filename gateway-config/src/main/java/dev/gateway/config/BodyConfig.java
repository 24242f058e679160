package dev.gateway.config;

import dev.gateway.format.Sizes;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Settings of filters that limit, compress and decompress bodies. */
public final class BodyConfig {
    private BodyConfig() {}

    /**
     * Maximum size of request bodies.
     *
     * @param maxBytes at least 1
     */
    public record BodyLimit(Position position, long maxBytes) implements FilterConfig {
        @Override
        public String summary() {
            return type() + ": at most " + Sizes.print(maxBytes);
        }

        @Override
        public boolean guards() {
            return true;
        }

        @Override
        public boolean isRepeatable() {
            return false;
        }
    }

    /**
     * Which responses are compressed, and how.
     *
     * @param algorithms in the order of preference
     * @param minSize responses with a smaller Content-Length stay uncompressed
     * @param contentTypes with wildcards: {@code text/*}, {@code application/*+json}
     * @param level 1 to 9
     */
    public record Compression(
            Position position, List<Algorithm> algorithms, long minSize, List<String> contentTypes, int level)
            implements FilterConfig {
        public Compression {
            algorithms = List.copyOf(algorithms);
            contentTypes = List.copyOf(contentTypes);
        }

        @Override
        public String summary() {
            return type() + ": "
                    + algorithms.stream().map(Algorithm::word).collect(Collectors.joining(", ")) + " from "
                    + Sizes.print(minSize);
        }

        @Override
        public boolean isRepeatable() {
            return false;
        }
    }

    /** Content codings for responses. */
    public enum Algorithm {
        GZIP,
        DEFLATE;

        /** Returns its name in the configuration and in header fields. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Limits of decompressed request bodies.
     *
     * @param maxBytes at least 1
     * @param maxRatio maximum ratio of decompressed to compressed size
     */
    public record Decompression(Position position, long maxBytes, int maxRatio) implements FilterConfig {
        @Override
        public String summary() {
            return type() + ": to at most " + Sizes.print(maxBytes) + ", and " + maxRatio + " times the size";
        }

        @Override
        public boolean isRepeatable() {
            return false;
        }
    }
}
