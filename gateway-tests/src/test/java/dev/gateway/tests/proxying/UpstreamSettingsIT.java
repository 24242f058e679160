package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Http2Stream;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** HTTP/2 peers that change their settings while they are at work. */
@Timeout(60)
class UpstreamSettingsIT {
    private static final int REQUESTS = 20;
    private static final int WINDOW = 65_535;

    /** Each connection begins without room for a stream, so that more connections do not help. */
    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H2", "H2_TO_H2"})
    void requestsWaitWhileTheUpstreamTakesNoStreams(Pairing pairing) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        List<Peer> clients = new ArrayList<>();
        try (Origin origin = Origin.start(Http2Peer.MAX_CONCURRENT_STREAMS, 0)
                        .on("/first", (stream, head) -> {
                            arrived.countDown();
                            goOn.await();
                            Behaviors.text("first").serve(stream, head);
                        })
                        .on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, pairing)
                        .top("workers: 1")
                        .upstream("timeouts: {poolAcquire: 20s}")
                        .start()) {
            PeerStream first = ask(rig, pairing, clients, "/first");
            rig.awaitMetric(1, "gateway_upstream_pending_requests");
            awaitConnection(origin);
            allow(origin, 1);
            assertThat(arrived.await(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
                    .isTrue();
            allow(origin, 0);
            List<PeerStream> waiting = new ArrayList<>();
            for (int i = 0; i < REQUESTS; i++) {
                waiting.add(ask(rig, pairing, clients, "/"));
            }
            rig.awaitMetric(REQUESTS, "gateway_upstream_pending_requests");
            goOn.countDown(); // the stream that there is may end, and makes no room
            assertServed(first, "first");
            assertThat(rig.metric("gateway_upstream_pending_requests")).isEqualTo(REQUESTS);
            assertThat(origin.requests("/")).isEmpty();
            assertThat(origin.connections())
                    .as("connections that are of no use")
                    .isLessThanOrEqualTo(2);
            allow(origin, 2);
            for (PeerStream each : waiting) {
                assertServed(each, "ok");
            }
        } finally {
            for (Peer client : clients) {
                client.close();
            }
        }
    }

    private static void awaitConnection(Origin origin) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (origin.peers().isEmpty()) {
            assertThat(System.nanoTime()).as("no connection to the upstream").isLessThan(deadline);
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static void allow(Origin origin, int streams) throws IOException {
        for (Peer each : origin.peers()) {
            ((Http2Peer) each).settings(Http2Peer.MAX_CONCURRENT_STREAMS, streams);
        }
    }

    private static PeerStream ask(Rig rig, Pairing pairing, List<Peer> clients, String path) throws IOException {
        if (clients.isEmpty() || !pairing.client.isHttp2()) {
            clients.add(rig.connect(pairing));
        }
        PeerStream stream = clients.get(clients.size() - 1).open();
        stream.send(Head.request("GET", path), true);
        return stream;
    }

    private static void assertServed(PeerStream stream, String expected) throws IOException {
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        assertThat(stream.receiveBody()).isEqualTo(expected);
    }

    /** What was sent by then is more than the new window, so that it is below zero until the upstream has taken that. */
    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H2", "H2_TO_H2"})
    void anUploadGoesOnWhoseWindowShrinks(Pairing pairing) throws Exception {
        byte[] body = new byte[1 << 20];
        new Random(1).nextBytes(body);
        int small = 1000;
        CompletableFuture<byte[]> received = new CompletableFuture<>();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    try {
                        received.complete(shrink((Http2Stream) stream, small));
                    } catch (IOException | AssertionError e) {
                        received.completeExceptionally(e);
                    }
                    stream.send(Head.response(204), true);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-length", Integer.toString(body.length)), false);
            stream.send(body, true);
            assertThat(Arrays.equals(received.get(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS), body))
                    .as("the body is as it was")
                    .isTrue();
            assertThat(stream.receiveFinal().status()).isEqualTo(204);
        }
    }

    private static byte[] shrink(Http2Stream stream, int small) throws IOException {
        Http2Peer peer = stream.peer();
        await(peer, WINDOW); // the window is used up
        peer.settings(Http2Peer.INITIAL_WINDOW_SIZE, small); // and now below zero
        peer.windowUpdate(stream.id(), WINDOW - small); // and now zero
        peer.roundTrip();
        assertThat(peer.dataReceived()).isEqualTo(WINDOW);
        peer.windowUpdate(stream.id(), 1);
        await(peer, WINDOW + 1);
        peer.roundTrip();
        assertThat(peer.dataReceived()).isEqualTo(WINDOW + 1);
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        byte[] buffer = new byte[1 << 14];
        for (int n = stream.receive(buffer); n >= 0; n = stream.receive(buffer)) { // which gives credit
            body.write(buffer, 0, n);
        }
        return body.toByteArray();
    }

    private static void await(Http2Peer peer, long bytes) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (peer.dataReceived() < bytes) {
            assertThat(System.nanoTime())
                    .as("%d of %d bytes", peer.dataReceived(), bytes)
                    .isLessThan(deadline);
            peer.roundTrip();
        }
    }

    /** Without a table each head is sent in full; what was in it before must not be referred to any more. */
    @ParameterizedTest
    @EnumSource
    void headsStayReadableWhileAPeerDoesWithoutATable(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    String said = head.get("x-said").orElse("nothing");
                    stream.send(Head.response(200, "x-heard", said, "x-long", "y".repeat(200)), true);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            for (long size : new long[] {4096, 0, 4096, 100, 0, 65_536}) {
                for (Peer each : new Peer[] {
                    client, origin.peers().isEmpty() ? client : origin.peers().get(0)
                }) {
                    if (each instanceof Http2Peer http2) {
                        http2.settings(Http2Peer.HEADER_TABLE_SIZE, size);
                        http2.useHeaderTable((int) Math.min(size, 4096));
                    }
                }
                for (int i = 0; i < 5; i++) {
                    String said = "table of " + size + ", " + i % 2;
                    PeerStream stream = client.open();
                    stream.send(Head.request("GET", "/", "x-said", said, "x-long", "z".repeat(200)), true);
                    Head head = stream.receiveFinal();
                    assertThat(head.status()).isEqualTo(200);
                    assertThat(head.get("x-heard")).contains(said);
                    assertThat(head.get("x-long")).contains("y".repeat(200));
                    stream.receiveBody();
                }
            }
            // Down and up again before the next head: that one has to begin with both sizes.
            for (Peer each : List.of(client, origin.peers().get(0))) {
                if (each instanceof Http2Peer http2) {
                    http2.settings(Http2Peer.HEADER_TABLE_SIZE, 0);
                    http2.settings(Http2Peer.HEADER_TABLE_SIZE, 4096);
                    http2.useHeaderTable(0);
                    http2.useHeaderTable(4096);
                }
            }
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/", "x-said", "again"), true);
            assertThat(stream.receiveFinal().get("x-heard")).contains("again");
            assertThat(origin.connections()).isEqualTo(1);
            assertThat(rig.metric("gateway_protocol_violations_total")).isZero();
        }
    }
}
