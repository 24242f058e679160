package dev.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.Gateway;
import dev.gateway.GatewayOptions;
import dev.gateway.config.LoadResult;
import dev.gateway.runtime.ConfigFile;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** What an operator can have done at the admin listener, and who cannot. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class AdminActionsTest {
    private static final String TOKEN = "a-token-of-the-test";
    private static final int PATIENCE_MILLIS = 20_000;

    @TempDir
    Path directory;

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private @Nullable Gateway gateway;

    @AfterEach
    void stop() {
        if (gateway != null) {
            gateway.close();
        }
    }

    private Path write(String admin, String body) throws IOException {
        return Files.writeString(
                directory.resolve("gateway.yaml"),
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {contentType: text/plain, body: %s}}]}]}]
                admin: %s
                accessLog: {format: off}
                workers: 1
                """
                        .formatted(body, admin));
    }

    private Gateway start(String admin) throws Exception {
        ConfigFile file = new ConfigFile(write(admin, "one"));
        LoadResult result = file.load();
        assertThat(result).as("%s", result.problems()).isInstanceOf(LoadResult.Valid.class);
        Gateway started = Gateway.start(
                ((LoadResult.Valid) result).config(), GatewayOptions.defaults().withFile(file));
        gateway = started;
        return started;
    }

    private HttpRequest.Builder post(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + running().port("admin") + path))
                .timeout(Duration.ofMillis(PATIENCE_MILLIS))
                .POST(BodyPublishers.noBody());
    }

    private HttpRequest.Builder get(String listener, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + running().port(listener) + path))
                .timeout(Duration.ofMillis(PATIENCE_MILLIS));
    }

    private Gateway running() {
        return Objects.requireNonNull(gateway);
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.build(), BodyHandlers.ofString());
    }

    private static HttpRequest.Builder named(HttpRequest.Builder request) {
        return request.header("X-Requested-By", "the test");
    }

    @Test
    void aReloadIsAnsweredWhenItIsDone() throws Exception {
        start("{port: 0}");
        write("{port: 0}", "two");
        HttpResponse<String> answer = send(named(post("/reload")));
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("generation 2 is active\nchanged route route-1\n");
        assertThat(send(get("admin", "/reloads")).body())
                .contains("\"succeeded\": true", "\"route route-1\"", "\"reason\": \"");
        assertThat(send(get("web", "/")).body()).isEqualTo("two");
        assertThat(running().metrics().metricsText())
                .contains("gateway_config_reloads_total{result=\"success\"} 1.0")
                .contains("gateway_config_reloads_total{result=\"failure\"} 0.0");
    }

    @Test
    void aReloadThatFailsSaysWhyAndChangesNothing() throws Exception {
        start("{port: 0}");
        Path file = write("{prt: 0}", "two");
        HttpResponse<String> answer = send(named(post("/reload")));
        assertThat(answer.statusCode()).isEqualTo(422);
        String problem = file + ":3:9: unknown key 'prt' in an admin section: did you mean 'port'?";
        assertThat(answer.body()).isEqualTo(problem + "\n");
        assertThat(send(get("web", "/")).body()).isEqualTo("one");
        assertThat(send(get("admin", "/reloads")).body()).contains("\"succeeded\": false", "unknown key 'prt'");
        HttpResponse<String> ready = send(get("admin", "/ready"));
        assertThat(ready.statusCode()).isEqualTo(200);
        assertThat(ready.body()).startsWith("ready\nthe reload at 2").endsWith("Z failed: " + problem + "\n");
        assertThat(running().metrics().metricsText())
                .contains("gateway_config_reloads_total{result=\"failure\"} 1.0")
                .contains("gateway_config_generation 1.0");

        write("{port: 0}", "three");
        assertThat(send(named(post("/reload"))).statusCode()).isEqualTo(200);
        assertThat(send(get("admin", "/ready")).body()).isEqualTo("ready\n");
    }

    @Test
    void whatNeedsARestartIsSaidAndTheRestIsDone() throws Exception {
        start("{port: 0}");
        Path file = write("{port: 0}", "two");
        Files.writeString(file, Files.readString(file).replace("workers: 1", "workers: 2"));
        HttpResponse<String> answer = send(named(post("/reload")));
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body())
                .isEqualTo(file
                        + ":1:1: warning: workers has changed: the gateway keeps the former value until it restarts\n"
                        + "generation 2 is active\nchanged route route-1, workers\n");
        assertThat(send(get("web", "/")).body()).isEqualTo("two");
    }

    @Test
    void whatSocketsThatStayCannotBecomeIsSaid() throws Exception {
        start("{port: 0}");
        Path file = write("{port: 0}", "two");
        String shared = "{name: web, reusePort: true,";
        Files.writeString(file, Files.readString(file).replace("{name: web,", shared));
        assertThat(Files.readString(file)).contains(shared);
        for (int i = 0; i < 2; i++) { // as long as it is so
            assertThat(send(named(post("/reload"))).body())
                    .startsWith(file + ":1:")
                    .contains(
                            ": warning: reusePort of the listener web has changed: the gateway keeps the former value");
        }
    }

    @Test
    void aGatewayWithoutAFileHasNothingToReload() throws Exception {
        LoadResult result = new ConfigFile(write("{port: 0}", "one")).load();
        gateway = Gateway.start(((LoadResult.Valid) result).config());
        HttpResponse<String> answer = send(named(post("/reload")));
        assertThat(answer.statusCode()).isEqualTo(422);
        assertThat(answer.body()).contains("has no configuration file");
    }

    @Test
    void anEmbeddedGatewayLeavesTheLevelsOfTheLogToTheProgramAroundIt() throws Exception {
        ch.qos.logback.classic.Logger root = (ch.qos.logback.classic.Logger) LoggerFactory.getLogger("root");
        ch.qos.logback.classic.Level before = root.getLevel();
        start("{port: 0}");
        HttpResponse<String> set = send(named(post("/log-level?level=trace")));
        HttpResponse<String> shown = send(get("admin", "/log-level"));
        assertThat(List.of(set.statusCode(), shown.statusCode())).containsExactly(422, 422);
        assertThat(set.body()).contains("the log belongs to the program that runs this gateway");
        assertThat(shown.body()).isEqualTo(set.body());
        assertThat(root.getLevel()).isEqualTo(before);
    }

    @Test
    void drainedAGatewayServesItsAdminPagesAndNobodyElse() throws Exception {
        start("{port: 0}");
        int port = running().port("web");
        assertThat(send(named(post("/drain"))).statusCode()).isEqualTo(202);
        HttpResponse<String> ready = send(get("admin", "/ready"));
        while (!ready.body().equals("drained\n")) {
            ready = send(get("admin", "/ready"));
        }
        assertThat(ready.statusCode()).isEqualTo(503);
        assertThat(send(get("admin", "/live")).statusCode()).isEqualTo(200);
        assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port))
                .isInstanceOf(ConnectException.class);
        assertThat(send(named(post("/drain"))).statusCode()).isEqualTo(202); // once more is harmless
        assertThat(send(named(post("/reload"))).body()).contains("stopping");
    }

    @Test
    void quitEndsTheGateway() throws Exception {
        start("{port: 0}");
        assertThat(send(named(post("/quit"))).statusCode()).isEqualTo(202);
        running().awaitStopped();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/reload", "/drain", "/quit"})
    void onlyPostDoesAnything(String path) throws Exception {
        start("{port: 0}");
        for (String method : new String[] {"GET", "HEAD", "PUT", "OPTIONS"}) {
            HttpResponse<String> answer = send(named(post(path)).method(method, BodyPublishers.noBody()));
            assertThat(answer.statusCode()).as(method).isEqualTo(405);
            assertThat(answer.headers().firstValue("allow")).contains("POST");
            assertThat(answer.headers().map().keySet()).noneMatch(name -> name.startsWith("access-control"));
        }
        assertThat(send(get("admin", "/ready")).body()).isEqualTo("ready\n");
    }

    // Who may.

    @ParameterizedTest
    @ValueSource(strings = {"/reload", "/drain", "/quit"})
    void whatAWebPageCanSendIsRefused(String path) throws Exception {
        start("{port: 0}");
        HttpResponse<String> simple = send(post(path)
                .header("Content-Type", "text/plain")
                .header("Origin", "https://evil.example")
                .POST(BodyPublishers.ofString("x=1")));
        assertThat(simple.statusCode()).isEqualTo(403);
        assertThat(simple.body()).contains("X-Requested-By");
        // By its own name, which it has let lead here, a page may add what it likes.
        assertThat(raw(path, "evil.example:" + running().port("admin"), "X-Requested-By: me\r\n"))
                .startsWith("HTTP/1.1 403 ");
        assertThat(raw(path, "127.0.0.1.evil.example", "X-Requested-By: me\r\n"))
                .startsWith("HTTP/1.1 403 ");
        assertThat(raw(path, "localhost", "X-Requested-By:\r\n")).startsWith("HTTP/1.1 403 ");
        assertThat(send(get("admin", "/ready")).body()).isEqualTo("ready\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "LOCALHOST:9901", "127.0.0.1:1", "[::1]:9901", "127.1.2.3"})
    void thisMachineHasTheseNames(String host) throws Exception {
        start("{port: 0}");
        assertThat(raw("/reload", host, "X-Requested-By: me\r\n")).startsWith("HTTP/1.1 200 ");
    }

    private String raw(String path, String host, String fields) throws IOException {
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), running().port("admin"))) {
            socket.setSoTimeout(PATIENCE_MILLIS);
            String request = "POST " + path + " HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 0\r\n" + fields
                    + "Connection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    @Test
    void whereOtherMachinesCanAskNothingIsDoneWithoutAToken() throws Exception {
        start("{address: 0.0.0.0, port: 0}");
        HttpResponse<String> answer = send(named(post("/quit")));
        assertThat(answer.statusCode()).isEqualTo(403);
        assertThat(answer.body()).contains("admin.tokenFile");
        assertThat(send(get("admin", "/ready")).statusCode()).isEqualTo(200);
    }

    @Test
    void theTokenIsAskedForWhereThereIsOne() throws Exception {
        Path file = Files.writeString(directory.resolve("token"), TOKEN + "\n");
        start("{address: 0.0.0.0, port: 0, tokenFile: token}");
        HttpResponse<String> refused = send(named(post("/reload")));
        assertThat(refused.statusCode()).isEqualTo(401);
        assertThat(refused.headers().firstValue("www-authenticate").orElse("")).startsWith("Bearer ");
        for (String wrong : new String[] {"Bearer", "Bearer ", "Bearer wrong", "Basic " + TOKEN, TOKEN}) {
            assertThat(send(post("/reload").header("Authorization", wrong)).statusCode())
                    .as(wrong)
                    .isEqualTo(401);
        }
        assertThat(send(post("/reload").header("Authorization", "Bearer " + TOKEN))
                        .statusCode())
                .isEqualTo(200);

        Files.writeString(file, "another-token-by-now");
        assertThat(send(post("/reload").header("Authorization", "bearer another-token-by-now"))
                        .statusCode())
                .isEqualTo(200);
        assertThat(send(post("/reload").header("Authorization", "Bearer " + TOKEN))
                        .statusCode())
                .isEqualTo(401);
        Files.writeString(file, "");
        assertThat(send(post("/reload").header("Authorization", "Bearer ")).statusCode())
                .isEqualTo(503); // as with every token that is too short
        Files.delete(file);
        assertThat(send(post("/reload").header("Authorization", "Bearer " + TOKEN))
                        .statusCode())
                .isEqualTo(503);
        assertThat(send(get("admin", "/stats")).statusCode()).isEqualTo(200); // what only shows needs none
    }

    @Test
    void aTokenThatAReloadBringsCountsFromThenOn() throws Exception {
        start("{port: 0}");
        Files.writeString(directory.resolve("token"), TOKEN);
        write("{port: 0, tokenFile: token}", "two");
        assertThat(send(named(post("/reload"))).statusCode()).isEqualTo(200);
        assertThat(send(named(post("/reload"))).statusCode()).isEqualTo(401);
    }

    // Files.

    @Test
    void aFileThatChangesIsRead() throws Exception {
        start("{port: 0}");
        write("{port: 0}", "two");
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
        while (!send(get("web", "/")).body().equals("two")) {
            assertThat(System.nanoTime()).as("reloads by itself").isLessThan(deadline);
            LockSupport.parkNanos(10_000_000);
        }
    }
}
