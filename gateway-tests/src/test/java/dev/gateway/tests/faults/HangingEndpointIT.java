package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An endpoint that hangs costs what it holds of its share and no more; the others are served as ever. */
@Tag("jar")
@Timeout(60)
class HangingEndpointIT {
    private static final int REQUESTS = 300;
    private static final int AT_A_TIME = 60;

    /** What one of three may hold of 32 connections, and the two that rounding leaves. */
    private static final int SHARE = 12;

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @Test
    void twoThirdsOfAnUpstreamGoOnWhileTheProcessOfOneThirdIsStopped() throws Exception {
        try (Origin first = Origin.start().on("/", Behaviors.text("ok"));
                Origin second = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar stopped = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes:
                                  - rules:
                                      - filters: [{type: RequestRedirect, requestRedirect: {hostname: a.test}}]
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: off}
                                """)
                        .start();
                GatewayJar gateway = gateway(
                        "circuitBreaker: {maxConnections: 32}", first.port(), stopped.port("web"), second.port())) {
            stopped.signal("STOP");
            Counts counts = load(gateway);
            assertThat(counts.failed).hasValue(0);
            assertThat(counts.answered.get()).isGreaterThanOrEqualTo(REQUESTS - SHARE);
        }
    }

    @Test
    void whoDoesNotAnswerFiveTimesInARowIsLeftAlone() throws Exception {
        try (Origin well = Origin.start().on("/", Behaviors.text("ok"));
                Origin silent = Origin.start().on("/", Behaviors.silence());
                GatewayJar gateway = gateway("timeouts: {responseHeaders: 200ms}", well.port(), silent.port())) {
            List<Integer> statuses = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                statuses.add(get(gateway).statusCode());
            }
            assertThat(statuses).as("not asked again elsewhere").contains(504);
            assertThat(statuses.subList(10, 20)).as("they took turns").containsOnly(200);
            assertThat(gateway.log())
                    .contains(
                            "127.0.0.1:" + silent.port() + " of upstream app has failed too often and is ejected for");
            assertThat(gateway.json("/upstreams")
                            .at("/upstreams/0/endpoints/1/state")
                            .asText())
                    .isEqualTo("ejected");
        }
    }

    @Test
    void whoDoesNotTakeConnectionsIsToldAsConnectTimeout() throws Exception {
        try (BlackHole hole = new BlackHole();
                GatewayJar gateway = gateway("timeouts: {connect: 1s, poolAcquire: 1s}", hole.port())) {
            HttpResponse<String> response = get(gateway);
            assertThat(response.statusCode()).as(response.body()).isEqualTo(504);
            assertThat(response.headers().firstValue("Proxy-Status").orElse("")).contains("connect_timeout");
        }
    }

    @Test
    void aRequestDoesNotWaitForOneEndpointsConnectionWhileAnotherHasRoom() throws Exception {
        try (BlackHole hole = new BlackHole();
                Origin well = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = gateway("timeouts: {connect: 4s}", hole.port(), well.port())) {
            for (int i = 0; i < 4; i++) {
                HttpResponse<String> response = client.send(
                        HttpRequest.newBuilder(uri(gateway))
                                .POST(HttpRequest.BodyPublishers.ofString("not to be sent twice"))
                                .build(),
                        BodyHandlers.ofString());
                assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
            }
        }
    }

    /** Two connections may be made: one is in use, the other never comes, and a third request waits until it is given up. */
    @Test
    void whoHasItsPermitInTimeIsToldOfTheConnectionThatItWaitedFor() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                GatewayJar gateway = gateway(
                        "circuitBreaker: {maxConnections: 2}\n    timeouts: {connect: 1s, poolAcquire: 1500ms}",
                        server.getLocalPort())) {
            CompletableFuture<HttpResponse<String>> first = getLater(gateway);
            gateway.await("its connection", () -> active(gateway) == 1);
            try (BlackHole hole = new BlackHole(server)) {
                CompletableFuture<HttpResponse<String>> second = getLater(gateway);
                CompletableFuture<HttpResponse<String>> third = getLater(gateway);
                for (CompletableFuture<HttpResponse<String>> each : List.of(second, third)) {
                    HttpResponse<String> response = each.get();
                    assertThat(response.statusCode()).as(response.body()).isEqualTo(504);
                    assertThat(response.body()).contains("connect_timeout");
                }
                assertThat(hole.port()).isEqualTo(server.getLocalPort());
            }
            assertThat(first.isDone()).isFalse();
        }
    }

    private CompletableFuture<HttpResponse<String>> getLater(GatewayJar gateway) {
        return client.sendAsync(HttpRequest.newBuilder(uri(gateway)).build(), BodyHandlers.ofString());
    }

    private static double active(GatewayJar gateway) {
        try {
            return gateway.metric("gateway_upstream_connections_active");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A port whose queue of connections is full, so that the kernel drops each SYN. */
    private static final class BlackHole implements AutoCloseable {
        private final ServerSocket server;
        private final List<SocketChannel> queued = new ArrayList<>();

        BlackHole() throws IOException {
            this(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
        }

        BlackHole(ServerSocket server) throws IOException {
            this.server = server;
            boolean full = false;
            while (!full) {
                SocketChannel channel = SocketChannel.open();
                queued.add(channel);
                try {
                    channel.socket().connect(new InetSocketAddress(server.getInetAddress(), port()), 500);
                } catch (SocketTimeoutException e) {
                    full = true;
                }
            }
        }

        int port() {
            return server.getLocalPort();
        }

        @Override
        public void close() throws IOException {
            for (SocketChannel each : queued) {
                each.close();
            }
            server.close();
        }
    }

    private static GatewayJar gateway(String settings, int... ports) throws Exception {
        StringBuilder endpoints = new StringBuilder();
        for (int port : ports) {
            endpoints.append("{host: 127.0.0.1, port: ").append(port).append("}, ");
        }
        return GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes:
                          - rules:
                              - matches: [{method: POST}]
                                backendRefs: [{name: app}]
                                timeouts: {backendRequest: 2s}
                              - backendRefs: [{name: app}]
                        upstreams:
                          - name: app
                            loadBalancer: RoundRobin
                            endpoints: [%s]
                            %s
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(endpoints, settings))
                .start();
    }

    private static URI uri(GatewayJar gateway) {
        return URI.create("http://127.0.0.1:" + gateway.port("web") + "/");
    }

    private HttpResponse<String> get(GatewayJar gateway) throws Exception {
        return client.send(HttpRequest.newBuilder(uri(gateway)).build(), BodyHandlers.ofString());
    }

    private static final class Counts {
        final AtomicInteger answered = new AtomicInteger();
        final AtomicInteger failed = new AtomicInteger();
    }

    /** Sends all requests, so many at a time, and waits until only those are left that the one that hangs may hold. */
    private Counts load(GatewayJar gateway) throws InterruptedException {
        Counts counts = new Counts();
        HttpRequest request = HttpRequest.newBuilder(uri(gateway)).build();
        Semaphore free = new Semaphore(AT_A_TIME);
        CountDownLatch ended = new CountDownLatch(REQUESTS - SHARE);
        for (int i = 0; i < REQUESTS && free.tryAcquire(15, TimeUnit.SECONDS); i++) {
            var unused = client.sendAsync(request, BodyHandlers.ofString()).whenComplete((response, failure) -> {
                if (failure == null && response.statusCode() == 200) {
                    counts.answered.incrementAndGet();
                } else {
                    counts.failed.incrementAndGet();
                }
                ended.countDown();
                free.release();
            });
        }
        assertThat(ended.await(15, TimeUnit.SECONDS))
                .as("%s ended", counts.answered)
                .isTrue();
        return counts;
    }
}
