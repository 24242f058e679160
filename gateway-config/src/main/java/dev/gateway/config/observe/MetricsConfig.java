package dev.gateway.config.observe;

import dev.gateway.config.value.Position;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Metrics settings: what is measured besides the usual, and what is done about metrics besides answering who asks the admin
 * listener for them.
 *
 * @param filters whether the time that filters take is measured
 * @param export null if nobody is sent any
 */
public record MetricsConfig(Position position, boolean filters, @Nullable Export export) {
    /**
     * How they are exported.
     *
     * @param interval between two exports
     */
    public record Export(Position position, Duration interval) {}
}
