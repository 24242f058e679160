package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Origin.Behavior;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.WebSocket;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Another upstream gets copies of requests, and whatever it does, clients notice nothing. */
@Timeout(90)
class MirrorIT {
    private static final String COPIES = "gateway_mirror_requests_total";
    private static final int CHUNK = 16 << 10;

    /** A request as an origin has got it. */
    private record Received(Head head, String body, List<Map.Entry<String, String>> trailers) {
        /** Returns what both origins must see alike. */
        String essence() {
            return head.method() + " " + head.target() + " " + head.all("host") + head.all("x-tier")
                    + head.all("content-type") + " " + body + " " + trailers;
        }
    }

    private final BlockingQueue<Received> atApp = new LinkedBlockingQueue<>();
    private final BlockingQueue<Received> atNext = new LinkedBlockingQueue<>();

    private static Behavior recorder(BlockingQueue<Received> into, String answer) {
        return (stream, head) -> {
            String body = stream.receiveBody();
            into.add(new Received(head, body, stream.trailers()));
            stream.send(Head.response(200, "content-length", Integer.toString(answer.length())), false);
            stream.send(answer, true);
        };
    }

    private static Received take(BlockingQueue<Received> from) throws InterruptedException {
        Received received = from.poll(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        assertThat(received).as("a request").isNotNull();
        return received;
    }

    private static String yaml(int app, int next, Pairing pairing, String mirror, String upstream) {
        return """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                drain: {timeout: 1h}
                routes:
                  - name: shop
                    rules:
                      - filters: [{type: RequestMirror, requestMirror: {backendRef: {name: next}%s}}]
                        backendRefs: [{name: app}]
                upstreams:
                  - {name: app, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s}
                  - {name: next, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s%s}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {path: access.log}
                """
                .formatted(mirror, app, pairing.upstream, next, pairing.upstream, upstream);
    }

    private static String yaml(Origin app, Origin next, Pairing pairing) {
        return yaml(app.port(), next.port(), pairing, "", "");
    }

    private static PeerStream send(Peer client, String method, String path, String body) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request(method, path, "x-tier", "gold", "content-type", "text/plain"), body.isEmpty());
        if (!body.isEmpty()) {
            stream.send(body, true);
        }
        return stream;
    }

    private static String answer(PeerStream stream) throws IOException {
        int status = stream.receiveFinal().status();
        return status + " " + stream.receiveBody();
    }

    private static void awaitResult(Rig rig, int count, String result) throws Exception {
        rig.awaitMetric(count, COPIES, "route=\"shop\"", "upstream=\"next\"", "result=\"" + result + "\"");
    }

    // ---- what a copy is

    @ParameterizedTest
    @EnumSource
    void bothUpstreamsGetTheSameRequests(Pairing pairing) throws Exception {
        try (Origin app = Origin.start().otherwise(recorder(atApp, "of app"));
                Origin next = Origin.start().otherwise(recorder(atNext, "of next"));
                Rig rig = Rig.start(yaml(app, next, pairing));
                Peer client = rig.connect(pairing.client)) {
            for (int i = 1; i <= 10; i++) {
                String body = i % 2 == 0 ? "" : "body ".repeat(i * 100);
                PeerStream stream = send(client, i % 2 == 0 ? "GET" : "POST", "/a/" + i + "?b=c", body);
                assertThat(answer(stream)).isEqualTo("200 of app");
                Received copy = take(atNext);
                assertThat(copy.essence()).isEqualTo(take(atApp).essence());
                assertThat(copy.body).isEqualTo(body);
                awaitResult(rig, i, "2xx");
            }
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/trailers", "trailer", "x-sum"), false);
            stream.send("with trailers", false);
            stream.sendTrailers("x-sum", "7");
            assertThat(answer(stream)).isEqualTo("200 of app");
            Received copy = take(atNext);
            assertThat(copy.trailers).containsExactly(Map.entry("x-sum", "7"));
            assertThat(copy.essence()).isEqualTo(take(atApp).essence());

            assertThat(next.connections()).as("connections for eleven copies").isEqualTo(1);
            rig.awaitMetric(11, COPIES);
            assertThat(rig.awaitAccessLog(11)).hasSize(11).allSatisfy(line -> assertThat(line)
                    .contains("\"upstream\":\"app\"", "\"attempts\":1"));
            rig.awaitMetric(11, "gateway_upstream_requests_total", "upstream=\"next\"", "code_class=\"2xx\"");
            rig.awaitMetric(0, "gateway_mirror_requests_active");
        }
    }

    /** As in a gRPC call: each message gets an answer before the next one is sent. */
    @CrossPairingTest
    void eachPartOfAStreamIsCopiedWhenItIsSent(Pairing pairing) throws Exception {
        BlockingQueue<Integer> arrived = new LinkedBlockingQueue<>();
        CRC32 copied = new CRC32();
        try (Origin app = Origin.start().on("/echo", Behaviors.echo());
                Origin next = Origin.start().on("/echo", (stream, head) -> {
                    stream.send(Head.response(200), false);
                    byte[] buffer = new byte[CHUNK];
                    for (int n = stream.receive(buffer); n >= 0; n = stream.receive(buffer)) {
                        copied.update(buffer, 0, n);
                        arrived.add(n);
                    }
                    stream.send("", true);
                });
                Rig rig = Rig.start(yaml(app, next, pairing));
                Peer client = rig.connect(pairing.client)) {
            CRC32 sent = new CRC32();
            Random random = new Random(1);
            byte[] chunk = new byte[CHUNK];
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/echo"), false);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            for (int i = 0; i < 64; i++) { // 1 MiB
                random.nextBytes(chunk);
                sent.update(chunk);
                stream.send(chunk, false);
                receive(stream, chunk);
                for (int left = CHUNK; left > 0; ) {
                    Integer part = arrived.poll(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
                    assertThat(part).as("a part of the copy").isNotNull();
                    left -= part;
                }
            }
            stream.send("", true);
            assertThat(stream.receiveBody()).isEmpty();
            awaitResult(rig, 1, "2xx");
            assertThat(copied.getValue()).isEqualTo(sent.getValue());
        }
    }

    private static void receive(PeerStream stream, byte[] expected) throws IOException {
        byte[] buffer = new byte[expected.length];
        int at = 0;
        while (at < expected.length) {
            int n = stream.receive(buffer);
            assertThat(n).isPositive();
            for (int i = 0; i < n; i++) {
                assertThat(buffer[i]).isEqualTo(expected[at + i]);
            }
            at += n;
        }
    }

    @CrossPairingTest
    void anUploadIsCopiedAtTheSpeedOfTheNetwork(Pairing pairing) throws Exception {
        String body = "0123456789abcdef".repeat(1 << 16); // 1 MiB
        try (Origin app = Origin.start().otherwise(recorder(atApp, "of app"));
                Origin next = Origin.start().otherwise(recorder(atNext, "of next"));
                Rig rig = Rig.start(yaml(app, next, pairing));
                Peer client = rig.connect(pairing.client)) {
            assertThat(answer(send(client, "PUT", "/large", body))).isEqualTo("200 of app");
            assertThat(take(atApp).body).isEqualTo(body);
            rig.awaitMetric(1, COPIES, "route=\"shop\"");
            // On a busy machine the copy may be behind by more than it may hold; then none of it counts.
            assertThat(rig.metric(COPIES, "result=\"2xx\"") + rig.metric(COPIES, "result=\"slow\""))
                    .isEqualTo(1);
            atNext.forEach(copy -> assertThat(copy.body).isEqualTo(body));
        }
    }

    /** Unlike a larger one, it fits into what may wait, so no delay of the machine makes the copy slow. */
    @CrossPairingTest
    void aModerateBodyIsCopiedWhole(Pairing pairing) throws Exception {
        String body = "0123456789abcdef".repeat(1 << 14); // 256 KiB
        try (Origin app = Origin.start().otherwise(recorder(atApp, "of app"));
                Origin next = Origin.start().otherwise(recorder(atNext, "of next"));
                Rig rig = Rig.start(yaml(app, next, pairing));
                Peer client = rig.connect(pairing.client)) {
            for (int i = 1; i <= 5; i++) {
                assertThat(answer(send(client, "PUT", "/moderate", body))).isEqualTo("200 of app");
                assertThat(take(atApp).body).isEqualTo(body);
                assertThat(take(atNext).body).isEqualTo(body);
                awaitResult(rig, i, "2xx");
            }
            rig.awaitMetric(5, COPIES);
        }
    }

    @CrossPairingTest
    void aRequestThatIsSentAgainIsCopiedOnce(Pairing pairing) throws Exception {
        try (Origin broken = Origin.start().otherwise((stream, head) -> {
                    stream.receiveBody();
                    stream.reset();
                });
                Origin app = Origin.start().otherwise(recorder(atApp, "of app"));
                Origin next = Origin.start().otherwise(recorder(atNext, "of next"));
                Rig rig = Rig.start(yaml(app, next, pairing)
                        .replace(
                                "name: app, endpoints: [",
                                "name: app, loadBalancer: RoundRobin, endpoints: [{host: 127.0.0.1, port: "
                                        + broken.port() + "}, ")
                        .replace(
                                "backendRefs: [{name: app}]",
                                "backendRefs: [{name: app}]\n        retry: {methods: [PUT]}"));
                Peer client = rig.connect(pairing.client)) {
            for (int i = 1; i <= 4; i++) {
                assertThat(answer(send(client, "PUT", "/" + i, "body " + i))).isEqualTo("200 of app");
                assertThat(take(atNext).essence()).isEqualTo(take(atApp).essence());
            }
            rig.awaitMetric(4, COPIES);
            awaitResult(rig, 4, "2xx");
            assertThat(rig.metric("gateway_upstream_requests_total", "upstream=\"app\"", "attempt=\"retry\""))
                    .isPositive();
            assertThat(atNext).isEmpty();
        }
    }

    @CrossPairingTest
    void aWebSocketIsNotCopied(Pairing pairing) throws Exception {
        try (Origin app = Origin.start(Handshake.ENABLE_CONNECT_PROTOCOL, 1).on("/echo", WebSocket::echo);
                Origin next = Origin.start().otherwise(recorder(atNext, "of next"));
                Rig rig = Rig.start(yaml(app, next, pairing));
                Peer client = rig.connect(pairing.client)) {
            WebSocket socket = new WebSocket(Handshake.open(client, "/echo"), true);
            socket.text("hello");
            assertThat(socket.receive().text()).isEqualTo("hello");
            socket.close(1000);
            socket.receive();
            socket.end();
            rig.awaitMetric(0, COPIES);
            assertThat(next.connections()).isZero();
        }
    }

    // ---- an upstream of copies that does badly

    /** Uploads a body that the upstream sends back, and compares every byte. */
    private static void echo(Peer client, int bytes) throws Exception {
        byte[] body = new byte[bytes];
        new Random(bytes).nextBytes(body);
        PeerStream stream = client.open();
        stream.send(Head.request("POST", "/echo"), false);
        CompletableFuture<Void> sending = CompletableFuture.runAsync(() -> {
            try {
                stream.send(body, true);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        CRC32 expected = new CRC32();
        expected.update(body);
        CRC32 received = new CRC32();
        int length = 0;
        byte[] buffer = new byte[CHUNK];
        for (int n = stream.receive(buffer); n >= 0; n = stream.receive(buffer)) {
            received.update(buffer, 0, n);
            length += n;
        }
        sending.get();
        assertThat(length).isEqualTo(bytes);
        assertThat(received.getValue()).isEqualTo(expected.getValue());
    }

    private static void assertUnharmed(Rig rig, Origin app, int requests) throws Exception {
        assertThat(app.requests("/echo")).hasSize(requests);
        assertThat(rig.awaitAccessLog(requests)).hasSize(requests).allSatisfy(line -> assertThat(line)
                .contains("\"status\":200", "\"attempts\":1")
                .doesNotContain("\"cause\""));
    }

    /** What the kernel answers for a process that is stopped: it accepts connections and some bytes. */
    @CrossPairingTest
    void anUpstreamThatTakesNothingCostsTheCopyOnly(Pairing pairing) throws Exception {
        try (Origin app = Origin.start().on("/echo", Behaviors.echo());
                ServerSocket stopped = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                Rig rig = Rig.start(yaml(app.port(), stopped.getLocalPort(), pairing, "", ""));
                Peer client = rig.connect(pairing.client)) {
            echo(client, 32 << 20);
            awaitResult(rig, 1, "slow");
            assertUnharmed(rig, app, 1);
        }
    }

    @CrossPairingTest
    void anUpstreamThatReadsNoBodyCostsTheCopyOnly(Pairing pairing) throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        try (Origin app = Origin.start().on("/echo", Behaviors.echo());
                Origin next = Origin.start().on("/echo", (stream, head) -> done.await());
                Rig rig = Rig.start(yaml(app, next, pairing));
                Peer client = rig.connect(pairing.client)) {
            echo(client, 32 << 20);
            awaitResult(rig, 1, "slow");
            done.countDown();
            assertUnharmed(rig, app, 1);
        }
    }

    @CrossPairingTest
    void anUpstreamThatDoesNotAnswerIsGivenUp(Pairing pairing) throws Exception {
        try (Origin app = Origin.start().on("/echo", Behaviors.echo());
                Origin next = Origin.start().on("/echo", Behaviors.silence());
                Rig rig =
                        Rig.start(yaml(app.port(), next.port(), pairing, "", ", timeouts: {responseHeaders: 200ms}"));
                Peer client = rig.connect(pairing.client)) {
            echo(client, 0);
            echo(client, 1000);
            awaitResult(rig, 2, "timeout");
            assertUnharmed(rig, app, 2);
        }
    }

    @CrossPairingTest
    void anUpstreamThatRefusesConnectionsCostsTheCopyOnly(Pairing pairing) throws Exception {
        try (Origin app = Origin.start().on("/echo", Behaviors.echo());
                Rig rig = Rig.start(yaml(app.port(), ClosedPort.number(), pairing, "", ""));
                Peer client = rig.connect(pairing.client)) {
            for (int i = 0; i < 10; i++) {
                echo(client, 100_000);
            }
            rig.awaitMetric(10, COPIES);
            assertThat(rig.metric(COPIES, "result=\"unreachable\"")).isPositive();
            assertUnharmed(rig, app, 10);
        }
    }

    @CrossPairingTest
    void anUpstreamThatBreaksOffCostsTheCopyOnly(Pairing pairing) throws Exception {
        try (Origin app = Origin.start().on("/echo", Behaviors.echo());
                Origin next = Origin.start().on("/echo", (stream, head) -> {
                    byte[] some = new byte[1000];
                    stream.receive(some);
                    stream.reset();
                });
                Rig rig = Rig.start(yaml(app, next, pairing));
                Peer client = rig.connect(pairing.client)) {
            for (int i = 0; i < 10; i++) {
                echo(client, 100_000);
            }
            rig.awaitMetric(10, COPIES);
            assertThat(rig.metric(COPIES, "result=\"broken\"")).isPositive();
            assertThat(next.requests("/echo")).hasSizeLessThanOrEqualTo(10);
            assertUnharmed(rig, app, 10);
        }
    }

    @CrossPairingTest
    void longAnswersAreCutOff(Pairing pairing) throws Exception {
        CountDownLatch cut = new CountDownLatch(1);
        try (Origin app = Origin.start().on("/echo", Behaviors.echo());
                Origin next = Origin.start().on("/echo", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200), false);
                    byte[] block = new byte[CHUNK];
                    try {
                        while (true) {
                            stream.send(block, false);
                        }
                    } catch (IOException e) {
                        cut.countDown();
                    }
                });
                Rig rig = Rig.start(yaml(app, next, pairing));
                Peer client = rig.connect(pairing.client)) {
            echo(client, 1000);
            awaitResult(rig, 1, "2xx");
            assertThat(cut.await(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
            assertUnharmed(rig, app, 1);
        }
    }

    @CrossPairingTest
    void limitsOfTheUpstreamHoldForCopies(Pairing pairing) throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        try (Origin app = Origin.start().on("/echo", Behaviors.echo());
                Origin next = Origin.start().on("/echo", (stream, head) -> {
                    asked.countDown();
                    stream.receiveBody();
                    go.await();
                    stream.send(Head.response(204), true);
                });
                Rig rig = Rig.start(yaml(
                        app.port(),
                        next.port(),
                        pairing,
                        "",
                        ", circuitBreaker: {maxRequests: 1, maxPendingRequests: 1}"));
                Peer client = rig.connect(pairing.client)) {
            echo(client, 1000);
            asked.await();
            for (int i = 0; i < 3; i++) {
                echo(client, 1000);
            }
            assertThat(rig.metric(COPIES, "result=\"2xx\"")).isZero();
            rig.awaitMetric(3, COPIES, "result=\"limit\"");
            go.countDown();
            awaitResult(rig, 1, "2xx");
            assertUnharmed(rig, app, 4);
        }
    }

    // ---- how long a copy lasts

    @CrossPairingTest
    void aClientThatLeavesEndsTheCopy(Pairing pairing) throws Exception {
        BlockingQueue<String> ends = new LinkedBlockingQueue<>();
        Behavior reader = (stream, head) -> {
            try {
                stream.receiveBody();
                ends.add("whole");
            } catch (IOException e) {
                ends.add("broken");
            }
        };
        CountDownLatch begun = new CountDownLatch(2);
        Behavior awaited = (stream, head) -> {
            stream.receive(new byte[10]);
            begun.countDown();
            reader.serve(stream, head);
        };
        try (Origin app = Origin.start().on("/", awaited);
                Origin next = Origin.start().on("/", awaited);
                Rig rig = Rig.start(yaml(app, next, pairing));
                Peer client = rig.connect(pairing.client)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-length", "1000"), false);
            stream.send("half", false);
            assertThat(begun.await(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
            stream.reset();
            awaitResult(rig, 1, "aborted");
            for (int i = 0; i < 2; i++) {
                assertThat(ends.poll(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
                        .isEqualTo("broken");
            }
            assertThat(rig.awaitAccessLog(1).get(0)).contains("\"cause\":\"client_closed\"");
        }
    }

    /** A copy that began with a configuration ends with it. */
    @CrossPairingTest
    void aReloadLeavesCopiesAlone(Pairing pairing) throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        try (Origin app = Origin.start().on("/echo", Behaviors.echo());
                Origin next = Origin.start().on("/echo", (stream, head) -> {
                    asked.countDown();
                    stream.receiveBody();
                    go.await();
                    stream.send(Head.response(204), true);
                });
                Rig rig = Rig.start(yaml(app, next, pairing));
                Peer client = rig.connect(pairing.client);
                Peer other = rig.connect(pairing.client)) {
            echo(client, 1000);
            asked.await();
            rig.awaitMetric(1, "gateway_mirror_requests_active", "upstream=\"next\"");
            rig.reload(yaml(app.port(), next.port(), pairing, ", percent: 0", ""));
            echo(other, 1000);
            rig.awaitMetric(1, "gateway_config_generations_draining");
            go.countDown();
            awaitResult(rig, 1, "2xx");
            rig.awaitMetric(0, "gateway_config_generations_draining");
            rig.awaitMetric(1, COPIES);
            assertUnharmed(rig, app, 2);
        }
    }

    /** The timeouts of copy and drain are hours, so waiting for the copy would fail the test. */
    @CrossPairingTest
    void aDrainDoesNotWaitForCopies(Pairing pairing) throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        try (Origin app = Origin.start().on("/echo", Behaviors.echo());
                Origin next = Origin.start().on("/echo", (stream, head) -> {
                    stream.receiveBody();
                    asked.countDown();
                    stream.peer().awaitClosed();
                    ended.countDown();
                });
                Rig rig = Rig.start(yaml(app.port(), next.port(), pairing, "", ", timeouts: {responseHeaders: 1h}"));
                Peer client = rig.connect(pairing.client)) {
            echo(client, 1000);
            asked.await();
            rig.stop();
            assertThat(ended.await(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
        }
    }

    // ---- which requests are copied

    @Test
    void aShareOfTheRequestsIsCopiedToEachUpstream() throws Exception {
        int requests = 400;
        Pairing pairing = Pairing.H1_TO_H1;
        try (Origin app = Origin.start().on("/echo", Behaviors.echo());
                Origin next = Origin.start().on("/echo", Behaviors.text("ok"));
                Rig rig = Rig.start(yaml(app.port(), next.port(), pairing, ", percent: 50", "")
                        .replace(
                                "percent: 50}}",
                                "percent: 50}}, {type: RequestMirror, requestMirror: {backendRef: {name: all}, fraction: "
                                        + "{numerator: 3, denominator: 3}}}")
                        .replace(
                                "\nadmin:",
                                "\n  - {name: all, endpoints: [{host: 127.0.0.1, port: " + next.port()
                                        + "}]}\nadmin:"));
                Peer client = rig.connect(pairing.client)) {
            List<String> answers = new ArrayList<>();
            for (int i = 0; i < requests; i++) {
                answers.add(answer(send(client, "POST", "/echo", "order")));
            }
            assertThat(answers).hasSize(requests).containsOnly("200 order");
            assertThat(app.requests("/echo")).hasSize(requests);
            rig.awaitMetric(requests, COPIES, "upstream=\"all\"", "result=\"2xx\"");
            rig.awaitMetric(0, "gateway_mirror_requests_active");
            double copies = rig.metric(COPIES, "upstream=\"next\"");
            assertThat(copies).as("copies of half of the requests").isBetween(120.0, 280.0); // eight deviations of ten
            assertThat(next.requests("/echo")).hasSize(requests + (int) copies);
        }
    }

    /** A copy of a copy would never end. */
    @Test
    void aCopyForTheGatewayItselfIsALoop() throws Exception {
        try (Origin app = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.start(
                        """
                        listeners:
                          - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                          - {name: local, unix: loop.sock, protocol: HTTP}
                        routes:
                          - name: shop
                            rules:
                              - filters: [{type: RequestMirror, requestMirror: {backendRef: {name: next}}}]
                                backendRefs: [{name: app}]
                        upstreams:
                          - {name: app, endpoints: [{host: 127.0.0.1, port: %d}]}
                          - {name: next, endpoints: [{unix: loop.sock}]}
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {path: access.log}
                        """
                                .formatted(app.port()));
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            assertThat(answer(send(client, "GET", "/", ""))).isEqualTo("200 ok");
            awaitResult(rig, 1, "5xx");
            assertThat(rig.awaitAccessLog(2))
                    .anySatisfy(line -> assertThat(line).contains("\"cause\":\"loop_detected\""));
            assertThat(app.requests("/")).hasSize(1);
        }
    }
}
