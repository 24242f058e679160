package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.WebSocket;
import dev.gateway.tests.support.Hoarders;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A client keeps all connections of an upstream busy, or all streams, and does nothing with them, while others ask for something.
 * Otherwise their requests would wait until the time for a connection is over.
 */
@Timeout(120)
class CrowdedUpstreamsIT {
    private static final int MOST = 8; // exchanges that the upstream has room for
    private static final int MAX_CONCURRENT_STREAMS = 3; // a setting of HTTP/2
    private static final byte[] PART = new byte[64 * 1024];
    private static final String GREEDY = "192.0.2.1";
    private static final String MODEST = "192.0.2.2";

    private static Origin origin() throws IOException {
        return Origin.start(Handshake.ENABLE_CONNECT_PROTOCOL, 1, MAX_CONCURRENT_STREAMS, MOST)
                .on("/", Behaviors.text("ok"))
                .on("/upload", Behaviors.text("uploaded"))
                .on("/socket", WebSocket::echo);
    }

    private static Rig rig(Origin origin, Pairing pairing) throws IOException {
        return Rig.to(origin, pairing)
                .top("workers: 1")
                .listener("trustedProxies: [127.0.0.1], timeouts: {responseWriteIdle: 10m}")
                .upstream("circuitBreaker: {maxConnections: " + (pairing.upstreamIsHttp2() ? 1 : MOST)
                        + "}, timeouts: {poolAcquire: 60s}")
                .start();
    }

    private static void awaitCrowd(Origin origin, String path) throws InterruptedException {
        while (origin.requests(path).size() < MOST) {
            Thread.sleep(20); // the test's timeout interrupts it
        }
    }

    private static void anotherClientIsServed(Rig rig, Pairing pairing) throws IOException {
        try (Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/", "x-forwarded-for", MODEST), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("ok");
        }
    }

    private static double cut(Rig rig) throws Exception {
        double cut;
        while ((cut = rig.metric("gateway_downstream_requests_total", "cause=\"overload\"")) == 0) {
            Thread.sleep(20); // it may be counted after the answer; the test's timeout interrupts it
        }
        return cut;
    }

    /** Opens what a client opens on one connection or, by HTTP/1.1, on one connection each. */
    private static List<Peer> peers(Rig rig, Pairing pairing) throws IOException {
        List<Peer> peers = new ArrayList<>();
        for (int i = 0; i < MOST; i++) {
            boolean joins = pairing == Pairing.H2_TO_H1 || pairing == Pairing.H2_TO_H2;
            peers.add(joins && i > 0 ? peers.get(0) : rig.connect(pairing));
        }
        return peers;
    }

    private static void close(List<Peer> peers) throws IOException {
        for (Peer each : peers) {
            each.close();
        }
    }

    @Test
    void aResponseThatItsClientDoesNotReadGivesWay() throws Exception {
        try (Origin origin = origin().on("/endless", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200), false);
                    while (true) {
                        stream.send(PART, false); // until the gateway ends it
                    }
                });
                Rig rig = rig(origin, Pairing.H2_TO_H1);
                Hoarders hoarders = new Hoarders(rig.port())) {
            hoarders.streams(MOST, "/endless", 0, "GET", i -> List.of("x-forwarded-for", GREEDY));
            awaitCrowd(origin, "/endless");
            anotherClientIsServed(rig, Pairing.H2_TO_H1);
            assertThat(cut(rig)).isEqualTo(1);
        }
    }

    /** A byte every now and then does not help. */
    @ParameterizedTest
    @EnumSource
    void anUploadThatDoesNotComeGivesWay(Pairing pairing) throws Exception {
        try (Origin origin = origin();
                Rig rig = rig(origin, pairing)) {
            List<Peer> peers = peers(rig, pairing);
            List<PeerStream> uploads = new ArrayList<>();
            for (Peer peer : peers) {
                PeerStream upload = peer.open();
                upload.send(
                        Head.request("POST", "/upload", "content-length", "1000000", "x-forwarded-for", GREEDY), false);
                upload.send("a", false);
                uploads.add(upload);
            }
            awaitCrowd(origin, "/upload");
            anotherClientIsServed(rig, pairing);
            assertThat(cut(rig)).isEqualTo(1);
            PeerStream first = uploads.get(0); // it has sent nothing for longest
            assertThat(first.receiveFinal().status()).isEqualTo(503);
            close(peers);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aWebSocketOnWhichNothingMovesGivesWay(Pairing pairing) throws Exception {
        try (Origin origin = origin();
                Rig rig = rig(origin, pairing)) {
            List<Peer> peers = peers(rig, pairing);
            List<WebSocket> sockets = new ArrayList<>();
            for (Peer peer : peers) {
                sockets.add(new WebSocket(Handshake.open(peer, "/socket", "x-forwarded-for", GREEDY), true));
            }
            awaitCrowd(origin, "/socket");
            anotherClientIsServed(rig, pairing);
            assertThat(cut(rig)).isEqualTo(1);
            WebSocket.Frame close = sockets.get(0).receive(); // it is the oldest
            assertThat(close.opcode()).isEqualTo(WebSocket.CLOSE);
            assertThat(close.code()).isEqualTo(1001);
            sockets.get(1).text("still there");
            assertThat(sockets.get(1).receive().text()).isEqualTo("still there");
            close(peers);
        }
    }

    /** Else the place that becomes free would be taken by who has all others, and wants it for good. */
    @ParameterizedTest
    @EnumSource
    void whoHasMoreThanItsShareComesAfterOthers(Pairing pairing) throws Exception {
        try (Origin origin = origin();
                Rig rig = rig(origin, pairing)) {
            List<Peer> peers = peers(rig, pairing);
            for (Peer peer : peers) {
                Handshake.open(peer, "/socket", "x-forwarded-for", GREEDY);
            }
            awaitCrowd(origin, "/socket");
            Peer more = rig.connect(pairing);
            peers.add(more);
            more.open()
                    .send(
                            Head.request("POST", "/upload", "content-length", "1000000", "x-forwarded-for", GREEDY),
                            false);
            while (rig.metric("gateway_upstream_pending_requests") == 0) {
                Thread.sleep(20); // the test's timeout interrupts it
            }
            anotherClientIsServed(rig, pairing);
            assertThat(cut(rig)).isEqualTo(1);
            close(peers);
        }
    }
}
