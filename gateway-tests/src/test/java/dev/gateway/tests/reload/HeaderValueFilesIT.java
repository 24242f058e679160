package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Pairing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An API key that stands in a file goes to the upstream, is exchanged without a reload, and is shown nowhere. */
@Tag("jar")
@Timeout(120)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class HeaderValueFilesIT {
    private static final String YAML =
            """
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            routes:
              - rules:
                  - filters:
                      - type: RequestHeaderModifier
                        requestHeaderModifier:
                          set: [{name: Authorization, valueFile: "%1$s/key", valuePrefix: "Bearer "}]
                          add: [{name: X-Key, valueFile: "%1$s/key"}]
                      - type: ResponseHeaderModifier
                        responseHeaderModifier: {set: [{name: X-Build, valueFile: "%1$s/build"}]}
                    backendRefs: [{name: app}]
            upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %2$d}], protocol: %3$s}]
            admin: {address: 127.0.0.1, port: 0}
            accessLog: {requestHeaders: [User-Agent]}
            """;

    @TempDir
    Path secrets;

    /** Answers with the credentials that it was sent. */
    private static Origin origin() throws IOException {
        return Origin.start().on("/", (stream, head) -> {
            stream.receiveBody();
            List<String> sent = new ArrayList<>(head.all("authorization"));
            sent.addAll(head.all("x-key"));
            stream.send(Head.response(200), false);
            stream.send(String.join("|", sent), true);
        });
    }

    private GatewayJar start(Origin origin, String protocol) throws IOException {
        Files.writeString(secrets.resolve("key"), "sk-live-one\n");
        Files.writeString(secrets.resolve("build"), "b1");
        return GatewayJar.of(YAML.formatted(secrets, origin.port(), protocol)).start();
    }

    private record Answer(String body, List<String> build) {}

    private static Answer ask(Peer client) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/", "authorization", "Bearer of-the-client", "x-key", "theirs"), true);
        List<String> build = stream.receiveFinal().all("x-build");
        return new Answer(stream.receiveBody(), build);
    }

    private static void awaitAnswer(Peer client, String body) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (true) {
            String answered = ask(client).body();
            if (answered.equals(body)) {
                return;
            }
            assertThat(System.nanoTime()).as(answered + " instead of " + body).isLessThan(deadline);
            LockSupport.parkNanos(50_000_000);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aKeyOfAFileGoesUpstreamAndIsExchangedWithoutAReload(Pairing pairing) throws Exception {
        try (Origin origin = origin();
                GatewayJar gateway = start(origin, pairing.upstream);
                Peer client = pairing.client.connect(gateway.port("web"))) {
            assertThat(ask(client)).isEqualTo(new Answer("Bearer sk-live-one|theirs|sk-live-one", List.of("b1")));

            Path next = Files.writeString(secrets.resolve("next"), "sk-live-two\r\n");
            Files.move(next, secrets.resolve("key"), StandardCopyOption.ATOMIC_MOVE);
            awaitAnswer(client, "Bearer sk-live-two|theirs|sk-live-two");
            assertThat(gateway.metric("gateway_config_generation")).isEqualTo(1);
        }
    }

    @Test
    void whatCannotBeUsedLeavesTheFormerValueAndIsToldWithoutIt() throws Exception {
        try (Origin origin = origin();
                GatewayJar gateway = start(origin, "http1");
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            Files.writeString(secrets.resolve("key"), "sk-live-two\nsk-live-three\n");
            gateway.awaitLog("keeping the previous value");
            assertThat(ask(client).body()).isEqualTo("Bearer sk-live-one|theirs|sk-live-one");
            String ready = gateway.admin("/ready", Duration.ofSeconds(20)).body();
            assertThat(ready)
                    .startsWith("ready")
                    .containsPattern("gateway.yaml:7:\\d+: header Authorization: keeping the previous value: ")
                    .contains(secrets.resolve("key") + " has no header value", "byte 12 is a line break");

            String refused = gateway.post("/reload").body();
            assertThat(refused)
                    .containsPattern("gateway.yaml:7:\\d+: valueFile: " + secrets + "/key has no header value");
            assertThat(gateway.metric("gateway_config_generation")).isEqualTo(1);

            Files.writeString(secrets.resolve("key"), "sk-live-four\n");
            awaitAnswer(client, "Bearer sk-live-four|theirs|sk-live-four");
            assertThat(gateway.admin("/ready", Duration.ofSeconds(20)).body()).doesNotContain("previous");

            Set<String> pages = Set.of("/config", "/routes", "/explain?path=/", "/explain?path=/&format=json");
            for (String page : pages) {
                assertThat(gateway.admin(page, Duration.ofSeconds(20)).body())
                        .as(page)
                        .isNotEmpty()
                        .doesNotContain("sk-live");
            }
            assertThat(gateway.admin("/config", Duration.ofSeconds(20)).body())
                    .contains("valueFile:", secrets + "/key", "valuePrefix:");
            assertThat(gateway.log() + ready + refused).doesNotContain("sk-live");
        }
    }
}
