package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What outlives many reloads does not keep each of the configurations that it began with. */
@Tag("jar")
@Timeout(90)
class OldGenerationsIT {
    private static final int RELOADS = 8;
    private static final int RULES = 30;
    private static final int UPSTREAMS = 100;

    private static String config(int origin, int generation) {
        String rules = IntStream.range(0, RULES)
                .mapToObj(i -> "{matches: [{path: {value: /%d}}], backendRefs: [{name: app}]}, ".formatted(i))
                .collect(Collectors.joining());
        return """
        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
        routes:
          - name: generation-%d
            rules: [%s{backendRefs: [{name: app}]}]
        upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
        connect: [{parentRefs: [{name: web}], allow: ["127.0.0.1"], allowedPorts: [%d], denyPrivate: false}]
        admin: {address: 127.0.0.1, port: 0}
        accessLog: {format: off}
        """
                .formatted(generation, rules, origin, origin);
    }

    /** A configuration of which no upstream is as it was before. */
    private static String changed(int origin, int generation) {
        String upstreams = IntStream.range(0, UPSTREAMS)
                .mapToObj(i -> "{name: app%d, timeouts: {connect: %ds}, endpoints: [{host: 127.0.0.1, port: %d}]}"
                        .formatted(i, generation + 1, origin))
                .collect(Collectors.joining(", "));
        return """
        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
        routes: [{rules: [{backendRefs: [{name: app0}]}]}]
        upstreams: [%s]
        admin: {address: 127.0.0.1, port: 0}
        accessLog: {format: off}
        drain: {timeout: 1s}
        workers: 4
        """
                .formatted(upstreams);
    }

    private static Socket send(GatewayJar gateway, String request) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port("web"));
        socket.setSoTimeout(Peer.PATIENCE_MILLIS);
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static void reload(GatewayJar gateway, String config) throws Exception {
        Files.writeString(gateway.directory().resolve("gateway.yaml"), config);
        assertThat(gateway.post("/reload").statusCode()).isEqualTo(200);
    }

    /** Sends a request, and returns when its response has begun. */
    private static Socket open(GatewayJar gateway, String request) throws IOException {
        Socket socket = send(gateway, request);
        assertThat(new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
                .isEqualTo("HTTP/1.1 200");
        return socket;
    }

    @Test
    void tunnelsAndLongResponsesKeepNoConfiguration() throws Exception {
        List<Socket> clients = new ArrayList<>();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.send(Head.response(200), false); // and never ends
                    stream.peer().awaitClosed();
                });
                GatewayJar gateway = GatewayJar.of(config(1, 0)).start()) {
            for (int i = 1; i <= RELOADS; i++) {
                reload(gateway, config(origin.port(), i));
                String authority = "127.0.0.1:" + origin.port();
                clients.add(open(gateway, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
                clients.add(open(gateway, "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n"));
            }
            assertThat(gateway.instances("dev.gateway.config.GatewayConfig")).isBetween(1, 3);
            assertThat(gateway.instances("dev.gateway.runtime.assembly.Generation"))
                    .isBetween(1, 3);
            assertThat(gateway.instances("dev.gateway.exchange.settings.ListenerPolicy"))
                    .isBetween(1, 3);
        } finally {
            for (Socket client : clients) {
                client.close();
            }
        }
    }

    @Test
    void requestsThatWaitForTheirAnswersKeepTheirOwnRuleOnly() throws Exception {
        Semaphore arrived = new Semaphore(0);
        List<Socket> clients = new ArrayList<>();
        try (Origin origin = Origin.start().otherwise((stream, head) -> {
                    arrived.release(); // and there is no answer
                    stream.peer().awaitClosed();
                });
                GatewayJar gateway = GatewayJar.of(config(1, 0)).start()) {
            for (int i = 1; i <= RELOADS; i++) {
                reload(gateway, config(origin.port(), i));
                clients.add(send(gateway, "GET /7 HTTP/1.1\r\nHost: localhost\r\n\r\n"));
                assertThat(arrived.tryAcquire(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
                        .isTrue();
            }
            reload(gateway, config(origin.port(), RELOADS + 1));
            assertThat(gateway.metric("gateway_config_generations_draining")).isEqualTo(RELOADS);
            assertThat(gateway.instances("dev.gateway.runtime.assembly.Generation"))
                    .isEqualTo(1);
            assertThat(gateway.instances("dev.gateway.exchange.route.RouteTable"))
                    .isBetween(1, 3);
            assertThat(gateway.instances("dev.gateway.exchange.route.Route"))
                    .isBetween(RULES + RELOADS, 3 * RULES + RELOADS);
        } finally {
            for (Socket client : clients) {
                client.close();
            }
        }
    }

    @Test
    void theOldestGiveWayWhenEarlierOnesHoldTooMuch() throws Exception {
        Semaphore arrived = new Semaphore(0);
        CountDownLatch answers = new CountDownLatch(1);
        List<Socket> clients = new ArrayList<>();
        try (Origin origin = Origin.start().otherwise((stream, head) -> {
                    arrived.release();
                    answers.await();
                    stream.send(Head.response(200), true);
                });
                GatewayJar gateway = GatewayJar.of(changed(1, 0)).heap("64m").start()) {
            for (int i = 1; i <= RELOADS + 2; i++) {
                reload(gateway, changed(origin.port(), i));
                clients.add(send(gateway, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
                assertThat(arrived.tryAcquire(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
                        .isTrue();
            }
            gateway.awaitLog(
                    "Ending what generation 2 still serves, exchanges: 1. Earlier generations hold more than 7 MiB");
            assertThat(clients.get(0).getInputStream().readNBytes(12))
                    .asString()
                    .isEqualTo("HTTP/1.1 503");
            assertThat(gateway.metric("gateway_downstream_requests_total", "cause=\"drain\"", "code=\"503\""))
                    .isPositive();
            answers.countDown();
            assertThat(clients.get(clients.size() - 1).getInputStream().readNBytes(12))
                    .asString()
                    .isEqualTo("HTTP/1.1 200");
        } finally {
            answers.countDown();
            for (Socket client : clients) {
                client.close();
            }
        }
    }
}
