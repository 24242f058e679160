package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.Gateway;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Which upstreams and listeners have a series of a feature before anything is counted: those for which the configuration
 * turns it on.
 */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // what the start sets
class FeatureSeriesTest {
    private static final Pattern UPSTREAM = Pattern.compile("upstream=\"([^\"]+)\"");
    private static final Pattern LISTENER = Pattern.compile("listener=\"([^\"]+)\"");

    private static final String YAML =
            """
            listeners:
              - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP}
              - {name: raw, address: 127.0.0.1, port: 0, protocol: TCP}
              - {name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}
              - {name: docker, address: 127.0.0.1, port: 0, protocol: HTTP}
              - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
            routes:
              - parentRefs: [{name: web}, {name: secure}]
                rules:
                  - matches: [{path: {value: /checked}}]
                    backendRefs: [{name: checked}]
                  - {matches: [{path: {value: /sticky}}], backendRefs: [{name: sticky}]}
                  - {matches: [{path: {value: /aged}}], backendRefs: [{name: aged}]}
                  - {matches: [{path: {value: /secured}}], backendRefs: [{name: secured}]}
                  - {matches: [{path: {value: /h2c}}], backendRefs: [{name: h2c}]}
                  - {matches: [{path: {value: /hedged}}], backendRefs: [{name: hedged}], hedge: {after: 1s}}
                  - matches: [{path: {value: /asked}}]
                    filters: [{type: ExternalAuth, externalAuth: {backendRef: {name: asked}, path: /}}]
                    backendRefs: [{name: plain}]
                    retry: {attempts: 0, connectWait: 0s}
              - parentRefs: [{name: raw}]
                rules: [{backendRefs: [{name: tunneled}]}]
              - parentRefs: [{name: docker}]
                rules: [{backendRefs: [{name: plain}], upgrades: [websocket, tcp], retry: {attempts: 0, connectWait: 0s}}]
            connect: [{name: proxy, parentRefs: [{name: egress}], allow: ["*"]}]
            upstreams:
              - {name: plain, endpoints: [{host: 127.0.0.1, port: 9}], timeouts: {maxLifetime: 0s}}
              - {name: asked, endpoints: [{host: 127.0.0.1, port: 9}], timeouts: {maxLifetime: 0s}}
              - {name: tunneled, endpoints: [{host: 127.0.0.1, port: 9}], timeouts: {maxLifetime: 0s}}
              - name: checked
                endpoints: [{host: 127.0.0.1, port: 9}]
                timeouts: {maxLifetime: 0s}
                healthChecks: {active: {path: /, interval: 1h}}
              - {name: sticky, endpoints: [{host: 127.0.0.1, port: 9}], timeouts: {maxLifetime: 0s}, sessionPersistence: {keyFile: key}}
              - {name: aged, endpoints: [{host: 127.0.0.1, port: 9}], timeouts: {maxLifetime: 1h}}
              - {name: secured, endpoints: [{host: 127.0.0.1, port: 9}], timeouts: {maxLifetime: 0s}, tls: {verify: false}}
              - {name: h2c, endpoints: [{host: 127.0.0.1, port: 9}], timeouts: {maxLifetime: 0s}, protocol: h2c}
              - name: hedged
                endpoints: [{host: 127.0.0.1, port: 9}, {host: 127.0.0.2, port: 9}]
                timeouts: {maxLifetime: 0s}
            admin: {enabled: false}
            accessLog: {format: off}
            workers: 1
            """;

    private static List<String> samples;

    @BeforeAll
    static void scrape(@TempDir Path directory) throws Exception {
        Files.writeString(directory.resolve("key"), "0123456789abcdef0123456789abcdef");
        samples = samples(directory, YAML);
    }

    private static List<String> samples(Path directory, String yaml) throws Exception {
        Path file = Files.writeString(directory.resolve("gateway.yaml"), yaml);
        GatewayConfig config = ((LoadResult.Valid) ConfigLoader.load(file, Map.of())).config();
        try (Gateway gateway = Gateway.start(config)) {
            return gateway.metrics().scrape("").text().lines().toList();
        }
    }

    @AfterAll
    static void forget() {
        samples = List.of();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "gateway_upstream_health_checks_total|checked",
                "gateway_upstream_connection_closed_total.*cause=\"health_check\"|checked",
                "gateway_upstream_sessions_total|sticky",
                "gateway_upstream_connection_closed_total.*cause=\"max_lifetime\"|aged,proxy",
                "gateway_upstream_tls_duration_seconds_count|secured",
                "gateway_upstream_connections_total.*protocol=\"h2\"|h2c,proxy,secured",
                "gateway_upstream_connections_total.*protocol=\"http1\"|aged,asked,checked,hedged,plain,proxy,secured,sticky,tunneled",
                "gateway_upstream_connections_total.*protocol=\"tcp\"|proxy,tunneled",
                "gateway_upstream_hedges_total|hedged",
                "gateway_upstream_requests_total.*attempt=\"hedge\"|hedged",
                "gateway_upstream_connect_waits_total|aged,checked,h2c,hedged,proxy,secured,sticky,tunneled",
                "gateway_upstream_retries_total|aged,asked,checked,h2c,hedged,proxy,secured,sticky,tunneled",
                "gateway_upstream_requests_total.*attempt=\"first\"|aged,asked,checked,h2c,hedged,plain,proxy,secured,sticky,tunneled"
            })
    void theCountersOfAFeatureAreThoseOfItsUpstreams(String metric, String upstreams) {
        assertThat(found(metric, UPSTREAM)).isEqualTo(upstreams);
    }

    private static String found(String metric, Pattern label) {
        Pattern wanted = Pattern.compile(metric + ".*");
        Set<String> found = new TreeSet<>();
        for (String sample : samples) {
            Matcher value = label.matcher(sample);
            if (wanted.matcher(sample).matches() && value.find()) {
                found.add(value.group(1));
            }
        }
        return String.join(",", found);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gateway_tunnels_active",
                "gateway_tunnels_bytes_total",
                "gateway_tunnels_duration_seconds_count",
                "gateway_downstream_received_bytes_total.*kind=\"tunnel\"",
                "gateway_downstream_sent_bytes_total.*kind=\"tunnel\""
            })
    void theCountersOfTunnelsAreThoseOfListenersThatCanHaveSome(String metric) {
        assertThat(found(metric, LISTENER)).isEqualTo("docker,egress,raw");
        assertThat(found("gateway_downstream_received_bytes_total.*kind=\"websocket\"", LISTENER))
                .isEqualTo("docker,egress,raw,secure,web");
    }

    @Test
    void failedHandshakesAreThoseOfListenersWithTls() {
        assertThat(found("gateway_downstream_handshakes_failed_total", LISTENER))
                .isEqualTo("secure");
    }

    @Test
    void whatIsNotExportedHasNoCounters() {
        assertThat(samples)
                .noneMatch(each -> each.startsWith("gateway_tracing") || each.startsWith("gateway_metrics_exports"));
    }

    @Test
    void whatIsExportedHasItsCountersFromTheStart(@TempDir Path directory) throws Exception {
        assertThat(
                        samples(
                                directory,
                                """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {body: ok}}]}]}]
                        tracing: {mode: export, sampler: {}}
                        metrics: {export: {interval: 1h}}
                        otlp: {endpoint: "http://127.0.0.1:9"}
                        admin: {enabled: false}
                        accessLog: {format: off}
                        workers: 1
                        """))
                .contains(
                        "gateway_tracing_spans_dropped_total 0.0",
                        "gateway_metrics_exports_total{result=\"success\"} 0.0",
                        "gateway_metrics_exports_total{result=\"failure\"} 0.0");
    }

    /** A scrape of a plain site must not be mostly zeros of what nobody uses. */
    @Test
    void aPlainUpstreamHasFewSeries() {
        assertThat(samples.stream()
                        .filter(each -> each.contains("upstream=\"plain\""))
                        .count())
                .isLessThanOrEqualTo(95);
    }
}
