package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.WebSocket;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Requests over a limit of their rule are refused, and told when to come again. Intervals are so long that none ends. */
class RateLimitIT {
    private static Rig rig(Origin origin, Pairing pairing, String limits) throws IOException {
        return Rig.to(origin, pairing)
                .rule("filters: [{type: RateLimit, rateLimit: {limits: [" + limits + "]}}]")
                .start();
    }

    private static Head ask(Peer client, String path, String... fields) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path, fields), true);
        Head response = stream.receiveFinal();
        stream.receiveBody();
        return response;
    }

    private static void change(Rig rig, String from, String to) throws IOException, InterruptedException {
        String before = Files.readString(rig.file());
        assertThat(before).contains(from);
        rig.reload(before.replace(from, to));
    }

    @ParameterizedTest
    @EnumSource
    void aClientOverTheLimitIsRefusedAndToldSo(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("hello"));
                Rig rig = rig(origin, pairing, "{name: mine, requests: 2, interval: 1h, key: [{header: X-User}]}");
                Peer client = rig.connect(pairing)) {
            Head first = ask(client, "/", "x-user", "a");
            assertThat(first.status()).isEqualTo(200);
            assertThat(first.all("ratelimit-policy")).containsExactly("\"mine\";q=2;w=3600");
            assertThat(first.get("ratelimit").orElse("")).matches("\"mine\";r=1;t=1[78]\\d\\d");
            assertThat(ask(client, "/", "x-user", "a").get("ratelimit").orElse(""))
                    .startsWith("\"mine\";r=0;");

            Head refused = ask(client, "/", "x-user", "a");
            assertThat(refused.status()).isEqualTo(429);
            String seconds = refused.get("retry-after").orElse("");
            assertThat(seconds).matches("1[78]\\d\\d");
            assertThat(refused.all("ratelimit")).containsExactly("\"mine\";r=0;t=" + seconds);
            assertThat(refused.get("proxy-status").orElse("")).contains("details=\"rate_limited\"");
            assertThat(ask(client, "/", "x-user", "b").status()).isEqualTo(200);

            assertThat(rig.awaitAccessLog(4).get(2))
                    .contains("\"cause\":\"rate_limited\"", "limit mine is exceeded: 2 requests in 1h");
            rig.awaitMetric(3, "gateway_ratelimit_decisions_total", "limit=\"mine\"", "decision=\"allowed\"");
            rig.awaitMetric(1, "gateway_ratelimit_decisions_total", "route=\"all\"", "decision=\"denied\"");
            assertThat(origin.requests("/")).hasSize(3);
        }
    }

    @CrossPairingTest
    void aReloadKeepsWhatWasCountedAlsoIfTheLimitChanges(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("hello"));
                Rig rig = rig(origin, pairing, "{requests: 3, interval: 1h, key: [{client: true}]}");
                Peer client = rig.connect(pairing)) {
            for (int i = 0; i < 3; i++) {
                assertThat(ask(client, "/").status()).isEqualTo(200);
            }
            change(rig, "app", "app"); // a reload of the same
            assertThat(ask(client, "/").status()).isEqualTo(429);

            change(rig, "requests: 3, interval: 1h", "requests: 5, interval: 2h");
            assertThat(ask(client, "/").get("ratelimit").orElse("")).startsWith("\"default\";r=1;");
            assertThat(ask(client, "/").status()).isEqualTo(200);
            assertThat(ask(client, "/").status()).isEqualTo(429);
            rig.awaitMetric(5, "gateway_ratelimit_decisions_total", "decision=\"allowed\"");

            change(rig, "requests: 5, interval: 2h", "name: other, requests: 5, interval: 2h");
            assertThat(ask(client, "/").status()).isEqualTo(200);
        }
    }

    @CrossPairingTest
    void bytesCountWhenARequestEndsHoweverItEnds(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start()
                        .on("/", Behaviors.text("hello"))
                        .on("/cut", Behaviors.resetInBody())
                        .on("/echo", Behaviors.echo());
                Rig rig = rig(origin, pairing, "{name: volume, bytes: 1000, interval: 1h, key: [{header: X-User}]}");
                Peer client = rig.connect(pairing)) {
            Head first = ask(client, "/", "x-user", "a");
            assertThat(first.all("ratelimit-policy")).containsExactly("\"volume\";q=1000;qu=\"content-bytes\";w=3600");
            assertThat(first.get("ratelimit").orElse("")).startsWith("\"volume\";r=999;");
            rig.awaitIdle();
            assertThat(ask(client, "/", "x-user", "a").get("ratelimit").orElse(""))
                    .startsWith("\"volume\";r=994;"); // less hello, and one byte in advance

            rig.awaitIdle();
            PeerStream echo = client.open();
            echo.send(Head.request("POST", "/echo", "x-user", "a"), false);
            echo.send(new byte[800], true);
            assertThat(echo.receiveFinal().status()).isEqualTo(200);
            assertThat(echo.receiveBody()).hasSize(800);
            rig.awaitIdle();
            Head refused = ask(client, "/", "x-user", "a");
            assertThat(refused.status()).isEqualTo(429);
            assertThat(refused.get("retry-after").orElse(""))
                    .matches("2\\d\\d\\d"); // for 610 bytes of 1,000 in 3,600 s
            assertThat(ask(client, "/", "x-user", "b").status()).isEqualTo(200);

            change(rig, "bytes: 1000", "bytes: 2000");
            assertThat(ask(client, "/", "x-user", "a").status()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H1", "H2_TO_H1"})
    void theBytesOfAWebSocketCountWhenItIsOver(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/echo", WebSocket::echo).on("/", Behaviors.text("hello"));
                Rig rig = rig(origin, pairing, "{name: volume, bytes: 1000, interval: 1h, key: [{header: X-User}]}");
                Peer client = rig.connect(pairing)) {
            try (Peer other = rig.connect(pairing)) {
                WebSocket socket = new WebSocket(Handshake.open(other, "/echo", "x-user", "a"), true);
                socket.send(WebSocket.BINARY, true, new byte[600]);
                assertThat(socket.receive().payload()).hasSize(600);
                assertThat(ask(client, "/", "x-user", "a").status()).isEqualTo(200);
            }
            rig.awaitIdle();
            assertThat(ask(client, "/", "x-user", "a").status()).isEqualTo(429);
            assertThat(ask(client, "/", "x-user", "b").status()).isEqualTo(200);
        }
    }

    @CrossPairingTest
    void requestsInFlightCountUntilTheyEndHoweverTheyEnd(Pairing pairing) throws Exception {
        Semaphore asked = new Semaphore(0);
        Semaphore answers = new Semaphore(0);
        try (Origin origin = Origin.start()
                        .on("/", Behaviors.text("hello"))
                        .on("/reset", Behaviors.resetBeforeHead())
                        .on("/cut", Behaviors.resetInBody())
                        .on("/slow", (stream, head) -> {
                            asked.release();
                            answers.acquire();
                            stream.send(Head.response(200), true);
                        });
                Rig rig = rig(
                        origin,
                        pairing,
                        "{name: all, maxInFlight: 1}, {name: mine, maxInFlight: 1, key: [{client: true}]}");
                Peer client = rig.connect(pairing)) {
            Peer slow = rig.connect(pairing);
            PeerStream held = slow.open();
            held.send(Head.request("GET", "/slow"), true);
            asked.acquire();
            Head refused = ask(client, "/");
            assertThat(refused.status()).isEqualTo(429);
            assertThat(refused.all("retry-after")).containsExactly("1");
            answers.release();
            assertThat(held.receiveFinal().all("ratelimit")).containsExactly("\"all\";r=0, \"mine\";r=0");
            held.receiveBody();

            rig.awaitIdle();
            assertThat(ask(client, "/").status()).isEqualTo(200);
            rig.awaitIdle();
            Head failed = ask(client, "/reset");
            assertThat(failed.status()).isEqualTo(502);
            assertThat(failed.all("ratelimit")).containsExactly("\"all\";r=0, \"mine\";r=0");
            rig.awaitIdle();
            try (Peer cut = rig.connect(pairing)) {
                PeerStream stream = cut.open();
                stream.send(Head.request("GET", "/cut"), true);
                assertThatThrownBy(
                                () -> { // if the reset overtakes the head, as HTTP/2's may, so soon
                                    stream.receiveFinal();
                                    stream.receiveBody();
                                })
                        .isInstanceOf(IOException.class);
            }
            rig.awaitIdle();
            held = slow.open();
            held.send(Head.request("GET", "/slow"), true);
            asked.acquire();
            slow.close();
            rig.awaitIdle();
            answers.release();
            assertThat(ask(client, "/").status()).isEqualTo(200);
            rig.awaitIdle();
            rig.awaitMetric(1, "gateway_ratelimit_decisions_total", "limit=\"all\"", "decision=\"denied\"");
            rig.awaitMetric(0, "gateway_ratelimit_decisions_total", "limit=\"mine\"", "decision=\"denied\"");
        }
    }

    @ParameterizedTest
    @EnumSource
    void eachIdentityHasALimitOfItsOwnAndStrangersUseUpNone(Pairing pairing, @TempDir Path directory) throws Exception {
        Path keys = directory.resolve("keys");
        Files.writeString(keys, "ann:" + sha256("key-of-ann") + "\nben:" + sha256("key-of-ben") + "\n");
        try (Origin origin = Origin.start().on("/", Behaviors.text("hello"));
                Rig rig = Rig.to(origin, pairing)
                        .rule("filters: [{type: APIKey, apiKey: {keysFile: \"" + keys + "\"}}, {type: RateLimit, "
                                + "rateLimit: {limits: [{requests: 1, interval: 1h, key: [{identity: true}]}]}}]")
                        .start();
                Peer client = rig.connect(pairing)) {
            assertThat(ask(client, "/", "x-api-key", "key-of-nobody").status()).isEqualTo(401);
            assertThat(ask(client, "/", "x-api-key", "key-of-ann").status()).isEqualTo(200);
            assertThat(ask(client, "/", "x-api-key", "key-of-ann").status()).isEqualTo(429);
            assertThat(ask(client, "/", "x-api-key", "key-of-ben").status()).isEqualTo(200);
        }
    }

    private static String sha256(String key) throws NoSuchAlgorithmException {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void answersOfTheGatewayItselfAreLimitedToo() throws Exception {
        String yaml =
                """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - name: pages
                    rules:
                      - name: hello
                        filters:
                          - {type: DirectResponse, directResponse: {body: hello}}
                          - {type: RateLimit, rateLimit: {limits: [{requests: 1, interval: 1h}]}}
                      - name: quiet
                        matches: [{path: {value: /quiet}}]
                        filters:
                          - {type: DirectResponse, directResponse: {body: hello}}
                          - {type: RateLimit, rateLimit: {limits: [{requests: 1, interval: 1h}], includeHeaders: false}}
                admin: {address: 127.0.0.1, port: 0}
                """;
        try (Rig rig = Rig.start(yaml);
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            assertThat(ask(client, "/").all("ratelimit")).hasSize(1);
            assertThat(ask(client, "/").status()).isEqualTo(429);
            assertThat(ask(client, "/quiet").all("ratelimit")).isEmpty();
            Head refused = ask(client, "/quiet");
            assertThat(refused.status()).isEqualTo(429);
            assertThat(refused.all("ratelimit")).isEmpty();
            assertThat(refused.get("retry-after").orElse("")).matches("3[56]\\d\\d");
            assertThat(rig.admin("/explain?path=/"))
                    .contains("RateLimit: default allows 1 request in 1h, counted for all requests");
        }
    }
}
