package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.RestartedOrigin;
import dev.gateway.tests.support.Rig;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The only endpoint is down, and comes back when requests wait for it. */
@Timeout(60)
class ConnectWaitIT {
    private static final String WAITING = "gateway_upstream_pending_requests";
    private static final String WAITS = "gateway_upstream_connect_waits_total";
    private static final int CLIENTS = 8;

    private static Rig rig(RestartedOrigin origin, String protocol, String wait, String upstream) throws Exception {
        return Rig.to(origin.port())
                .upstreamProtocol(protocol)
                .rule("retry: {attempts: 0, connectWait: " + wait + "}")
                .upstream(upstream)
                .start();
    }

    private static PeerStream ask(Peer client, String method) throws Exception {
        PeerStream stream = client.open();
        if (method.equals("POST")) {
            stream.send(Head.request("POST", "/", "content-length", "4"), false);
            stream.send("body", true);
        } else {
            stream.send(Head.request(method, "/"), true);
        }
        return stream;
    }

    private static void assertAnswered(PeerStream stream, int status) throws Exception {
        assertThat(stream.receiveFinal().status()).isEqualTo(status);
        stream.receiveBody();
    }

    @CrossPairingTest
    void requestsOfAnyMethodWaitUntilTheEndpointIsBack(Pairing pairing) throws Exception {
        List<Peer> clients = new ArrayList<>();
        try (RestartedOrigin origin = new RestartedOrigin(Behaviors.text("ok"));
                Rig rig = rig(origin, pairing.upstream, "1h", "circuitBreaker: {}")) {
            origin.start();
            try (Peer client = rig.connect(pairing)) {
                assertAnswered(ask(client, "GET"), 200);
            }
            origin.stop();
            rig.awaitMetric(0, "gateway_upstream_endpoint_connections_active"); // a POST on it would be lost
            List<PeerStream> streams = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                Peer client = rig.connect(pairing);
                clients.add(client);
                streams.add(ask(client, i % 2 == 0 ? "GET" : "POST"));
            }
            rig.awaitMetric(CLIENTS, WAITING, "upstream=\"app\"");
            origin.start();
            for (PeerStream stream : streams) {
                assertAnswered(stream, 200);
            }
            assertThat(rig.metric(WAITS, "result=\"success\"")).isEqualTo(CLIENTS);
            assertThat(rig.awaitAccessLog(CLIENTS + 1).subList(1, CLIENTS + 1))
                    .allSatisfy(line -> assertThat(line).contains("\"status\":200", "\"cause\":\"connect_failed\""));
        } finally {
            for (Peer client : clients) {
                client.close();
            }
        }
    }

    @CrossPairingTest
    void aClientThatLeavesEndsItsWait(Pairing pairing) throws Exception {
        try (RestartedOrigin origin = new RestartedOrigin(Behaviors.text("ok"));
                Rig rig = rig(origin, pairing.upstream, "1h", "circuitBreaker: {}")) {
            try (Peer client = rig.connect(pairing)) {
                ask(client, "POST");
                rig.awaitMetric(1, WAITING, "upstream=\"app\"");
            }
            assertThat(rig.awaitAccessLog(1).get(0)).contains("\"cause\":\"client_closed\"");
            assertThat(rig.metric(WAITS, "result=\"failure\"")).isEqualTo(1);
        }
    }

    @Test
    void noMoreRequestsWaitThanMayForAConnection() throws Exception {
        try (RestartedOrigin origin = new RestartedOrigin(Behaviors.text("ok"));
                Rig rig = rig(origin, "http1", "1h", "circuitBreaker: {maxPendingRequests: 1}");
                Peer first = rig.connect(Pairing.H1_TO_H1);
                Peer second = rig.connect(Pairing.H1_TO_H1)) {
            PeerStream waits = ask(first, "POST");
            rig.awaitMetric(1, WAITING, "upstream=\"app\"");
            assertAnswered(ask(second, "POST"), 502);
            assertThat(rig.metric(WAITS, "result=\"overflow\"")).isEqualTo(1);
            origin.start();
            assertAnswered(waits, 200);
        }
    }

    @Test
    void afterThatTimeTheRequestFails() throws Exception {
        try (RestartedOrigin origin = new RestartedOrigin(Behaviors.text("ok"));
                Rig rig = rig(origin, "http1", "200ms", "circuitBreaker: {}");
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            assertAnswered(ask(client, "GET"), 502);
            assertThat(rig.metric(WAITS, "result=\"failure\"")).isEqualTo(1);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("\"cause\":\"connect_failed\"");
        }
    }

    /** Those that wait keep the configuration that they have begun with. */
    @Test
    void aReloadLetsThemWait() throws Exception {
        try (RestartedOrigin origin = new RestartedOrigin(Behaviors.text("ok"));
                Rig rig = rig(origin, "http1", "1h", "circuitBreaker: {}");
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            PeerStream waits = ask(client, "POST");
            rig.awaitMetric(1, WAITING, "upstream=\"app\"");
            String yaml = Files.readString(rig.file());
            rig.reload(yaml.replace("circuitBreaker: {}", "timeouts: {connect: 4s}"));
            origin.start();
            assertAnswered(waits, 200);
        }
    }

    /** An answer comes whole or not at all, so whatever the kill meets may be repeated. */
    @Test
    void noGetFailsWhenTheOnlyEndpointIsKilledUnderLoad() throws Exception {
        AtomicBoolean ends = new AtomicBoolean();
        AtomicIntegerArray answered = new AtomicIntegerArray(CLIENTS);
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
        try (RestartedOrigin origin = new RestartedOrigin(
                                (stream, head) -> stream.send(Head.response(200, "content-length", "0"), true))
                        .start();
                Rig rig = Rig.to(origin.port()).rule("retry: {connectWait: 1h}").start()) {
            List<Future<Void>> all = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                int number = i;
                all.add(clients.submit(() -> {
                    try (Peer client = rig.connect(Peers.HTTP1)) {
                        while (!ends.get()) {
                            assertAnswered(ask(client, "GET"), 200);
                            answered.incrementAndGet(number);
                        }
                    }
                    return null;
                }));
            }
            for (int i = 1; i <= 3; i++) {
                awaitMore(answered, all);
                origin.stop();
                rig.awaitMetric(CLIENTS, WAITING, "upstream=\"app\"");
                origin.start();
            }
            awaitMore(answered, all);
            ends.set(true);
            for (Future<Void> each : all) {
                each.get();
            }
        } finally {
            ends.set(true);
            clients.shutdownNow();
        }
    }

    /** Waits until each client was answered: a GET that meets two kills has no attempt left. */
    private static void awaitMore(AtomicIntegerArray answered, List<Future<Void>> clients) throws Exception {
        for (int i = 0; i < CLIENTS; i++) {
            for (int enough = answered.get(i) + 10; answered.get(i) < enough; ) {
                if (clients.get(i).isDone()) {
                    clients.get(i).get(); // says what it was answered
                }
                Thread.sleep(1); // the test's timeout interrupts it
            }
        }
    }
}
