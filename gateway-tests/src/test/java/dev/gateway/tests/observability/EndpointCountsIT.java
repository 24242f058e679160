package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which of several endpoints is bad: metrics, statistics and the access log name it. */
@Tag("jar")
@Timeout(120)
class EndpointCountsIT {
    private static final String CONFIG =
            """
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            routes: [{name: all, rules: [{backendRefs: [{name: app}]}]}]
            upstreams:
              - name: app
                loadBalancer: RoundRobin
                endpoints: [%s]
            admin: {address: 127.0.0.1, port: 0}
            accessLog: {format: json, path: access.log}
            """;

    private static String endpoint(int port) {
        return "{host: 127.0.0.1, port: " + port + "}";
    }

    private static String label(int port) {
        return "endpoint=\"127.0.0.1:" + port + "\"";
    }

    private static int get(Peer client) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }

    @Test
    void theEndpointThatFailsIsNamedEverywhere() throws Exception {
        int dead = ClosedPort.number();
        try (Origin good = Origin.start().otherwise(Behaviors.text("hello"));
                GatewayJar gateway = GatewayJar.of(CONFIG.formatted(endpoint(good.port()) + ", " + endpoint(dead)))
                        .start();
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            assertThat(gateway.admin("/metrics", Duration.ofSeconds(20)).body())
                    .as("before the first request")
                    .contains("gateway_upstream_endpoint_failures_total{" + label(dead) + ",upstream=\"app\"} 0.0");
            for (int i = 0; i < 4; i++) {
                assertThat(get(client)).isEqualTo(200);
            }
            gateway.await("all are counted", () -> requests(gateway, good.port()) == 4);
            assertThat(gateway.metric("gateway_upstream_endpoint_failures_total", label(good.port())))
                    .isZero();
            double failed = gateway.metric("gateway_upstream_endpoint_failures_total", label(dead));
            assertThat(failed).isGreaterThanOrEqualTo(1);
            assertThat(gateway.metric("gateway_upstream_endpoint_requests_total", label(dead)))
                    .isEqualTo(failed);
            assertThat(gateway.metric("gateway_upstream_endpoint_requests_duration_seconds_count", label(good.port())))
                    .isEqualTo(4);
            JsonNode shown = gateway.json("/stats?format=json").at("/upstreams/0/endpoints/1");
            assertThat(shown.at("/address").asText()).isEqualTo("127.0.0.1:" + dead);
            assertThat(shown.at("/failures").asDouble()).isEqualTo(failed);
            assertThat(gateway.json("/upstreams")
                            .at("/upstreams/0/endpoints/1/failures")
                            .asDouble())
                    .isEqualTo(failed);
            Path log = gateway.directory().resolve("access.log");
            gateway.await("the log is written", () -> lines(log).size() == 4);
            JsonNode retried = new ObjectMapper()
                    .readTree(lines(log).stream()
                            .filter(line -> line.contains("\"attempts\":2"))
                            .findFirst()
                            .orElseThrow());
            assertThat(retried.at("/endpoint").asText()).isEqualTo("127.0.0.1:" + good.port());
            assertThat(retried.at("/tried").toString())
                    .isEqualTo("[{\"endpoint\":\"127.0.0.1:" + dead + "\",\"cause\":\"connect_failed\"}]");
        }
    }

    private static double requests(GatewayJar gateway, int port) {
        try {
            return gateway.metric("gateway_upstream_endpoint_requests_total", label(port));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<String> lines(Path log) {
        try {
            return Files.exists(log) ? Files.readAllLines(log) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aSeriesEndsWhenAReloadRemovesItsEndpointAndTheOthersGoOn() throws Exception {
        try (Origin stays = Origin.start().otherwise(Behaviors.text("hello"));
                Origin goes = Origin.start().otherwise(Behaviors.text("hello"));
                GatewayJar gateway = GatewayJar.of(
                                CONFIG.formatted(endpoint(goes.port()) + ", " + endpoint(stays.port())))
                        .start();
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            for (int i = 0; i < 6; i++) {
                assertThat(get(client)).isEqualTo(200);
            }
            gateway.await(
                    "all are counted",
                    () -> requests(gateway, stays.port()) == 3 && requests(gateway, goes.port()) == 3);
            Files.writeString(gateway.directory().resolve("gateway.yaml"), CONFIG.formatted(endpoint(stays.port())));
            assertThat(gateway.post("/reload").statusCode()).isEqualTo(200);
            assertThat(gateway.admin("/metrics", Duration.ofSeconds(20)).body()).doesNotContain(label(goes.port()));
            assertThat(get(client)).isEqualTo(200);
            gateway.await("the counter goes on", () -> requests(gateway, stays.port()) == 4);
        }
    }
}
