package dev.gateway.otlp;

import dev.gateway.observe.Redaction;
import java.util.Map;

/**
 * Where spans go, and how.
 *
 * @param endpoint a URL without {@code /v1/traces}
 * @param headers sent with each request, such as credentials
 */
public record SpanExportSettings(
        String endpoint, Map<String, String> headers, Service service, Batches batches, Redaction redaction) {
    public SpanExportSettings {
        headers = Map.copyOf(headers);
    }

    /** What spans say they come from. */
    public record Service(String name, String version) {}

    /**
     * How spans are put together.
     *
     * @param timeoutMillis of one request
     * @param delayMillis how long spans wait for others
     * @param maxQueued spans that may wait; those that come then are dropped
     */
    public record Batches(long timeoutMillis, long delayMillis, int maxQueued, int maxSize) {}
}
