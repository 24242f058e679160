package dev.gateway.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Behaviours;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import java.net.ConnectException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A gateway that stops finishes what it has begun. */
class DrainIT {
    @ParameterizedTest
    @EnumSource
    void whatIsInFlightIsFinished(Pairing pairing) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    arrived.countDown();
                    goOn.await();
                    Behaviours.text("finished").serve(stream, head);
                });
                Rig rig = Rig.to(origin, pairing).top("workers: 1").start();
                Peer idle = rig.connect(pairing);
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(arrived.await(20, TimeUnit.SECONDS)).isTrue();

            Thread stopping = new Thread(rig::stop);
            stopping.start();
            if (client instanceof Http2Peer http2) {
                assertThat(http2.awaitGoAway().code()).isZero();
            }
            idle.awaitClosed(); // now the event loop that both share knows
            goOn.countDown();

            Head response = stream.receiveFinal();
            assertThat(response.status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("finished");
            if (!pairing.client.isHttp2()) {
                assertThat(response.get("connection")).contains("close");
            }
            client.awaitClosed();
            stopping.join(20_000);
            assertThat(stopping.isAlive()).isFalse();
            assertThatThrownBy(() -> rig.connect(pairing)).isInstanceOf(ConnectException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void idleConnectionsAreClosed(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviours.text("ok"));
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("ok");
            rig.stop();
            client.awaitClosed();
        }
    }

    @Test
    void aConnectionThatNeverSaidAnythingHoldsNothingUp() throws Exception {
        try (Rig rig = Rig.to(1).start();
                Peer silent = rig.connect(Pairing.H1_TO_H1)) {
            Thread stopping = new Thread(rig::stop);
            stopping.start();
            silent.awaitClosed(); // the drain's own timeout is longer than the client's patience
            stopping.join(Peer.PATIENCE_MILLIS);
            assertThat(stopping.isAlive()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatTakesTooLongIsEnded(Pairing pairing) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    arrived.countDown();
                    Behaviours.silence().serve(stream, head);
                });
                Rig rig = Rig.to(origin, pairing).top("drain: {timeout: 300ms}").start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(arrived.await(20, TimeUnit.SECONDS)).isTrue();
            rig.stop();
            client.awaitClosed();
        }
    }
}
