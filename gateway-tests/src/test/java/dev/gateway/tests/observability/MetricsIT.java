package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.WebSocket;
import dev.gateway.tests.support.Documents;
import dev.gateway.tests.support.Exposed;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** What a gateway exposes to Prometheus, of which each kind of traffic has been seen: all that its reference lists. */
class MetricsIT {
    private static final Path DASHBOARD = Path.of("../deploy/grafana/gateway.json");
    private static final Path RULES = Path.of("../deploy/prometheus/gateway.rules.yaml");
    private static final Pattern SELECTOR =
            Pattern.compile("\\b((?:gateway|jvm|process)[_:][a-z0-9_:]+)(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("([a-z_]+)(?:=~|!~|!=|=)\"");
    private static final Pattern METRIC =
            Pattern.compile("\\| `gateway_\\w+` \\| (counter|gauge|histogram|summary) \\|");
    private static final Pattern BY = Pattern.compile("by \\(([a-z_, ]+)\\)");

    /** What has a series for each route, method, code, cause or kind that has occurred, as there would be too many. */
    private static final Set<String> MADE_BY_TRAFFIC = Set.of(
            "gateway_connect_denied_total",
            "gateway_downstream_request_duration_seconds",
            "gateway_downstream_requests_total",
            "gateway_protocol_violations_total",
            "gateway_tunnels_total",
            "gateway_upstream_protocol_violations_total",
            "gateway_upstream_requests_duration_seconds",
            "gateway_websockets_active",
            "gateway_websockets_total");

    /** What has series only where a feature is on: at an upstream, at a listener, or for exports. */
    private static final Set<String> OF_FEATURES = Set.of(
            "gateway_metrics_exports_total",
            "gateway_tracing_spans_dropped_total",
            "gateway_tunnels_active",
            "gateway_tunnels_bytes_total",
            "gateway_tunnels_duration_seconds",
            "gateway_upstream_health_checks_total",
            "gateway_upstream_hedges_total",
            "gateway_upstream_sessions_total",
            "gateway_upstream_tls_duration_seconds");

    /** The public key of RFC 8037, appendix A.2. */
    private static final String KEYS =
            """
            {"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}
            """;

    @TempDir
    private static Path directory;

    private static Origin origin;
    private static ServerSocket broken;
    private static Rig rig;

    @BeforeAll
    static void start() throws Exception {
        origin = Origin.start()
                .on("/echo", WebSocket::echo)
                .on("/keys", Behaviors.text(KEYS))
                .otherwise(Behaviors.text("hello"));
        CertificateAuthority.Issued shown = new CertificateAuthority("ca", directory).issue("gateway.test");
        Path key = Files.writeString(directory.resolve("key"), "0123456789abcdef0123456789abcdef");
        int closed = ClosedPort.number();
        broken = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        Thread nonsense = new Thread(MetricsIT::answerNonsense, "broken upstream");
        nonsense.setDaemon(true);
        nonsense.start();
        rig = Rig.start(
                """
                listeners:
                  - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                  - {name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}
                routes:
                  - name: all
                    parentRefs: [{name: web}, {name: secure}]
                    rules:
                      - {matches: [{path: {type: Exact, value: /dead}}], backendRefs: [{name: dead}]}
                      - {matches: [{path: {type: Exact, value: /broken}}], backendRefs: [{name: broken}]}
                      - matches: [{path: {type: PathPrefix, value: /random}}]
                        filters:
                          - {type: RateLimit, rateLimit: {limits: [{requests: 1000000, interval: 1s, key: [{header: Host}], store: gone}]}}
                          - {type: Compression, compression: {}}
                          - {type: RequestMirror, requestMirror: {backendRef: {name: dead}}}
                        backendRefs: [{name: app}]
                      - {matches: [{path: {type: Exact, value: /echo}}], backendRefs: [{name: app}]}
                      - {matches: [{path: {type: Exact, value: /zoned}}], backendRefs: [{name: zoned}], hedge: {after: 1s}}
                      - matches: [{path: {type: Exact, value: /asked}}]
                        filters:
                          - {type: ExternalAuth, externalAuth: {backendRef: {name: app}, path: /echo}}
                          - {type: JWT, jwt: {providers: [{issuer: me, jwksUrl: "http://127.0.0.1:%1$d/keys"}]}}
                        backendRefs: [{name: app}]
                upstreams:
                  - {name: app, endpoints: [{host: 127.0.0.1, port: %1$d}]}
                  - {name: dead, endpoints: [{host: localhost, port: %2$d}]}
                  - {name: broken, endpoints: [{host: 127.0.0.1, port: %5$d}]}
                  - name: proven
                    endpoints: [{host: 127.0.0.1, port: %2$d}]
                    tls: {certFile: "%3$s", keyFile: "%4$s"}
                    healthChecks: {active: {type: TCP, interval: 1h}}
                    sessionPersistence: {keyFile: "%6$s"}
                  - name: zoned
                    endpoints: [{host: 127.0.0.1, port: %2$d, zone: here}, {host: 127.0.0.2, port: %2$d, zone: there}]
                localZone: here
                stores: [{name: gone, redis: "redis://127.0.0.1:%2$d"}]
                connect:
                  - parentRefs: [{name: egress}]
                    allowedPorts: [%1$d]
                    allow: ["*"]
                    denyPrivate: false
                admin: {address: 127.0.0.1, port: 0}
                metrics: {filters: true, export: {interval: 1h}}
                tracing: {mode: export, sampler: {ratio: 0}}
                otlp: {endpoint: "http://127.0.0.1:%2$d"}
                accessLog: {format: json, path: access.log}
                """
                        .formatted(
                                origin.port(), closed, shown.certFile(), shown.keyFile(), broken.getLocalPort(), key));
        rig.awaitMetric(1, "gateway_jwks_fetches_total", "result=\"success\"");
        try (Http1Peer client = Http1Peer.connect(rig.port("web"))) {
            assertThat(get(client, "/random")).isEqualTo(200);
            assertThat(get(client, "/dead")).isEqualTo(502);
            assertThat(get(client, "/broken")).isEqualTo(502);
            assertThat(client.raw("GET / HTTP/1.1\r\nHost: a b\r\n\r\n").readToEnd())
                    .startsWith("HTTP/1.1 400 ");
        }
        try (Http1Peer client = Http1Peer.connect(rig.port("web"))) {
            WebSocket socket = new WebSocket(Handshake.open(client, "/echo"), true);
            socket.text("hello");
            assertThat(socket.receive().text()).isEqualTo("hello");
            socket.close(1000);
            socket.receive();
            socket.end();
        }
        try (Http1Peer client = Http1Peer.connect(rig.port("egress"))) {
            client.raw("CONNECT 127.0.0.1:" + origin.port() + " HTTP/1.1\r\nHost: a\r\n\r\n");
            assertThat(client.response("CONNECT").receiveFinal().status()).isEqualTo(200);
        }
        try (Http1Peer client = Http1Peer.connect(rig.port("egress"))) {
            client.raw("CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: a\r\n\r\n");
            assertThat(client.response("CONNECT").receiveFinal().status()).isEqualTo(403);
        }
        rig.awaitAccessLog(9); // tunnels have two
    }

    /** Serves one connection of an upstream that speaks no HTTP. */
    private static void answerNonsense() {
        try (Socket socket = broken.accept()) {
            byte[] request = new byte[4096];
            int read = socket.getInputStream().read(request);
            socket.getOutputStream().write("nonsense\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            while (read >= 0) {
                read = socket.getInputStream().read(request);
            }
        } catch (IOException e) {
            // the gateway has closed the connection, or the test is over
        }
    }

    @AfterAll
    static void stop() throws Exception {
        broken.close();
        rig.close();
        origin.close();
    }

    private static int get(Peer client, String path) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }

    private static Exposed scrape() throws Exception {
        return Exposed.parse(rig.admin("/metrics"));
    }

    /** A metric as the reference or a scrape describes it. */
    private record Described(String type, Set<String> labels) {}

    /** Returns the rows of the documents that tell a metric's type, as the reference of metrics does. */
    private static List<String> documentedMetrics() throws IOException {
        List<String> rows = new ArrayList<>();
        for (Path document : Documents.forUsers()) {
            Files.readAllLines(document).stream()
                    .filter(line -> METRIC.matcher(line).lookingAt())
                    .forEach(rows::add);
        }
        return rows;
    }

    private static Map<String, Described> reference() throws IOException {
        Map<String, Described> metrics = new TreeMap<>();
        for (String line : documentedMetrics()) {
            String[] cells = line.split("\\|");
            Set<String> labels = Stream.of(cells[3].replace("`", "").split(","))
                    .map(String::strip)
                    .filter(label -> !label.isEmpty())
                    .collect(Collectors.toCollection(TreeSet::new));
            metrics.put(cells[1].strip().replace("`", ""), new Described(cells[2].strip(), labels));
        }
        return metrics;
    }

    @Test
    void theReferenceListsEveryMetricWithItsLabelsAndNoOther() throws Exception {
        Exposed exposed = scrape();
        Map<String, Described> found = new TreeMap<>();
        exposed.types().forEach((name, type) -> {
            if (name.startsWith("gateway_")) {
                found.put(name, new Described(type, exposed.labels().getOrDefault(name, Set.of())));
            }
        });
        assertThat(found).isEqualTo(reference());
        assertThat(exposed.types())
                .as("what dashboards for the JVM want")
                .containsKeys(
                        "jvm_memory_used_bytes",
                        "jvm_threads_live_threads",
                        "jvm_classes_loaded_classes",
                        "jvm_buffer_memory_used_bytes",
                        "process_cpu_usage",
                        "process_uptime_seconds",
                        "process_files_open_files",
                        "system_cpu_usage");
        assertThat(exposed.labels().get("jvm_memory_used_bytes")).contains("application", "area", "id");
    }

    /** The first sample of a series shows no increase, so an alert would miss the first failure of its kind. */
    @Test
    void countersAreThereBeforeAnythingIsCounted() throws Exception {
        try (Origin unused = Origin.start();
                Rig fresh = Rig.to("localhost", unused.port()) // a name is a source of endpoints
                        .top("stores: [{name: gone, redis: \"redis://127.0.0.1:" + ClosedPort.number()
                                + "\"}]\nmetrics: {filters: true}")
                        .rule(
                                "filters: [{type: RateLimit, rateLimit: {limits: [{requests: 1, interval: 1s, store: gone}]}},"
                                        + " {type: ExternalAuth, externalAuth: {backendRef: {name: app}, path: /}},"
                                        + " {type: JWT, jwt: {providers: [{issuer: me, jwksUrl: \"http://127.0.0.1:"
                                        + unused.port()
                                        + "/keys\"}]}}, {type: Compression, compression: {}},"
                                        + " {type: RequestMirror, requestMirror: {backendRef: {name: app}}}]")
                        .start()) {
            Exposed exposed = Exposed.parse(fresh.admin("/metrics"));
            Set<String> missing = new TreeSet<>(reference().keySet());
            missing.removeAll(exposed.labels().keySet());
            missing.remove("gateway_upstream_local_zone_share"); // a gauge, and only with zones
            missing.remove("gateway_jwks_age_seconds"); // a gauge, and only with keys
            missing.removeAll(MADE_BY_TRAFFIC);
            assertThat(missing).isEqualTo(OF_FEATURES);
            assertThat(exposed.series())
                    .containsEntry(
                            "gateway_upstream_requests_total{attempt=\"first\",code_class=\"5xx\",upstream=\"app\"}",
                            0.0)
                    .containsEntry(
                            "gateway_upstream_requests_total{attempt=\"retry\",code_class=\"none\",upstream=\"app\"}",
                            0.0)
                    .containsEntry(
                            "gateway_upstream_connect_failures_total{cause=\"connect_failed\",upstream=\"app\"}", 0.0)
                    .containsEntry("gateway_upstream_pending_overflow_total{upstream=\"app\"}", 0.0)
                    .containsEntry(
                            "gateway_ratelimit_decisions_total{decision=\"denied\",limit=\"default\",route=\"all\"}",
                            0.0)
                    .containsEntry("gateway_ratelimit_store_decisions_total{result=\"denied\",store=\"gone\"}", 0.0)
                    .containsEntry("gateway_external_auth_decisions_total{decision=\"error\",route=\"all\"}", 0.0)
                    .containsEntry("gateway_mirror_requests_total{result=\"slow\",route=\"all\",upstream=\"app\"}", 0.0)
                    .containsEntry("gateway_pool_stale_total{outcome=\"failed\",upstream=\"app\"}", 0.0)
                    .containsEntry(
                            "gateway_upstream_endpoint_failures_total{endpoint=\"localhost:" + unused.port()
                                    + "\",upstream=\"app\"}",
                            0.0);
        }
    }

    @Test
    void whoeverAcceptsOpenMetricsGetsIt() throws Exception {
        HttpResponse<String> page = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + rig.port("admin") + "/metrics"))
                                .header(
                                        "Accept",
                                        "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3")
                                .build(),
                        BodyHandlers.ofString());
        assertThat(page.headers().firstValue("content-type"))
                .hasValue("application/openmetrics-text; version=1.0.0; charset=utf-8");
        assertThat(page.body())
                .contains("# TYPE gateway_downstream_requests counter\n")
                .contains("# TYPE gateway_build info\n")
                .endsWith("# EOF\n");
    }

    @Test
    void whatClientsSendMakesNoSeries() throws Exception {
        Random random = new Random(4);
        sendRandom(random, 500);
        Set<String> before = ownSeries();
        sendRandom(random, 10_000);
        assertThat(ownSeries()).isEqualTo(before);
    }

    private static Set<String> ownSeries() throws Exception {
        return scrape().series().keySet().stream()
                .filter(sample -> sample.startsWith("gateway_"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Requests that differ in everything that a client chooses, sent ahead of their responses. */
    private static void sendRandom(Random random, int count) throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port("web"))) {
            CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
                try {
                    for (int i = 0; i < count; i++) {
                        String path = (i % 2 == 0 ? "/random/" : "/none/") + Long.toHexString(random.nextLong());
                        client.raw(method(random, i) + " " + path + "?" + random.nextInt() + " HTTP/1.1\r\nHost: h"
                                + Integer.toHexString(random.nextInt()) + ".test\r\nContent-Length: 0\r\nX-"
                                + random.nextInt(1 << 20) + ": x\r\n\r\n");
                    }
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            for (int i = 0; i < count; i++) {
                PeerStream response = client.response("GET");
                assertThat(response.receiveFinal().status()).isEqualTo(i % 2 == 0 ? 200 : 404);
                response.receiveBody();
            }
            sent.get();
        }
    }

    private static String method(Random random, int i) {
        List<String> common = List.of("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS");
        return i % 20 < 12 ? common.get(i % 20 / 2) : "M" + Integer.toHexString(random.nextInt());
    }

    /** Whatever an expression of ours says of metrics and labels. */
    @Test
    void dashboardsAndRulesUseWhatThereIs() throws Exception {
        Exposed exposed = scrape();
        Set<String> recorded = new TreeSet<>();
        List<String> expressions = new ArrayList<>();
        JsonNode dashboard = new ObjectMapper().readTree(Files.readString(DASHBOARD));
        dashboard.findValues("expr").forEach(expression -> expressions.add(expression.asText()));
        assertThat(expressions).hasSizeGreaterThan(60);
        for (Map<?, ?> rule : rules()) {
            expressions.add(String.valueOf(rule.get("expr")));
            if (rule.get("record") instanceof String name) {
                recorded.add(name);
            }
        }
        Set<String> used = new TreeSet<>();
        for (String expression : expressions) {
            Matcher selector = SELECTOR.matcher(expression);
            while (selector.find()) {
                String name = selector.group(1);
                String metric = exposed.metric(name);
                used.add(metric);
                assertThat(exposed.types().containsKey(metric) || recorded.contains(name))
                        .as(name + " of " + expression)
                        .isTrue();
                Set<String> known = new TreeSet<>(exposed.labels().getOrDefault(metric, Set.of()));
                known.addAll(List.of("job", "instance"));
                Matcher label = MATCHER.matcher(selector.group(2) == null ? "" : selector.group(2));
                while (label.find()) {
                    assertThat(known).as(expression).contains(label.group(1));
                }
                Matcher by = BY.matcher(expression);
                while (by.find() && !recorded.contains(name)) {
                    assertThat(allLabels(expression, exposed))
                            .as(expression)
                            .contains(by.group(1).split(", *"));
                }
            }
        }
        assertThat(used).as("metrics that no panel and no rule shows").containsAll(shown(exposed));
    }

    /** Labels of any metric of an expression, and those that Prometheus adds. */
    private static Set<String> allLabels(String expression, Exposed exposed) {
        Set<String> labels = new TreeSet<>(List.of("job", "instance", "le"));
        Matcher selector = SELECTOR.matcher(expression);
        while (selector.find()) {
            labels.addAll(exposed.labels().getOrDefault(exposed.metric(selector.group(1)), Set.of()));
        }
        return labels;
    }

    private static Set<String> shown(Exposed exposed) {
        return exposed.types().keySet().stream()
                .filter(name -> name.startsWith("gateway_"))
                // The first is for who wants the version; the others are told by what becomes of them.
                .filter(name -> !Set.of(
                                "gateway_build_info",
                                "gateway_downstream_requests_active",
                                "gateway_mirror_requests_active",
                                "gateway_upstream_requests_active",
                                "gateway_tunnels_duration_seconds")
                        .contains(name))
                .collect(Collectors.toSet());
    }

    private static List<Map<?, ?>> rules() throws IOException {
        Map<?, ?> document =
                (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(Files.readString(RULES));
        List<Map<?, ?>> rules = new ArrayList<>();
        for (Object group : list(document, "groups")) {
            list((Map<?, ?>) group, "rules").forEach(rule -> rules.add((Map<?, ?>) rule));
        }
        return rules;
    }

    private static List<?> list(Map<?, ?> map, String key) {
        return (List<?>) Objects.requireNonNull(map.get(key), key);
    }

    @Test
    void prometheusTakesTheRules() throws Exception {
        Tools.Result result = Tools.run(Tools.find("promtool"), "check", "rules", RULES.toString());
        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("SUCCESS: " + rules().size() + " rules found");
    }

    /** A Grafana that could be started is not to be had everywhere; the types that it is compiled with are. */
    @Test
    void theDashboardIsWhatGrafanaKnows() throws Exception {
        Path types = Tools.installed("CLIENTS", "clients", "node_modules/.bin/tsc", "gateway-tests/clients/install");
        Tools.Result result = Tools.run(Tools.find("node"), "grafana/check", types.toString(), DASHBOARD.toString());
        assertThat(result.output()).isEmpty();
        assertThat(result.exit()).isZero();
    }

    @Test
    void readersDoNotDisturbEachOther() throws Exception {
        rig.awaitIdle();
        Map<String, Double> first = counters();
        for (int i = 0; i < 3; i++) {
            rig.admin("/stats?format=json");
            assertThat(counters()).isEqualTo(first);
        }
    }

    /** Counters that grow without requests: the gateway looks names up again, and closes idle connections. */
    private static final Set<String> BACKGROUND =
            Set.of("gateway_dns_early_lookups", "gateway_upstream_connection_closed");

    /** Returns the gateway's own counters that only requests increase. */
    private static Map<String, Double> counters() throws Exception {
        Exposed exposed = scrape();
        Map<String, Double> counters = new TreeMap<>();
        exposed.series().forEach((sample, value) -> {
            String name = exposed.metric(sample.replaceAll("\\{.*", ""));
            boolean counts = name.startsWith("gateway_")
                    && !"gauge".equals(exposed.types().get(name));
            if (counts && BACKGROUND.stream().noneMatch(name::startsWith)) {
                counters.put(sample, value);
            }
        });
        return counters;
    }
}
