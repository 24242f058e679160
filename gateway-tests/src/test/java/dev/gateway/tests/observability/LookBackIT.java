package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an operator who comes later can still find out: what failed, what went on, and what a reload changed. */
@Tag("jar")
@Timeout(120)
class LookBackIT {
    private static final String CONFIG =
            """
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            routes:
              - name: good
                rules: [{matches: [{path: {value: /good}}], backendRefs: [{name: good}]}]
              - name: bad
                rules: [{matches: [{path: {value: /bad}}], backendRefs: [{name: bad}]}]
            upstreams:
              - {name: good, endpoints: [{host: 127.0.0.1, port: %d}]}
              - {name: bad, endpoints: [{host: 127.0.0.1, port: %d}]}
            admin: {address: 127.0.0.1, port: 0}
            accessLog: {format: off}
            """;

    private static int get(GatewayJar gateway, String path) throws IOException {
        try (Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", path), true);
            int status = stream.receiveFinal().status();
            stream.receiveBody();
            return status;
        }
    }

    private static JsonNode json(GatewayJar gateway, String path) {
        try {
            return gateway.json(path);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void failedExchangesAreKeptThoughThereIsNoAccessLog() throws Exception {
        int dead = ClosedPort.number();
        try (Origin good = Origin.start().otherwise(Behaviors.text("hello"));
                GatewayJar gateway =
                        GatewayJar.of(CONFIG.formatted(good.port(), dead)).start()) {
            assertThat(get(gateway, "/good")).isEqualTo(200);
            assertThat(get(gateway, "/bad?token=secret&x=1")).isEqualTo(502);
            for (int i = 0; i < 60; i++) {
                assertThat(get(gateway, "/scan/" + i)).isEqualTo(404);
            }
            gateway.await(
                    "the failures are kept",
                    () -> json(gateway, "/failures").toString().contains("/scan/"));
            JsonNode failures = json(gateway, "/failures").get("failures");
            assertThat(failures.size()).isLessThanOrEqualTo(51);
            JsonNode bad = StreamSupport.stream(failures.spliterator(), false)
                    .filter(each -> each.at("/path").asText().startsWith("/bad"))
                    .findFirst()
                    .orElseThrow();
            assertThat(bad.at("/path").asText()).isEqualTo("/bad?token=***&x=1");
            assertThat(bad.at("/cause").asText()).isEqualTo("connect_failed");
            assertThat(bad.at("/status").asInt()).isEqualTo(502);
            assertThat(bad.at("/endpoint").asText()).isEqualTo("127.0.0.1:" + dead);
            assertThat(bad.at("/route").asText()).isEqualTo("bad");
            assertThat(bad.at("/requestId").asText()).isNotEmpty();
            assertThat(bad.at("/time").asLong()).isPositive();
            assertThat(gateway.admin("/stats", Duration.ofSeconds(20)).body())
                    .containsPattern("failed exchanges by cause\n  no_route +60\n  connect_failed +1\n")
                    .containsPattern("\n  bad of web +1 +1 ");
            gateway.await(
                    "a point of the history",
                    () -> json(gateway, "/history").toString().contains("\"causes\":{\"connect_failed\":"));
        }
    }

    @Test
    void aReloadSaysWhatItChanged() throws Exception {
        try (Origin good = Origin.start().otherwise(Behaviors.text("hello"));
                GatewayJar gateway = GatewayJar.of(CONFIG.formatted(good.port(), good.port()))
                        .start()) {
            Files.writeString(
                    gateway.directory().resolve("gateway.yaml"),
                    CONFIG.formatted(good.port(), good.port())
                            .replace("value: /bad", "value: /other")
                            .replace(
                                    "- {name: good,",
                                    "- {name: spare, endpoints: [{host: h, port: 1}]}\n  - {name: good,"));
            assertThat(gateway.post("/reload").body()).contains("added upstream spare; changed route bad\n");
            gateway.awaitLog("generation 2 is active; added upstream spare; changed route bad");
            JsonNode reload = gateway.json("/reloads").at("/reloads/0");
            assertThat(reload.at("/succeeded").asBoolean()).isTrue();
            assertThat(reload.at("/generation").asInt()).isEqualTo(2);
            assertThat(reload.at("/added").toString()).isEqualTo("[\"upstream spare\"]");
            assertThat(reload.at("/changed").toString()).isEqualTo("[\"route bad\"]");
            assertThat(reload.at("/problems").toString()).contains("no route uses the upstream 'spare'");
        }
    }
}
