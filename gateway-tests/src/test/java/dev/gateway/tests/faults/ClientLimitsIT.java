package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What one client may take of a listener: connections, their rate, and time for a body. */
class ClientLimitsIT {
    private static boolean isServed(Http1Peer client) {
        try {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            boolean served = stream.receiveFinal().status() == 200;
            stream.receiveBody();
            return served;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void aClientHasNoMoreConnectionsThanItMayAndGetsThemBack() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .listener("limits: {maxConnectionsPerClient: 2}")
                        .start()) {
            try (Http1Peer first = Http1Peer.connect(rig.port());
                    Http1Peer second = Http1Peer.connect(rig.port())) {
                assertThat(isServed(first)).isTrue();
                assertThat(isServed(second)).isTrue();
                try (Http1Peer third = Http1Peer.connect(rig.port())) {
                    assertThat(isServed(third)).isFalse();
                }
                assertThat(isServed(first)).isTrue();
            }
            rig.awaitNoConnection();
            try (Http1Peer again = Http1Peer.connect(rig.port())) {
                assertThat(isServed(again)).isTrue();
            }
        }
    }

    @Test
    void trustedProxiesMayHaveMore() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .listener("limits: {maxConnectionsPerClient: 1}, trustedProxies: [127.0.0.0/8]")
                        .start();
                Http1Peer first = Http1Peer.connect(rig.port());
                Http1Peer second = Http1Peer.connect(rig.port())) {
            assertThat(isServed(first)).isTrue();
            assertThat(isServed(second)).isTrue();
        }
    }

    /** Each has an equal part of them, and none has more than half. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void clientsThatHoldAllConnectionsUnusedGiveWayToOthers(int holders) throws Exception {
        List<Http1Peer> clients = new ArrayList<>();
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .listener("limits: {maxConnections: 24}, proxyProtocol: {trustedCidrs: [127.0.0.0/8]}")
                        .start()) {
            for (int i = 0; i < 24; i++) {
                clients.add(connect(rig, "198.51.100." + i % holders));
                assertThat(isServed(clients.get(i))).isTrue();
            }
            for (int i = 0; i < 8; i++) {
                clients.add(awaitServed(rig, "203.0.113." + i));
            }
            for (Http1Peer each : clients.subList(24, 32)) {
                assertThat(isServed(each)).as("still").isTrue();
            }
        } finally {
            for (Http1Peer each : clients) {
                each.close();
            }
        }
    }

    private static Http1Peer connect(Rig rig, String client) throws IOException {
        return Http1Peer.connect(rig.port()).raw("PROXY TCP4 " + client + " 192.0.2.1 51234 443\r\n");
    }

    /** Connections give way once they have been unused for two seconds; until then, few are admitted beyond the limit. */
    private static Http1Peer awaitServed(Rig rig, String client) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (System.nanoTime() - deadline < 0) {
            try {
                Http1Peer peer = connect(rig, client);
                if (isServed(peer)) {
                    return peer;
                }
                peer.close();
            } catch (IOException e) {
                // it was reset before it had sent its header
            }
            Thread.sleep(50); // between two tries, as a client does
        }
        throw new AssertionError(client + " was not served");
    }

    /** More than come in a second wait, and are all served. */
    @Test
    void whoComesFasterThanTheAcceptRateWaitsAndIsServed() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .listener("limits: {maxAcceptRate: 20}")
                        .start()) {
            List<Http1Peer> clients = new ArrayList<>();
            try {
                for (int i = 0; i < 30; i++) {
                    clients.add(Http1Peer.connect(rig.port()));
                }
                for (Http1Peer each : clients) {
                    assertThat(isServed(each)).isTrue();
                }
                assertThat(rig.metric("gateway_downstream_accept_pauses_total", "listener", "clear"))
                        .isPositive();
            } finally {
                for (Http1Peer each : clients) {
                    each.close();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aBodyThatTricklesIs408AndItsNeighborIsServed(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody(); // the limit ends with the response's head
                    stream.send(Head.response(200, "content-length", "0"), true);
                });
                Rig rig = Rig.to(origin, pairing)
                        .listener("limits: {minBodyRate: 1KiB}, timeouts: {requestBodyIdle: 1s}")
                        .start();
                Peer client = rig.connect(pairing);
                Peer neighbor = rig.connect(pairing)) {
            PeerStream slow = client.open();
            slow.send(Head.request("POST", "/", "content-length", "1000"), false);
            Thread trickle = new Thread(() -> {
                try {
                    for (int i = 0; i < 100; i++) {
                        slow.send("x", false);
                        Thread.sleep(100); // the pace that is tested
                    }
                } catch (IOException | InterruptedException | IllegalStateException e) {
                    // it was ended, as it should be
                }
            });
            trickle.start();
            assertThat(slow.receiveFinal().status()).isEqualTo(408);
            trickle.interrupt();
            trickle.join();
            assertThat(rig.awaitAccessLog(1).get(0)).contains("client_timeout").contains("minBodyRate");
            PeerStream quick = neighbor.open();
            quick.send(Head.request("POST", "/", "content-length", "3"), false);
            quick.send("abc", true);
            assertThat(quick.receiveFinal().status()).isEqualTo(200);
        }
    }
}
