package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server decides by Envoy's gRPC who may use a route. */
@Timeout(180)
class GrpcAuthIT {
    private static final String CHECK = "/envoy.service.auth.v3.Authorization/Check";
    private static final byte[] CONSENT = message("0a00 1a0e 120c 0a060a0161120162 12020801"); // sets a: b
    private static final byte[] PLAIN_CONSENT = message("0a00");
    private static final byte[] REFUSAL = message("0a020807 120a 0a03089303 1a036e6f21"); // 403, no!;

    @TempDir
    private Path directory;

    /** Frames a message that is written in hexadecimal. */
    private static byte[] message(String hex) {
        byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
        byte[] framed = new byte[5 + bytes.length];
        framed[4] = (byte) bytes.length;
        System.arraycopy(bytes, 0, framed, 5, bytes.length);
        return framed;
    }

    private static Origin app() throws IOException {
        return Origin.start().otherwise((stream, head) -> {
            String body = stream.receiveBody();
            stream.send(Head.response(200), false);
            stream.send(
                    String.join(",", head.all("a")) + "|" + String.join(",", head.all("remote-user")) + "|"
                            + String.join(",", head.all("x-asked")) + "|" + String.join(",", head.all("cookie")) + "|"
                            + body,
                    true);
        });
    }

    private static Origin.Behavior answering(byte[] message) {
        return (stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(200, "content-type", "application/grpc"), false);
            stream.send(message, false);
            stream.sendTrailers("grpc-status", "0");
        };
    }

    private static String yaml(int app, int auth, Pairing pairing, String more) {
        return """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - name: shop
                    rules:
                      - filters:
                          - type: ExternalAuth
                            externalAuth:
                              backendRef: {name: authz}
                              protocol: GRPC
                              grpc: {contextExtensions: [{name: policy, value: staff}]}
                              %s
                        backendRefs: [{name: app}]
                upstreams:
                  - {name: app, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s}
                  - {name: authz, endpoints: [{host: 127.0.0.1, port: %d}], protocol: h2c}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {path: access.log}
                """
                .formatted(more.replace("\n", "\n              "), app, pairing.upstream, auth);
    }

    private static PeerStream send(Peer client, String... fields) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("POST", "/a?b=c", fields), false);
        stream.send("body", true);
        return stream;
    }

    /** Returns status and body. */
    private static String ask(Peer client, String... fields) throws IOException {
        PeerStream stream = send(client, fields);
        int status = stream.receiveFinal().status();
        return status + " " + stream.receiveBody();
    }

    private static void assertError(Peer client, Rig rig, int lines, String detail) throws Exception {
        assertThat(ask(client)).startsWith("503 ");
        assertThat(rig.awaitAccessLog(lines))
                .anySatisfy(line -> assertThat(line).contains("\"cause\":\"authz_error\"", detail));
    }

    @ParameterizedTest
    @EnumSource
    void theServerDecides(Pairing pairing) throws Exception {
        try (Origin app = app();
                Origin auth = Origin.start().on(CHECK, answering(CONSENT));
                Rig rig = Rig.start(yaml(app.port(), auth.port(), pairing, ""));
                Peer client = rig.connect(pairing.client)) {
            for (int i = 0; i < 10; i++) {
                assertThat(ask(client, "a", "x")).isEqualTo("200 x,b||||body");
            }
            assertThat(auth.connections()).as("connections for ten questions").isEqualTo(1);
            Head question = auth.requests(CHECK).get(0);
            assertThat(question.method()).isEqualTo("POST");
            assertThat(question.get("te")).contains("trailers");
            assertThat(question.get("grpc-timeout")).contains("5000m");
            rig.awaitMetric(10, "gateway_external_auth_decisions_total", "route=\"shop\"", "decision=\"allowed\"");

            auth.on(CHECK, answering(REFUSAL));
            PeerStream refused = send(client);
            Head answer = refused.receiveFinal();
            assertThat(answer.status()).isEqualTo(403);
            assertThat(answer.all("cache-control")).containsExactly("no-store");
            assertThat(refused.receiveBody()).isEqualTo("no!");
            assertThat(rig.awaitAccessLog(11)).anySatisfy(line -> assertThat(line)
                    .contains("\"cause\":\"authz_denied\"", "ExternalAuth: authz answered 403"));
            rig.awaitMetric(1, "gateway_external_auth_decisions_total", "route=\"shop\"", "decision=\"denied\"");
            assertThat(app.requests("/a")).hasSize(10);
        }
    }

    /** A client that uses the gateway as a proxy shows it credentials, and may ask for hosts of a route, too. */
    @Test
    void theServerDoesNotGetCredentialsForTheGateway() throws Exception {
        List<String> asked = new CopyOnWriteArrayList<>();
        try (Origin app = app();
                Origin auth = Origin.start().on(CHECK, (stream, head) -> {
                    asked.add(stream.receiveBody());
                    stream.send(Head.response(200, "content-type", "application/grpc"), false);
                    stream.send(PLAIN_CONSENT, false);
                    stream.sendTrailers("grpc-status", "0");
                });
                Rig rig = Rig.start(yaml(app.port(), auth.port(), Pairing.H1_TO_H1, ""));
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            assertThat(ask(client, "proxy-authorization", "Basic YWxpY2U6cHc=", "x-key", "k"))
                    .startsWith("200 ");
            assertThat(asked)
                    .singleElement()
                    .asString()
                    .contains("x-key")
                    .doesNotContain("proxy-authorization", "YWxpY2U6cHc=");
        }
    }

    @ParameterizedTest
    @EnumSource
    @SuppressWarnings("try") // the server is closed before the gateway
    void aServerThatFailsDecidesNothing(Pairing pairing) throws Exception {
        String settings = "maxResponseBytes: 1KiB";
        try (Origin app = app();
                Origin auth = Origin.start();
                Rig rig = Rig.start(yaml(app.port(), auth.port(), pairing, settings));
                Peer client = rig.connect(pairing.client)) {
            assertError(client, rig, 1, "authz answered 404");

            auth.on(CHECK, (stream, head) -> {
                stream.receiveBody();
                stream.send(Head.response(200, "content-type", "application/grpc", "grpc-status", "12"), true);
            });
            assertError(client, rig, 2, "answered grpc-status 12 (UNIMPLEMENTED): it has no envoy.service.auth.v3");

            auth.on(CHECK, answering("something else".getBytes(StandardCharsets.UTF_8)));
            assertError(client, rig, 3, "answered with a compressed message");

            byte[] broken = CONSENT.clone();
            broken[8] = 99;
            auth.on(CHECK, answering(broken));
            assertError(client, rig, 4, "answered with a broken message");

            auth.on(CHECK, answering(new byte[100_000]));
            assertError(client, rig, 5, "answered with more than 1024 bytes");

            auth.on(CHECK, Behaviors.resetInBody());
            assertError(client, rig, 6, "answered 200, but not all of it came: upstream_reset_in_body");

            auth.on(CHECK, Behaviors.silence());
            rig.reload(yaml(app.port(), auth.port(), pairing, settings + "\ntimeout: 200ms"));
            assertError(client, rig, 7, "did not answer: upstream_timeout: no whole answer in 200 ms");
            assertThat(app.connections()).isZero();

            auth.on(CHECK, answering(PLAIN_CONSENT));
            assertThat(ask(client)).isEqualTo("200 ||||body");

            auth.close();
            assertError(client, rig, 9, "did not answer: ");
            rig.reload(yaml(app.port(), auth.port(), pairing, "onError: allow\nallowedResponseHeaders: [Remote-User]"));
            assertThat(ask(client, "remote-user", "forged")).isEqualTo("200 ||||body");
            rig.awaitMetric(9, "gateway_external_auth_decisions_total", "decision=\"error\"");
        }
    }

    /** What has begun is decided about as it began, also if the next configuration has no such server. */
    @CrossPairingTest
    void aReloadLeavesQuestionsAlone(Pairing pairing) throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch decide = new CountDownLatch(1);
        try (Origin app = app();
                Origin auth = Origin.start().on(CHECK, (stream, head) -> {
                    asked.countDown();
                    decide.await();
                    answering(CONSENT).serve(stream, head);
                });
                Rig rig = Rig.start(yaml(app.port(), auth.port(), pairing, ""));
                Peer client = rig.connect(pairing.client)) {
            PeerStream waiting = send(client);
            asked.await();
            rig.reload(
                    """
                    listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                    routes: [{name: shop, rules: [{backendRefs: [{name: app}]}]}]
                    upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s}]
                    admin: {address: 127.0.0.1, port: 0}
                    accessLog: {path: access.log}
                    """
                            .formatted(app.port(), pairing.upstream));
            decide.countDown();
            assertThat(waiting.receiveFinal().status()).isEqualTo(200);
            assertThat(waiting.receiveBody()).isEqualTo("b||||body");
            rig.awaitMetric(0, "gateway_config_generations_draining");
        }
    }

    /** One that others' code makes: the types of Envoy's project, and the gRPC of Go. */
    @Test
    void aRealServerUnderstandsAndIsUnderstood() throws Exception {
        Path program = directory.resolve("authz");
        Tools.Result built =
                Tools.run(150, List.of(Tools.find("go"), "build", "-C", "authz", "-o", program.toString(), "."));
        assertThat(built.exit()).as(built.output()).isZero();
        assertThat(Tools.run(program.toString(), "bytes").output().strip())
                .as("the bytes that other tests send")
                .isEqualTo(HexFormat.of().formatHex(CONSENT, 5, CONSENT.length));
        Process process =
                new ProcessBuilder(program.toString()).redirectErrorStream(true).start();
        try (BufferedReader out = process.inputReader()) {
            String address = out.readLine();
            int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
            for (Pairing pairing : Pairing.values()) {
                try (Origin app = app();
                        Rig rig = Rig.start(yaml(app.port(), port, pairing, "identityHeader: Remote-User"));
                        Peer client = rig.connect(pairing.client)) {
                    PeerStream stream = send(
                            client, "cookie", "session=ann", "x-key", "k", "content-length", "4", "x-asked", "forged");
                    Head answer = stream.receiveFinal();
                    assertThat(answer.status()).isEqualTo(200);
                    assertThat(answer.all("set-cookie")).containsExactly("session=new");
                    String protocol = pairing.client == Pairing.H1_TO_H1.client ? "HTTP/1.1" : "HTTP/2";
                    assertThat(stream.receiveBody())
                            .isEqualTo("|ann|POST http gateway.test /a?b=c " + protocol
                                    + " k 4 staff 127.0.0.1 true true true true||body");
                    PeerStream stranger = send(client);
                    Head refusal = stranger.receiveFinal();
                    assertThat(refusal.status()).isEqualTo(401);
                    assertThat(refusal.all("www-authenticate")).containsExactly("Basic");
                    assertThat(stranger.receiveBody()).isEqualTo("log in first");
                    assertThat(rig.awaitAccessLog(2))
                            .anySatisfy(line -> assertThat(line).contains("\"identity\":\"ann\""));
                }
            }
        } finally {
            Tools.stop(process);
        }
    }
}
