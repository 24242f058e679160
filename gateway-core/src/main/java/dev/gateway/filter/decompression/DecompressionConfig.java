package dev.gateway.filter.decompression;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.value.Position;
import dev.gateway.filter.coding.Algorithms;
import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.format.Sizes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which request bodies are decompressed, and their limits.
 *
 * @param algorithms in any order
 * @param algorithmsAt where the file names them; null if it does not, and those that are missing here are left out
 * @param maxBytes at least 1
 * @param maxRatio maximum ratio of decompressed to compressed size
 */
public record DecompressionConfig(
        Position position, List<ContentCoding> algorithms, @Nullable Position algorithmsAt, long maxBytes, int maxRatio)
        implements FilterConfig {
    public DecompressionConfig {
        algorithms = List.copyOf(algorithms);
    }

    @Override
    public String type() {
        return DecompressionFeature.NAME;
    }

    @Override
    public String summary() {
        return type() + ": " + Algorithms.words(algorithms) + " to at most " + Sizes.print(maxBytes) + ", and "
                + maxRatio + " times the size";
    }

    @Override
    public boolean isRepeatable() {
        return false;
    }
}
