package dev.gateway.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * One line for each exchange.
 *
 * @param file appended to; null for standard output
 */
public record AccessLogConfig(Position position, Format format, @Nullable Path file) {
    /** How lines look. */
    public enum Format {
        /** One JSON object a line. */
        JSON,
        /** Apache's combined format. */
        COMBINED,
        /** No lines. */
        OFF
    }
}
