package dev.gateway.tests;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviours;
import dev.gateway.tests.peer.Origin;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An endpoint that takes connections and requests, and never answers, costs what it holds of its share and no more. */
@Tag("jar")
@Timeout(60)
class HangingEndpointIT {
    private static final int REQUESTS = 300;
    private static final int AT_A_TIME = 60;

    /** What one of three may hold of 32 connections, and the two that rounding leaves. */
    private static final int SHARE = 12;

    @Test
    void twoThirdsOfAnUpstreamGoOnWhileOneThirdHangs() throws Exception {
        List<Socket> hanging = new CopyOnWriteArrayList<>();
        try (Origin first = Origin.start().on("/", Behaviours.text("ok"));
                Origin second = Origin.start().on("/", Behaviours.text("ok"));
                ServerSocket hangs = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                                upstreams:
                                  - name: app
                                    endpoints:
                                      - {host: 127.0.0.1, port: %d}
                                      - {host: 127.0.0.1, port: %d}
                                      - {host: 127.0.0.1, port: %d}
                                    circuitBreaker: {maxConnections: 32}
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: off}
                                """
                                        .formatted(first.port(), hangs.getLocalPort(), second.port()))
                        .start()) {
            Thread acceptor = new Thread(() -> accept(hangs, hanging));
            acceptor.setDaemon(true);
            acceptor.start();

            Counts counts = load(gateway.port("web"));
            assertThat(counts.failed).as("refused").hasValue(0);
            assertThat(counts.answered.get()).isGreaterThanOrEqualTo(REQUESTS - SHARE);
            assertThat(hanging).hasSizeLessThanOrEqualTo(SHARE);
        } finally {
            for (Socket each : hanging) {
                each.close();
            }
        }
    }

    private static void accept(ServerSocket server, List<Socket> accepted) {
        try {
            while (true) {
                accepted.add(server.accept());
            }
        } catch (java.io.IOException e) {
            // The test is over.
        }
    }

    private static final class Counts {
        final AtomicInteger answered = new AtomicInteger();
        final AtomicInteger failed = new AtomicInteger();
    }

    /** Sends all requests, so many at a time, and waits until only those are left that the one that hangs may hold. */
    private static Counts load(int port) throws InterruptedException {
        Counts counts = new Counts();
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/"))
                .build();
        Semaphore free = new Semaphore(AT_A_TIME);
        CountDownLatch ended = new CountDownLatch(REQUESTS - SHARE);
        for (int i = 0; i < REQUESTS && free.tryAcquire(15, TimeUnit.SECONDS); i++) {
            client.sendAsync(request, HttpResponse.BodyHandlers.ofString()).whenComplete((response, failure) -> {
                if (failure == null && response.statusCode() == 200) {
                    counts.answered.incrementAndGet();
                } else {
                    counts.failed.incrementAndGet();
                }
                ended.countDown();
                free.release();
            });
        }
        ended.await(15, TimeUnit.SECONDS);
        return counts;
    }
}
