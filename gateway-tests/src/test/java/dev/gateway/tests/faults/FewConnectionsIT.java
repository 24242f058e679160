package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An upstream that may have fewer connections than the gateway has event loops. */
class FewConnectionsIT {
    private static final int CLIENTS = 6;

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H2", "H2_TO_H2"})
    void aConnectionThatIsNeverIdleKeepsNoEventLoopWaiting(Pairing pairing) throws Exception {
        CountDownLatch arrived = new CountDownLatch(CLIENTS);
        CountDownLatch goOn = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    arrived.countDown();
                    goOn.await();
                    Behaviors.text("ok").serve(stream, head);
                });
                Rig rig = few(origin, pairing)) {
            List<Peer> clients = new ArrayList<>();
            List<PeerStream> streams = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(rig.connect(pairing));
                streams.add(ask(clients.get(i)));
            }
            assertThat(arrived.await(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
                    .isTrue();
            goOn.countDown();
            for (PeerStream stream : streams) {
                assertServed(stream);
            }
            for (Peer client : clients) {
                client.close();
            }
            assertThat(rig.metric("gateway_upstream_connections_total")).isBetween(1.0, 3.0);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H1", "H2_TO_H1"})
    void anIdleConnectionGoesToTheEventLoopThatNeedsIt(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = few(origin, pairing)) {
            List<Peer> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(rig.connect(pairing));
                assertServed(ask(clients.get(i)));
            }
            for (int round = 0; round < 5; round++) {
                List<PeerStream> streams = new ArrayList<>();
                for (Peer client : clients) {
                    streams.add(ask(client));
                }
                for (PeerStream stream : streams) {
                    assertServed(stream);
                }
            }
            for (Peer client : clients) {
                client.close();
            }
        }
    }

    /** More clients than may wait ask again and again: some are refused, and then everybody is served again. */
    @Test
    void theUpstreamNeverSeesMoreConnectionsThanItMayHave() throws Exception {
        AtomicInteger open = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    most.accumulateAndGet(open.incrementAndGet(), Math::max);
                    open.decrementAndGet(); // before the answer, after which the next request may come
                    stream.send(Head.response(200, "content-length", "2"), false);
                    stream.send("ok", true);
                });
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .top("workers: 4")
                        .upstream(
                                "circuitBreaker: {maxConnections: 2, maxPendingRequests: 8}, timeouts: {poolAcquire: 20s}")
                        .start()) {
            List<Peer> clients = new ArrayList<>();
            int refused = 0;
            for (int i = 0; i < 40; i++) {
                clients.add(rig.connect(Pairing.H1_TO_H1));
            }
            for (int round = 0; round < 20; round++) {
                List<PeerStream> streams = new ArrayList<>();
                for (Peer client : clients) {
                    streams.add(ask(client));
                }
                for (PeerStream stream : streams) {
                    int status = stream.receiveFinal().status();
                    stream.receiveBody();
                    assertThat(status).isIn(200, 503);
                    refused += status == 503 ? 1 : 0;
                }
            }
            assertThat(refused).as("refused for want of room to wait").isPositive();
            assertThat(most.get()).as("requests at a time").isBetween(1, 2);
            for (Peer client : clients) { // one after the other: nothing was left behind
                assertServed(ask(client));
                client.close();
            }
            assertThat(rig.metric("gateway_upstream_pending_overflow_total")).isEqualTo(refused);
        }
    }

    private static Rig few(Origin origin, Pairing pairing) throws Exception {
        return Rig.to(origin, pairing)
                .top("workers: 3")
                .upstream("circuitBreaker: {maxConnections: 1}, timeouts: {poolAcquire: 10s}")
                .start();
    }

    private static PeerStream ask(Peer client) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        return stream;
    }

    private static void assertServed(PeerStream stream) throws Exception {
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        assertThat(stream.receiveBody()).isEqualTo("ok");
    }
}
