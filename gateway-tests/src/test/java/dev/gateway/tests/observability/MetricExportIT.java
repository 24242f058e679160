package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.CertificateAuthority.Issued;
import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.OtlpReceiver;
import dev.gateway.tests.support.Rig;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.AggregationTemporality;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import io.opentelemetry.proto.metrics.v1.ScopeMetrics;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a receiver of OTLP is sent of metrics: what a scrape reads. */
@Tag("platform")
class MetricExportIT {
    private static final Pattern SAMPLE = Pattern.compile("(gateway_[a-z0-9_]+)(?:\\{(.*)})? (\\S+)");

    /** What differs between a scrape and an export a moment later. */
    private static final Pattern MOVING =
            Pattern.compile("gateway_(eventloop|direct_memory|overload_pressure|metrics_exports).*");

    private static final String APP = "upstream=\"app\"";

    @TempDir
    private Path directory;

    private static String config(int port, String more) {
        return """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                admin: {port: 0}
                routes: [{name: all, rules: [{backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                %s
                """
                .formatted(port, more);
    }

    private static void get(Rig rig) throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            stream.receiveBody();
        }
        rig.awaitIdle();
        rig.awaitNoConnection();
    }

    /** Event loops are asked for the connections to endpoints once a second; all other metrics are those of the moment. */
    private static void awaitEndpointConnections(Rig rig) throws Exception {
        for (String each : List.of("active", "idle")) {
            double now = rig.metric("gateway_upstream_connections_" + each, APP);
            rig.awaitMetric(now, "gateway_upstream_endpoint_connections_" + each, APP);
        }
    }

    // ---- both forms as the lines of a scrape

    private static Map<String, Double> scraped(Rig rig) throws Exception {
        Map<String, Double> samples = new TreeMap<>();
        rig.admin("/metrics").lines().forEach(line -> {
            Matcher sample = SAMPLE.matcher(line);
            if (sample.matches() && !MOVING.matcher(sample.group(1)).matches()) {
                Stream<String> labels = sample.group(2) == null
                        ? Stream.of()
                        : Stream.of(sample.group(2).split(","));
                put(samples, sample.group(1), labels, Double.parseDouble(sample.group(3)));
            }
        });
        return samples;
    }

    /** Leaves out the connections to the receiver, which each export uses. */
    private static void put(Map<String, Double> samples, String name, Stream<String> labels, double value) {
        List<String> sorted = labels.sorted().toList();
        if (sorted.stream().noneMatch(each -> each.startsWith("upstream=\"otlp:"))) {
            samples.put(name + sorted, value);
        }
    }

    private static Map<String, Double> exported(ResourceMetrics resource) {
        Map<String, Double> samples = new TreeMap<>();
        for (ScopeMetrics scope : resource.getScopeMetricsList()) {
            assertThat(scope.getScope().getName()).isEqualTo("dev.gateway");
            for (Metric metric : scope.getMetricsList()) {
                if (metric.getName().startsWith("gateway_")
                        && !MOVING.matcher(metric.getName()).matches()) {
                    add(metric, samples);
                }
            }
        }
        return samples;
    }

    private static void add(Metric metric, Map<String, Double> samples) {
        String name = metric.getName();
        assertThat(metric.getDescription()).as(name).isNotEmpty();
        assertThat(metric.getUnit())
                .as(name)
                .isEqualTo(name.endsWith("_seconds") ? "s" : name.endsWith("_bytes") ? "By" : "");
        switch (metric.getDataCase()) {
            case GAUGE -> metric.getGauge().getDataPointsList().forEach(each -> number(name, each, samples));
            case SUM -> {
                assertThat(metric.getSum().getIsMonotonic()).isTrue();
                assertThat(metric.getSum().getAggregationTemporality())
                        .isEqualTo(AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE);
                metric.getSum().getDataPointsList().forEach(each -> number(name + "_total", each, samples));
            }
            case HISTOGRAM -> {
                assertThat(metric.getHistogram().getAggregationTemporality())
                        .isEqualTo(AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE);
                metric.getHistogram().getDataPointsList().forEach(each -> histogram(name, each, samples));
            }
            default -> throw new AssertionError(metric);
        }
    }

    private static void number(String name, NumberDataPoint point, Map<String, Double> samples) {
        assertThat(point.getStartTimeUnixNano()).isPositive().isLessThan(point.getTimeUnixNano());
        put(samples, name, labels(point.getAttributesList()), point.getAsDouble());
    }

    private static void histogram(String name, HistogramDataPoint point, Map<String, Double> samples) {
        long sum = 0;
        for (int i = 0; i < point.getBucketCountsCount(); i++) {
            sum += point.getBucketCounts(i);
            String bound = i < point.getExplicitBoundsCount() ? Double.toString(point.getExplicitBounds(i)) : "+Inf";
            put(
                    samples,
                    name + "_bucket",
                    Stream.concat(labels(point.getAttributesList()), Stream.of("le=\"" + bound + "\"")),
                    (double) sum);
        }
        put(samples, name + "_count", labels(point.getAttributesList()), (double) point.getCount());
        put(samples, name + "_sum", labels(point.getAttributesList()), point.getSum());
    }

    private static Stream<String> labels(List<KeyValue> attributes) {
        return attributes.stream()
                .map(each -> each.getKey() + "=\"" + each.getValue().getStringValue() + "\"");
    }

    private static double requests(ResourceMetrics resource) {
        return exported(resource).entrySet().stream()
                .filter(each -> each.getKey().startsWith("gateway_downstream_requests_total"))
                .mapToDouble(Map.Entry::getValue)
                .sum();
    }

    // ---- the tests

    @Test
    void anExportSaysWhatAScrapeSays() throws Exception {
        try (OtlpReceiver receiver = new OtlpReceiver();
                Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.start(
                        config(origin.port(), "metrics: {export: {interval: 1s}}\n" + receiver.spans("{ratio: 1}")))) {
            for (int i = 0; i < 3; i++) {
                get(rig);
            }
            receiver.awaitSpans(6);
            awaitEndpointConnections(rig);
            Map<String, Double> scraped = scraped(rig);
            receiver.forgetMetrics();
            receiver.awaitMetrics(); // which may have been read before the scrape
            ResourceMetrics metrics = receiver.awaitMetrics();
            assertThat(exported(metrics)).isEqualTo(scraped);
            assertThat(scraped.keySet())
                    .anyMatch(each -> each.startsWith("gateway_downstream_request_duration_seconds_bucket"))
                    .anyMatch(each -> each.startsWith("gateway_build_info"));
            assertThat(metrics.getScopeMetrics(0).getMetricsList())
                    .anyMatch(each -> each.getName().equals("jvm_memory_used_bytes"))
                    .filteredOn(each -> each.getName().equals("gateway_downstream_request_duration_seconds"))
                    .allMatch(each -> each.getHistogram().getDataPoints(0).getExemplarsCount() > 0);
        }
    }

    @Test
    void theLastRequestIsExportedWhenTheGatewayStops() throws Exception {
        try (OtlpReceiver receiver = new OtlpReceiver();
                Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.start(config(origin.port(), "metrics: {export: {interval: 1h}}\n" + receiver.otlp()))) {
            get(rig);
            rig.stop();
            assertThat(receiver.metrics()).hasSize(1);
            assertThat(requests(receiver.awaitMetrics())).isEqualTo(1);
        }
    }

    @Test
    void aReloadBeginsMovesAndEndsTheExport() throws Exception {
        try (OtlpReceiver one = new OtlpReceiver();
                OtlpReceiver other = new OtlpReceiver();
                Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.start(config(origin.port(), ""))) {
            String export = "metrics: {export: {interval: 1h}}\n";
            rig.reload(config(origin.port(), export + one.otlp()));
            get(rig);
            rig.reload(config(origin.port(), export + one.otlp() + "drain: {timeout: 9s}\n")); // says the same of it
            assertThat(one.metrics()).isEmpty();
            rig.reload(config(origin.port(), export + other.otlp()));
            assertThat(requests(one.awaitMetrics())).isEqualTo(1);
            get(rig);
            rig.reload(config(origin.port(), ""));
            assertThat(requests(other.awaitMetrics())).isEqualTo(2);
            get(rig);
            rig.stop();
            assertThat(one.metrics()).isEmpty();
            assertThat(other.metrics()).isEmpty();
        }
    }

    @Test
    void aReloadDoesNotWaitForAReceiverThatHangs() throws Exception {
        CountDownLatch reloaded = new CountDownLatch(1);
        HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", exchange -> {
            try {
                reloaded.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        receiver.start();
        int port = receiver.getAddress().getPort();
        try (Rig rig = Rig.start(
                config(1, "metrics: {export: {interval: 1h}}\notlp: {endpoint: \"http://127.0.0.1:" + port + "\"}"))) {
            rig.reload(config(1, "")); // sends them a last time
            reloaded.countDown();
            rig.awaitMetric(1, "gateway_metrics_exports_total", "result=\"success\"");
        } finally {
            reloaded.countDown(); // whatever failed, or the receiver would not stop
            receiver.stop(0);
        }
    }

    @Test
    void exportsThatNobodyTakesAreCounted() throws Exception {
        int closed = ClosedPort.number();
        try (Rig rig = Rig.start(config(
                closed, "metrics: {export: {interval: 1h}}\notlp: {endpoint: \"http://127.0.0.1:" + closed + "\"}"))) {
            rig.reload(config(closed, "")); // sends them a last time
            rig.awaitMetric(1, "gateway_metrics_exports_total", "result=\"failure\"");
            assertThat(rig.metric("gateway_metrics_exports_total", "result=\"success\""))
                    .isEqualTo(0);
        }
    }

    @Test
    void theReceiversCertificateIsVerifiedAndItsCredentialsAreReadAgain() throws Exception {
        CertificateAuthority authority = new CertificateAuthority("ca", directory);
        Issued identity = authority.issue("localhost");
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(identity.bundle().toKeyManagerFactory().getKeyManagers(), null, null);
        Path headers = Files.writeString(directory.resolve("headers"), "Authorization: Bearer one\n");
        String export = "metrics: {export: {interval: 1s}}\n";
        String files = ", headersFile: \"" + headers + "\"";
        try (OtlpReceiver receiver = new OtlpReceiver(tls);
                Rig rig = Rig.start(
                        config(1, export + receiver.otlp(files + ", caFile: \"" + authority.file() + "\"")))) {
            receiver.awaitMetrics();
            assertThat(receiver.header("authorization")).isEqualTo("Bearer one");
            Files.writeString(headers, "Authorization: Bearer another\n");
            while (!receiver.header("authorization").equals("Bearer another")) {
                receiver.awaitMetrics();
            }
            Files.writeString(headers, "not a header at all\n");
            while (!rig.admin("/ready").contains(headers + ":1:1: expected 'name: value'")) {
                receiver.awaitMetrics();
            }
            receiver.awaitMetrics();
            assertThat(receiver.header("authorization")).isEqualTo("Bearer another");

            Files.writeString(rig.file(), config(1, export + receiver.otlp(files)));
            HttpResponse<String> answer = rig.post("/reload");
            assertThat(answer.statusCode()).isEqualTo(422);
            assertThat(answer.body()).containsPattern("gateway.yaml:6:\\d+: headersFile: .*headers:1:1: ");
            assertThat(rig.metric("gateway_config_generation")).isEqualTo(1);
            Files.delete(headers);
            double failed = rig.metric("gateway_metrics_exports_total", "result=\"failure\"");
            String rarely = "metrics: {export: {interval: 1h}}\n";
            rig.reload(config(1, rarely + receiver.otlp())); // whom the platform does not know
            rig.reload(config(1, "")); // sends them a last time
            rig.awaitMetric(failed + 1, "gateway_metrics_exports_total", "result=\"failure\"");
        }
    }
}
