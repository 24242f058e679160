package dev.gateway.tests.support;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.gateway.tests.peer.Peer;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Span.SpanKind;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** A receiver of OTLP over HTTP that keeps the spans and metrics it is sent, and what came with them. */
public final class OtlpReceiver implements AutoCloseable {
    private static final String SERVICE = "edge";

    private final HttpServer server;
    private final BlockingQueue<Span> spans = new LinkedBlockingQueue<>();
    private final BlockingQueue<ResourceMetrics> metrics = new LinkedBlockingQueue<>();
    private volatile Headers headers = new Headers();

    public OtlpReceiver() throws IOException {
        this(null);
    }

    /**
     * Starts one.
     *
     * @param tls its identity, null for cleartext
     */
    public OtlpReceiver(@Nullable SSLContext tls) throws IOException {
        this(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), tls);
    }

    private OtlpReceiver(InetSocketAddress address, @Nullable SSLContext tls) throws IOException {
        if (tls == null) {
            server = HttpServer.create(address, 0);
        } else {
            HttpsServer secure = HttpsServer.create(address, 0);
            secure.setHttpsConfigurator(new HttpsConfigurator(tls));
            server = secure;
        }
        server.createContext("/v1/traces", exchange -> {
            for (ResourceSpans resource :
                    ExportTraceServiceRequest.parseFrom(body(exchange)).getResourceSpansList()) {
                check(resource.getResource());
                for (ScopeSpans scope : resource.getScopeSpansList()) {
                    spans.addAll(scope.getSpansList());
                }
            }
            answer(exchange);
        });
        server.createContext("/v1/metrics", exchange -> {
            for (ResourceMetrics resource :
                    ExportMetricsServiceRequest.parseFrom(body(exchange)).getResourceMetricsList()) {
                check(resource.getResource());
                metrics.add(resource);
            }
            answer(exchange);
        });
        server.start();
    }

    /** Starts one in cleartext at an address of this machine. */
    public static OtlpReceiver startAt(String address, int port) throws IOException {
        return new OtlpReceiver(new InetSocketAddress(address, port), null);
    }

    /** Keeps the headers before what comes with them, for which the test waits. */
    private InputStream body(HttpExchange exchange) throws IOException {
        headers = exchange.getRequestHeaders();
        InputStream body = new ByteArrayInputStream(exchange.getRequestBody().readAllBytes());
        return "gzip".equals(exchange.getRequestHeaders().getFirst("content-encoding"))
                ? new GZIPInputStream(body)
                : body;
    }

    private static void answer(HttpExchange exchange) throws IOException {
        exchange.getResponseHeaders().add("content-type", "application/x-protobuf");
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
    }

    private static void check(Resource resource) {
        assertThat(resource.getAttributesList())
                .anyMatch(each -> each.getKey().equals("service.name")
                        && each.getValue().getStringValue().equals(SERVICE))
                .anyMatch(each -> each.getKey().equals("service.instance.id"));
    }

    public int port() {
        return server.getAddress().getPort();
    }

    /** Returns the configuration of who sends things here. */
    public String otlp() {
        return otlp("");
    }

    /** Returns the same with more YAML. */
    public String otlp(String more) {
        String scheme = server instanceof HttpsServer ? "https" : "http";
        return "otlp: {endpoint: \"" + scheme + "://localhost:" + port() + "\", serviceName: " + SERVICE + more + "}\n";
    }

    /** Returns the configuration of who sends spans here at once, of what a sampler takes. */
    public String spans(String sampler) {
        return "tracing: {mode: export, sampler: " + sampler + ", export: {scheduleDelay: 20ms}}\n" + otlp();
    }

    /** Waits for so many spans; that of the exchange comes last, for it ends last. */
    public List<Span> awaitSpans(int count) throws InterruptedException {
        List<Span> received = new ArrayList<>();
        while (received.size() < count) {
            Span next = spans.poll(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
            assertThat(next).as("a span after %s", received).isNotNull();
            received.add(next);
        }
        received.sort(Comparator.comparing((Span span) -> span.getKind() == SpanKind.SPAN_KIND_SERVER)
                .thenComparing(Span::getStartTimeUnixNano));
        return received;
    }

    /** Returns whether there are spans that nobody has waited for. */
    public boolean hasSpans() {
        return !spans.isEmpty();
    }

    /** Waits for the next metrics. */
    public ResourceMetrics awaitMetrics() throws InterruptedException {
        ResourceMetrics next = metrics.poll(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        assertThat(next).as("metrics").isNotNull();
        return next;
    }

    /** Forgets the metrics that nobody has waited for. */
    public void forgetMetrics() {
        metrics.clear();
    }

    /** Returns the metrics that nobody has waited for. */
    public List<ResourceMetrics> metrics() {
        return List.copyOf(metrics);
    }

    /** Returns a header of the last request, empty if it had none. */
    public String header(String name) {
        String value = headers.getFirst(name);
        return value == null ? "" : value;
    }

    public static String hex(ByteString id) {
        return HexFormat.of().formatHex(id.toByteArray());
    }

    /** Returns an attribute of a span as text, empty if it has none. */
    public static String attribute(Span span, String key) {
        for (KeyValue each : span.getAttributesList()) {
            if (each.getKey().equals(key)) {
                return each.getValue().hasStringValue()
                        ? each.getValue().getStringValue()
                        : Long.toString(each.getValue().getIntValue());
            }
        }
        return "";
    }

    /** Goes away; its port refuses connections from then on. */
    public void stop() {
        server.stop(0);
    }

    @Override
    public void close() {
        stop();
    }
}
