package dev.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.Gateway;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an operator sees at the admin listener. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the field that each test's start sets
class AdminTest {
    private static final String YAML =
            """
            listeners:
              - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP}
            routes:
              - rules: [{backendRefs: [{name: app}]}]
            upstreams:
              - {name: app, endpoints: [{host: 127.0.0.1, port: 9}]}
            admin: {address: 127.0.0.1, port: 0}
            drain: {timeout: 50s, acceptFor: 50s}
            accessLog: {format: off}
            workers: 1
            """;

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private Gateway gateway;

    @BeforeEach
    void start() throws Exception {
        LoadResult result = ConfigLoader.parse(YAML);
        assertThat(result.problems()).isEmpty();
        gateway = Gateway.start(((LoadResult.Valid) result).config());
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private HttpRequest.Builder to(String path) {
        String url = Objects.requireNonNull(gateway.adminUrl());
        return HttpRequest.newBuilder(URI.create(url).resolve(path)).timeout(Duration.ofSeconds(20));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(to(path));
    }

    private static String field(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    /healthz            | text/plain; charset=utf-8                | ok
                    /live               | text/plain; charset=utf-8                | ok
                    /ready              | text/plain; charset=utf-8                | ready
                    /startup            | text/plain; charset=utf-8                | ready
                    /stats              | text/plain; charset=utf-8                | connections active
                    /stats?format=json  | application/json                         | "connectionsActive":
                    /metrics            | text/plain; version=0.0.4; charset=utf-8 | gateway_build_info
                    /                   | text/html; charset=utf-8                 | <h1>Gateway</h1>
                    """)
    void eachPageTellsWhatItIsFor(String path, String type, String content) throws Exception {
        HttpResponse<String> page = get(path);
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(field(page, "content-type")).isEqualTo(type);
        assertThat(field(page, "cache-control")).isEqualTo("no-store");
        assertThat(page.body()).contains(content);
    }

    @Test
    void thePageOfPagesLinksToAllOfThem() throws Exception {
        String index = get("/").body();
        int[] links = {0};
        // The question is missing; the log is the application's.
        Map<String, Integer> unless = Map.of("/explain", 400, "/log-level", 422);
        Pattern.compile("href=\"([^\"]+)\"").matcher(index).results().forEach(link -> {
            links[0]++;
            try {
                assertThat(get(link.group(1)).statusCode())
                        .as(link.group(1))
                        .isEqualTo(unless.getOrDefault(link.group(1), 200));
            } catch (IOException | InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        assertThat(links[0]).isEqualTo(20);
    }

    @Test
    void statisticsAreJsonForWhoeverAcceptsIt() throws Exception {
        HttpResponse<String> page = send(to("/stats").header("Accept", "application/json"));
        assertThat(field(page, "content-type")).isEqualTo("application/json");
        assertThat(page.body()).startsWith("{\"").endsWith("}\n");
    }

    @ParameterizedTest
    @CsvSource({
        "/dashboard, text/html; charset=utf-8",
        "/dashboard/style.css, text/css; charset=utf-8",
        "/dashboard/main.js, text/javascript; charset=utf-8",
        "/dashboard/chart.umd.min.js, text/javascript; charset=utf-8",
        "/dashboard/icon.svg, image/svg+xml",
    })
    void theDashboardRunsNothingButItsOwn(String path, String type) throws Exception {
        HttpResponse<String> file = get(path);
        assertThat(file.statusCode()).isEqualTo(200);
        assertThat(field(file, "content-type")).isEqualTo(type);
        assertThat(field(file, "content-security-policy"))
                .startsWith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; ")
                .doesNotContain("unsafe");
        assertThat(field(file, "x-content-type-options")).isEqualTo("nosniff");
        assertThat(file.body()).isNotEmpty().doesNotContain("<style", " style=", "onclick=");
        HttpResponse<String> again = send(to(path).header("If-None-Match", field(file, "etag")));
        assertThat(again.statusCode()).isEqualTo(304);
        assertThat(again.body()).isEmpty();
    }

    @Test
    void theDashboardHasTheChartsOfTheVersionThatTheBuildNames() throws Exception {
        try (InputStream file = Dashboard.class.getResourceAsStream("chartjs.version")) {
            String version = new String(file.readAllBytes(), StandardCharsets.UTF_8).strip();
            assertThat(get("/dashboard/chart.umd.min.js").body()).contains(" * Chart.js v" + version + "\n");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "nothing.js", "index.html", "..%2fDashboard.class", "%2e%2e/Dashboard.class", "a/main.js"})
    void theDashboardHasNoOtherFiles(String name) throws Exception {
        assertThat(get("/dashboard/" + name).statusCode()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/nothing", "/metrics/", "//", "/healthz/../metrics"})
    void anUnknownPathIsNotFound(String path) throws Exception {
        try (Socket socket = connect()) {
            String response = exchange(socket, "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n", true);
            assertThat(response).startsWith("HTTP/1.1 404 ").contains("/ lists them");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "DELETE", "OPTIONS"})
    void onlyGetAndHeadAreAllowed(String method) throws Exception {
        HttpResponse<String> page = send(to("/metrics").method(method, BodyPublishers.ofString("x".repeat(100_000))));
        assertThat(page.statusCode()).isEqualTo(405);
        assertThat(field(page, "allow")).isEqualTo("GET, HEAD");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/healthz", "/stats", "/metrics"})
    void headIsGetWithoutItsBody(String path) throws Exception {
        try (Socket socket = connect()) {
            // On one connection: a body that came all the same would be taken for the next response.
            for (int i = 0; i < 2; i++) {
                String head = exchange(socket, "HEAD " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n", false);
                assertThat(head).startsWith("HTTP/1.1 200 ").containsPattern("(?i)content-length: [1-9]");
            }
            assertThat(exchange(socket, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n", true))
                    .startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void whatIsNoRequestIsRefused() throws Exception {
        try (Socket socket = connect()) {
            assertThat(exchange(socket, "GET / HTTP/1.1\r\nHost: a\r\nBad Name: b\r\n\r\n", true))
                    .startsWith("HTTP/1.1 400 ");
        }
    }

    @Test
    void readinessFailsFromTheBeginningOfTheDrainAndLivenessDoesNot() throws Exception {
        Thread drain = new Thread(gateway::drain, "drain");
        drain.start();
        HttpResponse<String> ready = get("/ready");
        while (ready.statusCode() == 200) { // the thread has to begin first
            ready = get("/ready");
        }
        assertThat(ready.statusCode()).isEqualTo(503);
        assertThat(ready.body()).isEqualTo("draining, connections open: 0\n");
        assertThat(get("/live").statusCode()).isEqualTo(200);
        assertThat(get("/healthz").statusCode()).isEqualTo(200);
        assertThat(get("/startup").statusCode()).isEqualTo(200);
        try (Socket web = new Socket(InetAddress.getLoopbackAddress(), gateway.port("web"))) {
            assertThat(web.isConnected()).isTrue(); // still accepted
        }
        drain.interrupt(); // goes on at once
        drain.join(20_000);
        assertThat(drain.isAlive()).isFalse();
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port("admin"));
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static String exchange(Socket socket, String request, boolean withBody) throws IOException {
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        InputStream in = socket.getInputStream();
        StringBuilder text = new StringBuilder();
        while (text.indexOf("\r\n\r\n") < 0) {
            int c = in.read();
            assertThat(c).as("the next byte after: %s", text).isGreaterThanOrEqualTo(0);
            text.append((char) c);
        }
        if (withBody) {
            String length = text.toString().replaceAll("(?is).*Content-Length: (\\d+).*", "$1");
            text.append(new String(in.readNBytes(Integer.parseInt(length)), StandardCharsets.UTF_8));
        }
        return text.toString();
    }
}
