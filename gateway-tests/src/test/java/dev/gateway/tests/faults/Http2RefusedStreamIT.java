package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Http2Stream;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An HTTP/2 upstream takes fewer streams than it has said, or none for now: requests wait or go elsewhere. */
@Tag("jar")
@Timeout(120)
class Http2RefusedStreamIT {
    private static final int MAX_CONCURRENT_STREAMS = 3;
    private static final byte[] REFUSED = {0, 0, 0, 7};

    private static GatewayJar gateway(Origin origin) throws IOException {
        return GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams: [{name: app, protocol: h2c, endpoints: [{host: 127.0.0.1, port: %d}]}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(origin.port()))
                .start();
    }

    private static void assertAnswered(PeerStream stream) throws IOException {
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        assertThat(stream.receiveBody()).isEqualTo("ok");
    }

    @Test
    void aRequestIsNotSentAgainToTheConnectionThatHasJustRefusedIt() throws Exception {
        Map<Peer, AtomicInteger> open = new ConcurrentHashMap<>();
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch second = new CountDownLatch(2);
        Origin.Behavior oneAtATime = (stream, head) -> {
            AtomicInteger count = open.computeIfAbsent(stream.peer(), peer -> new AtomicInteger());
            if (count.incrementAndGet() > 1) {
                count.decrementAndGet();
                ((Http2Peer) stream.peer()).frame(Http2Peer.RST_STREAM, 0, ((Http2Stream) stream).id(), REFUSED);
                return;
            }
            second.countDown();
            release.await();
            count.decrementAndGet();
            Behaviors.text("ok").serve(stream, head);
        };
        try (Origin origin = Origin.start().on("/", oneAtATime);
                GatewayJar gateway = gateway(origin);
                Http2Peer client = Http2Peer.connect(gateway.port("web"))) {
            Http2Stream first = client.open();
            first.send(Head.request("GET", "/"), true);
            gateway.await("the first request", () -> second.getCount() == 1);
            Http2Stream refused = client.open();
            refused.send(Head.request("GET", "/"), true);
            gateway.await(
                    "the second request or its failure",
                    () -> second.getCount() == 0 || client.received(Http2Peer.HEADERS) > 0);
            release.countDown();
            assertAnswered(refused);
            assertAnswered(first);
            assertThat(origin.connections()).isEqualTo(2);
        }
    }

    @Test
    void requestsWaitForAnUpstreamThatTakesNoneAtFirst() throws Exception {
        try (Origin origin = Origin.start(MAX_CONCURRENT_STREAMS, 0).on("/", Behaviors.text("ok"));
                GatewayJar gateway = gateway(origin);
                Http2Peer client = Http2Peer.connect(gateway.port("web"))) {
            Http2Stream[] streams = new Http2Stream[20];
            for (int i = 0; i < streams.length; i++) {
                streams[i] = client.open();
                streams[i].send(Head.request("GET", "/"), true);
            }
            gateway.await("a connection", () -> !origin.peers().isEmpty());
            Http2Peer upstream = (Http2Peer) origin.peers().get(0);
            assertThat(upstream.awaitFrame(Http2Peer.SETTINGS, 2)).isTrue(); // the gateway's, and its word on ours
            upstream.settings(MAX_CONCURRENT_STREAMS, 5);
            for (Http2Stream stream : streams) {
                assertAnswered(stream);
            }
            assertThat(origin.connections()).isLessThanOrEqualTo(2);
        }
    }
}
