package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.ConstantLoad;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.net.ConnectException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A gateway that stops finishes what it has begun. */
@Tag("platform")
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
                    Behaviors.text("finished").serve(stream, head);
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
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
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
    void whatTakesTooLongIsAnswered503(Pairing pairing) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    arrived.countDown();
                    Behaviors.silence().serve(stream, head);
                });
                Rig rig = Rig.to(origin, pairing).top("drain: {timeout: 300ms}").start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(arrived.await(20, TimeUnit.SECONDS)).isTrue();
            rig.stop();
            Head response = stream.receiveFinal();
            assertThat(response.status()).isEqualTo(503);
            assertThat(response.get("proxy-status").orElse("")).contains("drain");
            client.awaitClosed();
            assertThat(rig.awaitAccessLog(1).get(0)).contains("\"status\":503", "\"cause\":\"drain\"");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aResponseThatTakesTooLongIsCutForAllToSee(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.send(Head.response(200), false); // over HTTP/1.1 its end is that of the connection
                    stream.send("some", false);
                    Behaviors.silence().serve(stream, head);
                });
                Rig rig = Rig.to(origin, pairing).top("drain: {timeout: 300ms}").start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            rig.stop();
            assertThatThrownBy(stream::receiveBody).isInstanceOf(IOException.class);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("\"status\":200", "\"cause\":\"drain\"");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H2_TO_H1", "H2_TO_H2"})
    void anHttp2ClientIsToldToGoBeforeItIsToldItsLastStream(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, pairing).start();
                Http2Peer client = (Http2Peer) rig.connect(pairing)) {
            for (int i = 0; i < 3; i++) {
                exchange(client);
            }
            rig.stop();
            client.awaitClosed();
            assertThat(client.goAways())
                    .extracting(Http2Peer.GoAway::lastStreamId)
                    .containsExactly(Integer.MAX_VALUE, 5); // RFC 9113, section 6.8
            assertThat(client.goAways()).extracting(Http2Peer.GoAway::code).containsOnly(0);
        }
    }

    private static void exchange(Peer client) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        assertThat(stream.receiveBody()).isEqualTo("ok");
    }

    @ParameterizedTest
    @EnumSource(Peers.class)
    void aGatewayThatStopsUnderLoadFailsNobody(Peers protocol) throws Exception {
        String drain = "drain: {timeout: 40s, acceptFor: 40s}";
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig leaving = Rig.to(origin.port()).top(drain).start();
                Rig staying = Rig.to(origin.port()).top(drain).start()) {
            int port = port(leaving, protocol);
            ConstantLoad load = ConstantLoad.start(protocol, port, 4);
            Thread stop = new Thread(leaving::stop);
            stop.start();
            while (leaving.adminResponse("/ready").statusCode() == 200) {
                LockSupport.parkNanos(1_000_000); // as a load balancer asks
            }
            load.moveTo(port); // which still takes new connections
            load.moveTo(port(staying, protocol));
            stop.interrupt(); // all have gone, so the time to accept connections is over
            stop.join(Peer.PATIENCE_MILLIS);
            assertThat(stop.isAlive()).isFalse();
            load.moveTo(port(staying, protocol));
            load.stop();
        }
    }

    private static int port(Rig rig, Peers protocol) {
        return protocol.isTls() ? rig.tlsPort() : rig.port();
    }
}
