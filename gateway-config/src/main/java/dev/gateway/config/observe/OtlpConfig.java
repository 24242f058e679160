package dev.gateway.config.observe;

import dev.gateway.config.value.Position;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * OTLP exporter settings: where spans and metrics go that are exported, by OTLP over HTTP.
 *
 * @param endpoint a URL without {@code /v1/traces} and {@code /v1/metrics}
 * @param headersFile lines of {@code name: value}, null for none
 * @param caFile who vouches for the receiver, null for the platform's
 * @param serviceName what spans and metrics say they come from
 * @param timeout of one request
 */
public record OtlpConfig(
        Position position,
        String endpoint,
        @Nullable Path headersFile,
        @Nullable Path caFile,
        String serviceName,
        Duration timeout) {}
