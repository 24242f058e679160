package dev.gateway.config;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Metrics export settings: what is done about metrics besides answering who asks the admin listener for them.
 *
 * @param export null if nobody is sent any
 */
public record MetricsConfig(Position position, @Nullable Export export) {
    /**
     * How they are exported.
     *
     * @param interval between two exports
     */
    public record Export(Position position, Duration interval) {}
}
