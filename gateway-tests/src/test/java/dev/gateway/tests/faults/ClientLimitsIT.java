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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
