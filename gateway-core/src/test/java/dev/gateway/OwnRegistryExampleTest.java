package dev.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example of docs/metrics.md, line by line: an application with a registry of its own. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class OwnRegistryExampleTest {
    @TempDir
    Path directory;

    private final HttpClient client = HttpClient.newHttpClient();

    private GatewayConfig config() throws IOException {
        Path file = Files.writeString(
                directory.resolve("gateway.yaml"),
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - name: shop
                    rules:
                      - filters: [{type: DirectResponse, directResponse: {statusCode: 200, body: ok}}]
                accessLog: {format: "off"}
                workers: 1
                """);
        return ((LoadResult.Valid) ConfigLoader.load(file)).config();
    }

    /** Returns when the gateway has counted a request: it counts when it has sent the response. */
    private void use(Gateway gateway, int port) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + port + "/");
        client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
        while (gateway.activity().join().exchanges() > 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void anApplicationReadsTheGatewaysCountersInItsOwnRegistry() throws Exception {
        GatewayConfig config = config();
        double requests;

        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (Gateway gateway = Gateway.start(config, GatewayOptions.defaults().withRegistry(registry))) {
            use(gateway, gateway.port("web"));
            gateway.meters().bindTo(registry); // reads what was counted until now
            requests = registry.get("gateway.downstream.requests")
                    .tag("route", "shop")
                    .functionCounter()
                    .count();
        }

        assertThat(requests).isEqualTo(1);
        assertThat(registry.getMeters()).isEmpty();
    }

    @Test
    void aSecondGatewayDoesNotStartWithTheRegistryOfAnother() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        GatewayOptions options = GatewayOptions.defaults().withRegistry(registry);
        try (Gateway first = Gateway.start(config(), options)) {
            int meters = registry.getMeters().size();
            assertThatThrownBy(() -> Gateway.start(config(), options))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("another gateway");
            assertThat(registry.getMeters()).hasSize(meters);
            first.meters().bindTo(registry); // still works
        }
        Gateway.start(config(), options).close();
    }

    @Test
    void bucketsAreThereForWhoAsksForThem() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (Gateway gateway = Gateway.start(
                config(), GatewayOptions.defaults().withRegistry(registry).withBuckets())) {
            use(gateway, gateway.port("web"));
            gateway.meters().bindTo(registry);
            assertThat(registry.get("gateway.downstream.request.duration.bucket")
                            .tag("le", "+Inf")
                            .functionCounter()
                            .count())
                    .isEqualTo(1);
        }
    }

    @Test
    void theExampleInTheDocumentationIsWhatRunsHere() throws IOException {
        String page = Files.readString(Path.of("../docs/metrics.md"));
        String from = page.substring(page.indexOf("```java\n") + 8);
        String told = from.substring(0, from.indexOf("```")).stripTrailing();
        String test = Files.readString(Path.of("src/test/java/dev/gateway/OwnRegistryExampleTest.java"));
        assertThat(test.lines().map(line -> line.replaceFirst("^ {8}", "")).collect(Collectors.joining("\n")))
                .contains(told);
    }
}
