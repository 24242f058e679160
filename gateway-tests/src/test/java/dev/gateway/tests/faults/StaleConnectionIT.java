package dev.gateway.tests.faults;

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
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A kept connection that its peer closes is no reason for an error, and no reason to do a thing twice. */
class StaleConnectionIT {
    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H1", "H2_TO_H1"})
    void anUpstreamThatClosesAfterEachResponseCausesNoError(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    Behaviors.text("ok").serve(stream, head);
                    stream.peer().close(); // unannounced, so the gateway may be using it again already
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            for (int i = 0; i < 300; i++) {
                assertThat(get(client, "/").status()).isEqualTo(200);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H1", "H2_TO_H1"})
    void aRequestMeetingACloseIsSentAgainIfThatIsSafe(Pairing pairing) throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        try (Origin origin = Origin.start().on("/warm", Behaviors.text("ok")).on("/", (stream, head) -> {
                    if (attempts.incrementAndGet() == 1) {
                        stream.peer().close(); // as if the close had been on its way
                        return;
                    }
                    Behaviors.text("ok").serve(stream, head);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            assertThat(get(client, "/warm").status()).isEqualTo(200);
            assertThat(get(client, "/").status()).isEqualTo(200);
            assertThat(attempts.get()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H1", "H2_TO_H1"})
    void aRequestThatMayHaveHadAnEffectIsNotSentAgain(Pairing pairing) throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        try (Origin origin = Origin.start().on("/warm", Behaviors.text("ok")).on("/", (stream, head) -> {
                    stream.receiveBody();
                    attempts.incrementAndGet();
                    stream.peer().close();
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            assertThat(get(client, "/warm").status()).isEqualTo(200);
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-length", "4"), false);
            stream.send("once", true);
            assertThat(stream.receiveFinal().status()).isEqualTo(502);
            assertThat(attempts.get()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H1", "H2_TO_H1"})
    void whatAnUpstreamSaysItWillCloseIsClosedBefore(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start()
                        .on(
                                "/",
                                (stream, head) -> stream.send(
                                        Head.response(200, "content-length", "0", "keep-alive", "max=100, timeout=2"),
                                        true));
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            assertThat(get(client, "/").status()).isEqualTo(200);
            assertThat(rig.endpoint(0).at("/idleTimeout").toString())
                    .isEqualTo("{\"millis\":2000,\"from\":\"header\",\"keptMillis\":1000}");
            rig.awaitMetric(1, "gateway_upstream_connection_closed_total", "cause=\"idle_timeout\"");
            assertThat(get(client, "/").status()).isEqualTo(200);
            assertThat(origin.connections()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H2", "H2_TO_H2"})
    void aRefusedStreamIsTriedAgain(Pairing pairing) throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    if (attempts.incrementAndGet() == 1) {
                        ((Http2Stream) stream).reset(7); // REFUSED_STREAM: nothing was processed
                        return;
                    }
                    Behaviors.text("ok").serve(stream, head);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-length", "0"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(attempts.get()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H2", "H2_TO_H2"})
    void aStreamAfterTheLastOneOfAGoawayIsTriedElsewhere(Pairing pairing) throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        try (Origin origin = Origin.start().on("/warm", Behaviors.text("ok")).on("/", (stream, head) -> {
                    if (attempts.incrementAndGet() == 1) {
                        Http2Stream http2 = (Http2Stream) stream;
                        http2.peer().goAway(http2.id() - 2, 0);
                        return;
                    }
                    Behaviors.text("ok").serve(stream, head);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            assertThat(get(client, "/warm").status()).isEqualTo(200);
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-length", "0"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(attempts.get()).isEqualTo(2);
            assertThat(origin.connections()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H2", "H2_TO_H2"})
    void aGracefulGoawayLosesNothing(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    Http2Stream http2 = (Http2Stream) stream;
                    Http2Peer peer = http2.peer();
                    peer.goAway(http2.id(), 0); // this one is still answered, the next one must go elsewhere
                    Behaviors.text("ok").serve(stream, head);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            for (int i = 0; i < 50; i++) {
                assertThat(get(client, "/").status()).isEqualTo(200);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFreshConnectionThatFailsIsAnErrorAndNotARepetition(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.resetBeforeHead());
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-length", "4"), false);
            stream.send("once", true);
            Head response = stream.receiveFinal();
            assertThat(response.status()).isEqualTo(502);
            assertThat(response.get("proxy-status").orElseThrow()).contains("upstream_reset_before_headers");
            assertThat(origin.requests("/")).hasSize(1);
        }
    }

    private static Head get(Peer client, String path) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path), true);
        Head head = stream.receiveFinal();
        stream.receiveBody();
        return head;
    }
}
