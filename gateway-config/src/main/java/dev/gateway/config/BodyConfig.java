package dev.gateway.config;

import dev.gateway.format.Sizes;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Settings of filters that compress and decompress bodies. */
public final class BodyConfig {
    private BodyConfig() {}

    /**
     * Which responses are compressed, and how.
     *
     * @param algorithms in the order of preference
     * @param algorithmsAt where the file names them; null if it does not, and those that are missing here are left out
     * @param minSize responses with a smaller Content-Length stay uncompressed
     * @param contentTypes with wildcards: {@code text/*}, {@code application/*+json}
     * @param level 1 to 9
     */
    public record Compression(
            Position position,
            List<Algorithm> algorithms,
            @Nullable Position algorithmsAt,
            long minSize,
            List<String> contentTypes,
            int level)
            implements FilterConfig {
        public Compression {
            algorithms = List.copyOf(algorithms);
            contentTypes = List.copyOf(contentTypes);
        }

        @Override
        public String summary() {
            return type() + ": " + words(algorithms) + " from " + Sizes.print(minSize);
        }

        @Override
        public boolean isRepeatable() {
            return false;
        }
    }

    /** Content codings. */
    public enum Algorithm {
        ZSTD,
        BR,
        GZIP,
        DEFLATE;

        /** Returns its name in the configuration and in header fields. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Which request bodies are decompressed, and their limits.
     *
     * @param algorithms in any order
     * @param algorithmsAt where the file names them; null if it does not, and those that are missing here are left out
     * @param maxBytes at least 1
     * @param maxRatio maximum ratio of decompressed to compressed size
     */
    public record Decompression(
            Position position, List<Algorithm> algorithms, @Nullable Position algorithmsAt, long maxBytes, int maxRatio)
            implements FilterConfig {
        public Decompression {
            algorithms = List.copyOf(algorithms);
        }

        @Override
        public String summary() {
            return type() + ": " + words(algorithms) + " to at most " + Sizes.print(maxBytes) + ", and " + maxRatio
                    + " times the size";
        }

        @Override
        public boolean isRepeatable() {
            return false;
        }
    }

    private static String words(List<Algorithm> algorithms) {
        return algorithms.stream().map(Algorithm::word).collect(Collectors.joining(", "));
    }
}
