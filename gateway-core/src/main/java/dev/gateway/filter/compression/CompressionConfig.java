package dev.gateway.filter.compression;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.value.Position;
import dev.gateway.filter.coding.Algorithms;
import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.format.Sizes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which responses are compressed, and how.
 *
 * @param algorithms in the order of preference
 * @param algorithmsAt where the file names them; null if it does not, and those that are missing here are left out
 * @param minSize responses with a smaller Content-Length stay uncompressed
 * @param contentTypes with wildcards: {@code text/*}, {@code application/*+json}
 * @param level from 1, which is fast, to 9
 */
public record CompressionConfig(
        Position position,
        List<ContentCoding> algorithms,
        @Nullable Position algorithmsAt,
        long minSize,
        List<String> contentTypes,
        int level)
        implements FilterConfig {
    public CompressionConfig {
        algorithms = List.copyOf(algorithms);
        contentTypes = List.copyOf(contentTypes);
    }

    @Override
    public String type() {
        return CompressionFeature.NAME;
    }

    @Override
    public String summary() {
        return type() + ": " + Algorithms.words(algorithms) + " from " + Sizes.print(minSize);
    }

    @Override
    public boolean isRepeatable() {
        return false;
    }
}
