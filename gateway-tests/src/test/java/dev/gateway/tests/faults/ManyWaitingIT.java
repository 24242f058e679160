package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A client lets many requests wait for an upstream, and another one has a single request. */
class ManyWaitingIT {
    private static final int MANY = 40;

    private final CountDownLatch goOn = new CountDownLatch(1);
    private final List<String> served = new CopyOnWriteArrayList<>();

    private static PeerStream ask(Peer client, String path, String address) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path, "x-forwarded-for", address), true);
        return stream;
    }

    private Rig oneConnection(Origin origin, int mayWait) throws Exception {
        return Rig.to(origin, Pairing.H2_TO_H1)
                .top("workers: 1")
                .listener("trustedProxies: [127.0.0.1]")
                .upstream("circuitBreaker: {maxConnections: 1, maxPendingRequests: " + mayWait
                        + "}, timeouts: {poolAcquire: 60s}")
                .start();
    }

    private Origin slow() throws Exception {
        return Origin.start().otherwise((stream, head) -> {
            goOn.await();
            served.add(head.path());
            stream.send(Head.response(200, "content-length", "2"), false);
            stream.send("ok", true);
        });
    }

    private static void awaitWaiting(Rig rig, int count) throws Exception {
        rig.awaitMetric(count, "gateway_upstream_pending_requests");
    }

    @Test
    void theOtherClientDoesNotWaitForAllOfThem() throws Exception {
        try (Origin origin = slow();
                Rig rig = oneConnection(origin, 1_000);
                Peer attacker = rig.connect(Pairing.H2_TO_H1);
                Peer other = rig.connect(Pairing.H2_TO_H1)) {
            List<PeerStream> many = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                many.add(ask(attacker, "/many", "192.0.2.1"));
            }
            awaitWaiting(rig, MANY - 1);
            PeerStream single = ask(other, "/single", "192.0.2.2");
            awaitWaiting(rig, MANY);
            goOn.countDown();
            assertThat(single.receiveFinal().status()).isEqualTo(200);
            single.receiveBody();
            for (PeerStream each : many) {
                assertThat(each.receiveFinal().status()).isEqualTo(200);
                each.receiveBody();
            }
            assertThat(served.indexOf("/single")).isBetween(1, 2);
        }
    }

    @Test
    void whoHasManyIsRefusedInsteadOfWhoHasFew() throws Exception {
        try (Origin origin = slow();
                Rig rig = oneConnection(origin, 8);
                Peer attacker = rig.connect(Pairing.H2_TO_H1);
                Peer other = rig.connect(Pairing.H2_TO_H1)) {
            List<PeerStream> many = new ArrayList<>();
            for (int i = 0; i < 9; i++) { // of these, one has the connection
                many.add(ask(attacker, "/many", "192.0.2.1"));
            }
            awaitWaiting(rig, 8);
            PeerStream single = ask(other, "/single", "192.0.2.2");
            PeerStream newest = many.get(8);
            assertThat(newest.receiveFinal().status()).isEqualTo(503);
            newest.receiveBody();
            assertThat(rig.metric("gateway_upstream_pending_overflow_total")).isEqualTo(1);
            goOn.countDown();
            assertThat(single.receiveFinal().status()).isEqualTo(200);
            single.receiveBody();
            for (PeerStream each : many.subList(0, 8)) {
                assertThat(each.receiveFinal().status()).isEqualTo(200);
                each.receiveBody();
            }
        }
    }
}
