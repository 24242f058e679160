package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What dashboards read each second: the statistics as JSON, in the shape that the operator's guide promises. */
class StatisticsIT {
    @ParameterizedTest
    @EnumSource
    void theJsonTellsOfRequestsRoutesUpstreamsAndLoops(Pairing pairing) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (Origin origin = Origin.start()
                        .on("/ok", Behaviors.text("hello"))
                        .on("/reset", Behaviors.resetBeforeHead())
                        .on("/slow", (stream, head) -> {
                            arrived.countDown();
                            goOn.await();
                            Behaviors.text("late").serve(stream, head);
                        });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing);
                Peer other = rig.connect(pairing)) {
            for (int i = 0; i < 7; i++) {
                assertThat(send(client, "GET", "/ok")).isEqualTo(200);
            }
            assertThat(send(client, "POST", "/reset")).isEqualTo(502);
            PeerStream slow = other.open();
            slow.send(Head.request("GET", "/slow"), true);
            arrived.await();

            JsonNode stats = await(
                    rig, json -> json.at("/upstreams/0/endpoints/0/active").asInt() == 1);
            assertThat(stats.at("/schema").asInt()).isEqualTo(1);
            assertThat(stats.at("/config/generation").asInt()).isEqualTo(1);
            assertThat(stats.at("/totals/requestsTotal").asInt()).isEqualTo(9);
            assertThat(stats.at("/totals/requestsActive").asInt()).isEqualTo(1);
            assertThat(stats.at("/causes/upstream_reset_before_headers").asInt())
                    .isEqualTo(1);

            JsonNode listener = stats.at("/listeners/0");
            assertThat(listener.at("/name").asText()).isEqualTo("clear");
            assertThat(listener.at("/connections/active").asInt()).isEqualTo(2);
            assertThat(listener.at("/requests/total").asInt()).isEqualTo(9);
            assertThat(listener.at("/receivedBytes").asLong()).isPositive();
            assertThat(listener.at("/recent/p99").isNumber()).isTrue();

            JsonNode route = stats.at("/routes/0");
            assertThat(route.at("/listener").asText()).isEqualTo("clear");
            assertThat(route.at("/route").asText()).isEqualTo("all");
            assertThat(route.at("/requests").asInt()).isEqualTo(8);
            assertThat(route.at("/codes/2xx").asInt()).isEqualTo(7);
            assertThat(route.at("/codes/5xx").asInt()).isEqualTo(1);
            assertThat(sum(route.at("/latency/buckets"))).isEqualTo(8);
            assertThat(route.at("/latency/buckets").size())
                    .isEqualTo(stats.at("/latencyBoundsSeconds").size() + 1);

            JsonNode upstream = stats.at("/upstreams/0");
            assertThat(upstream.at("/name").asText()).isEqualTo("app");
            assertThat(upstream.at("/attempts/total").asInt()).isEqualTo(9);
            assertThat(upstream.at("/attempts/active").asInt()).isEqualTo(1);
            assertThat(upstream.at("/endpoints/0/address").asText()).isEqualTo("127.0.0.1:" + origin.port());
            assertThat(upstream.at("/endpoints/0/state").asText()).isEqualTo("healthy");

            assertThat(stats.at("/h2/upstream/streams").asInt()).isEqualTo(pairing.upstreamIsHttp2() ? 9 : 0);
            assertThat(stats.at("/h2/downstream/streams").asInt()).isEqualTo(pairing.client.isHttp2() ? 9 : 0);
            assertThat(stats.at("/eventLoops/0/lagSeconds").isNumber()).isTrue();
            assertThat(stats.at("/eventLoops/0/pendingTasks").isInt()).isTrue();
            assertThat(stats.at("/memory/heapUsedBytes").asLong()).isPositive();
            assertThat(stats.at("/certificates/0/listener").asText()).isEqualTo("secure");

            goOn.countDown();
            assertThat(slow.receiveFinal().status()).isEqualTo(200);
            assertThat(slow.receiveBody()).isEqualTo("late");
            await(
                    rig,
                    json -> json.at("/upstreams/0/connections/active").asInt()
                                    == json.at("/upstreams/0/connections/idle").asInt()
                            && json.at("/upstreams/0/endpoints/0/idle").asInt() > 0);
        }
    }

    @Test
    void anEndpointThatCouldNotBeReachedIsShownSo() throws Exception {
        try (Socket bound = new Socket()) { // never listens, so that nobody else does at its port
            bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            try (Rig rig = Rig.to(bound.getLocalPort()).start();
                    Peer client = rig.connect(Peers.HTTP1)) {
                JsonNode before = await(rig, json -> true);
                assertThat(before.at("/upstreams/0/endpoints/0/state").asText()).isEqualTo("healthy");
                assertThat(send(client, "GET", "/")).isEqualTo(502);
                await(rig, json -> json.at("/upstreams/0/endpoints/0/state")
                        .asText()
                        .equals("unreachable"));
                assertThat(rig.metric("gateway_upstream_endpoints", "state=\"unreachable\""))
                        .isEqualTo(1);
                assertThat(rig.metric("gateway_upstream_endpoints", "state=\"healthy\""))
                        .isEqualTo(0);
            }
        }
    }

    @Test
    void anEndpointThatCanBeReachedAgainIsHealthyAgain(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("app.sock");
        String yaml =
                """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, endpoints: [{unix: '%s'}]}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                """
                        .formatted(file);
        try (Rig rig = Rig.start(yaml);
                Peer client = rig.connect(Peers.HTTP1);
                ServerSocketChannel endpoint = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            assertThat(send(client, "GET", "/")).isEqualTo(502);
            await(rig, json -> stateOf(json).equals("unreachable"));
            endpoint.bind(UnixDomainSocketAddress.of(file));
            Thread answering = new Thread(() -> answerOnce(endpoint));
            answering.start();
            assertThat(send(client, "GET", "/")).isEqualTo(204);
            answering.join();
            await(rig, json -> stateOf(json).equals("healthy"));
            assertThat(rig.metric("gateway_upstream_endpoints", "state=\"unreachable\""))
                    .isEqualTo(0);
        }
    }

    private static String stateOf(JsonNode stats) {
        return stats.at("/upstreams/0/endpoints/0/state").asText();
    }

    private static void answerOnce(ServerSocketChannel server) {
        try (SocketChannel connection = server.accept()) {
            StringBuilder head = new StringBuilder();
            ByteBuffer buffer = ByteBuffer.allocate(4096);
            while (!head.toString().endsWith("\r\n\r\n") && connection.read(buffer) >= 0) {
                head.append(StandardCharsets.US_ASCII.decode(buffer.flip()));
                buffer.clear();
            }
            connection.write(StandardCharsets.US_ASCII.encode("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long sum(JsonNode array) {
        long sum = 0;
        for (JsonNode each : array) {
            sum += each.asLong();
        }
        return sum;
    }

    /** What comes from event loops by way of a sample comes within a second or so. */
    private static JsonNode await(Rig rig, Predicate<JsonNode> condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (true) {
            HttpResponse<String> page = rig.adminResponse("/stats?format=json");
            assertThat(page.headers().firstValue("content-type")).hasValue("application/json");
            JsonNode json = new ObjectMapper().readTree(page.body());
            if (condition.test(json)) {
                return json;
            }
            if (System.nanoTime() > deadline) {
                throw new IOException("not in time: " + json.toPrettyString());
            }
            LockSupport.parkNanos(20_000_000);
        }
    }

    private static int send(Peer client, String method, String path) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request(method, path, "content-length", "0"), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }
}
