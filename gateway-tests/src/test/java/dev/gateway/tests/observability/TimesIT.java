package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.peer.WebSocket;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each key for a time that no other test sets: what is written in YAML ends what it should, and nothing else. */
@Timeout(60)
class TimesIT {
    private static void exchange(Peer client) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        assertThat(stream.receiveBody()).isEqualTo("ok");
    }

    @Test
    void aClientThatDoesNotFinishItsHandshakeIsDisconnected() throws Exception {
        try (Origin origin = Origin.start();
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .listener("timeouts: {tlsHandshake: 200ms}")
                        .start();
                Http1Peer client = Http1Peer.connect(rig.tlsPort())) {
            client.awaitClosed();
            rig.awaitMetric(1, "gateway_downstream_handshakes_failed_total", "reason=\"timeout\"");
        }
    }

    @ParameterizedTest
    @EnumSource
    void anIdleClientIsDisconnected(Peers protocol) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .listener("timeouts: {idle: 1s}")
                        .start();
                Peer client = rig.connect(protocol)) {
            exchange(client);
            client.awaitClosed();
            rig.awaitMetric(1, "gateway_downstream_idle_closed_total");
        }
    }

    @Test
    void anOldConnectionOfHttp1EndsWithAnAnswer() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .listener("timeouts: {maxConnectionAge: 300ms}")
                        .start();
                Peer client = rig.connect(Peers.HTTP1)) {
            Head head;
            do { // until the connection is old; the test's timeout ends this
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/"), true);
                head = stream.receiveFinal();
                assertThat(stream.receiveBody()).isEqualTo("ok");
            } while (head.get("connection").isEmpty());
            assertThat(head.all("connection")).containsExactly("close");
            client.awaitClosed();
        }
    }

    @Test
    void anOldConnectionOfHttp2FinishesItsStreams() throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.send(Head.response(200), false);
                    stream.receiveBody(); // ends when the client has seen that its connection is old
                    stream.send("ok", true);
                });
                Rig rig = Rig.to(origin, Pairing.H2_TO_H1)
                        .listener("timeouts: {maxConnectionAge: 1s}")
                        .start();
                Http2Peer client = (Http2Peer) rig.connect(Peers.H2C)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/"), false);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            client.awaitGoAway();
            stream.send("", true);
            assertThat(stream.receiveBody()).isEqualTo("ok");
            client.awaitClosed();
        }
    }

    @Test
    void anUpstreamThatDoesNotFinishItsHandshakeIs504() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                Rig rig = Rig.to(silent.getLocalPort())
                        .upstream("tls: {verify: false}, timeouts: {tlsHandshake: 200ms, poolAcquire: 10s}")
                        .upstreamProtocol("auto")
                        .start();
                Peer client = rig.connect(Peers.HTTP1)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(504);
            assertThat(stream.receiveBody()).contains("connect_timeout");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"idle: 300ms", "maxLifetime: 300ms"})
    void aConnectionToAnUpstreamIsKeptForItsTime(String time) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .upstream("timeouts: {" + time + "}")
                        .start();
                Peer client = rig.connect(Peers.HTTP1)) {
            exchange(client);
            rig.awaitMetric(1, "gateway_upstream_connection_closed_total");
            exchange(client);
            assertThat(origin.connections()).isEqualTo(2);
        }
    }

    @Test
    void aHalfClosedTunnelEndsAfterItsTime() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    Handshake.accept(stream, head);
                    byte[] buffer = new byte[1024];
                    while (stream.receive(buffer) >= 0) {
                        // until the client has ended, and then nothing comes from here
                    }
                    end.await();
                });
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .rule("webSocket: {halfClosed: 200ms}")
                        .start();
                Peer client = rig.connect(Peers.HTTP1)) {
            Handshake.open(client, "/");
            ((Http1Peer) client).halfClose();
            client.awaitClosed();
            assertThat(rig.awaitAccessLog(2).get(1)).contains("\"cause\":\"idle_timeout\"");
            end.countDown();
        }
    }

    @Test
    @SuppressWarnings("try") // it is closed early, so that the exchange ends
    void aWebSocketEndsAfterItsTime() throws Exception {
        try (Origin origin = Origin.start().on("/", WebSocket::echo);
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .rule("webSocket: {max: 300ms}")
                        .start();
                Peer client = rig.connect(Peers.HTTP1)) {
            WebSocket socket = new WebSocket(Handshake.open(client, "/"), true);
            assertThat(socket.receive().opcode()).isEqualTo(WebSocket.CLOSE);
            client.close();
            assertThat(rig.awaitAccessLog(2).get(1)).contains("\"cause\":\"max_duration\"");
        }
    }

    /** It lasts longer than each limit of silence, on either side. */
    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void aResponseMayLastLongerThanEachIdleLimit(Peers protocol) throws Exception {
        AtomicInteger sent = new AtomicInteger();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200), false);
                    long end = System.nanoTime() + 3_000_000_000L;
                    while (System.nanoTime() < end) {
                        stream.send("x", false);
                        sent.incrementAndGet();
                        Thread.sleep(50); // its pace; nobody waits for this
                    }
                    stream.send("", true);
                });
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .listener(
                                "timeouts: {idle: 2s, requestHeaders: 2s, requestBodyIdle: 2s, responseWriteIdle: 2s}")
                        .rule("timeouts: {streamIdle: 2s}")
                        .upstream("timeouts: {idle: 2s, responseHeaders: 2s, maxLifetime: 2s}")
                        .start();
                Peer client = rig.connect(protocol)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("x".repeat(sent.get()));
            assertThat(rig.awaitAccessLog(1).get(0)).doesNotContain("\"cause\"");
        }
    }
}
