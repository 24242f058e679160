package dev.gateway.observe.otlp;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporterBuilder;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * OTLP receiver (collector): who is sent spans and metrics, and who they say that they come from.
 *
 * @param endpoint a URL without {@code /v1/traces} and {@code /v1/metrics}
 * @param headers sent with each request, such as credentials
 * @param link how it is reached; the endpoint is for messages only
 * @param timeoutMillis of one request
 */
public record Receiver(String endpoint, Map<String, String> headers, Link link, long timeoutMillis, Service service) {

    /** The SDK's own, which tells each failure with its stack trace on standard error; kept, or it would be made again. */
    private static final java.util.logging.Logger SDK_LOG = java.util.logging.Logger.getLogger("io.opentelemetry");

    static {
        SDK_LOG.setLevel(java.util.logging.Level.OFF);
    }

    public Receiver {
        headers = Map.copyOf(headers);
    }

    /**
     * A process of a service.
     *
     * @param instance tells it from the others that send the same metrics
     */
    public record Service(String name, String version, String instance) {}

    /** What all spans and metrics have in common. */
    record Origin(Resource resource, InstrumentationScopeInfo scope) {}

    Origin origin() {
        return new Origin(
                Resource.create(Attributes.of(
                        AttributeKey.stringKey("service.name"),
                        service.name(),
                        AttributeKey.stringKey("service.version"),
                        service.version(),
                        AttributeKey.stringKey("service.instance.id"),
                        service.instance())),
                InstrumentationScopeInfo.builder("dev.gateway")
                        .setVersion(service.version())
                        .build());
    }

    /** Makes what sends spans, once; fails if headers are invalid. */
    SpanExporter spans() {
        OtlpHttpSpanExporterBuilder builder = OtlpHttpSpanExporter.builder()
                .setEndpoint(endpoint + "/v1/traces")
                .setComponentLoader(UpstreamSender.loader(link))
                .setTimeout(timeoutMillis, TimeUnit.MILLISECONDS);
        headers.forEach(builder::addHeader);
        return builder.build();
    }

    /** The same of metrics, which are sent once: the next time they are all sent again. */
    MetricExporter metrics() {
        OtlpHttpMetricExporterBuilder builder = OtlpHttpMetricExporter.builder()
                .setEndpoint(endpoint + "/v1/metrics")
                .setComponentLoader(UpstreamSender.loader(link))
                .setTimeout(timeoutMillis, TimeUnit.MILLISECONDS)
                .setCompression("gzip")
                .setRetryPolicy(null);
        headers.forEach(builder::addHeader);
        return builder.build();
    }
}
