package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Stream;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.StreamResetException;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who gives up is believed at once, on the other side too. */
@Tag("platform")
class AbortIT {
    @ParameterizedTest
    @EnumSource
    void aClientThatGivesUpWaitingEndsTheExchangeUpstream(Pairing pairing) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    arrived.countDown();
                    awaitEnd(stream);
                    ended.countDown();
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(arrived.await(20, TimeUnit.SECONDS)).isTrue();
            stream.reset();
            assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(rig.awaitAccessLog(1).get(0)).contains("client_closed");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClientThatGivesUpADownloadEndsItUpstream(Pairing pairing) throws Exception {
        CompletableFuture<Exception> ended = new CompletableFuture<>();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200), false);
                    byte[] chunk = new byte[16384];
                    try {
                        while (true) {
                            stream.send(chunk, false);
                        }
                    } catch (IOException e) {
                        ended.complete(e);
                        throw e;
                    }
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            stream.receiveFinal();
            stream.receive(new byte[1000]);
            stream.reset();
            Exception failure = ended.get(20, TimeUnit.SECONDS);
            if (pairing.upstreamIsHttp2()) {
                assertThat(failure).isInstanceOf(StreamResetException.class);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClientThatGivesUpAnUploadEndsItUpstream(Pairing pairing) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CompletableFuture<Object> ended = new CompletableFuture<>();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receive(new byte[1]);
                    arrived.countDown();
                    try {
                        ended.complete(stream.receiveBody());
                    } catch (IOException e) {
                        ended.complete(e);
                        throw e;
                    }
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/"), false);
            stream.send("a part", false);
            assertThat(arrived.await(20, TimeUnit.SECONDS)).isTrue();
            stream.reset();
            // What was cut off must not look complete.
            assertThat(ended.get(20, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aResponseThatIsCutOffNeverLooksComplete(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start()
                        .on("/length", Behaviors.resetInBody())
                        .on("/chunked", (stream, head) -> {
                            stream.receiveBody();
                            stream.send(Head.response(200), false);
                            stream.send("some", false);
                            stream.reset();
                        });
                Rig rig = Rig.to(origin, pairing).start()) {
            for (String path : new String[] {"/length", "/chunked"}) {
                try (Peer client = rig.connect(pairing)) {
                    PeerStream stream = client.open();
                    stream.send(Head.request("GET", path), true);
                    assertThatThrownBy(() -> {
                                // A TCP reset may overtake the head; if it does not, the body must fail.
                                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                                stream.receiveBody();
                            })
                            .isInstanceOf(IOException.class);
                }
            }
            assertThat(rig.awaitAccessLog(2)).allMatch(line -> line.contains("upstream_reset_in_body"));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H2_TO_H1", "H2_TO_H2"})
    void oneStreamsEndDisturbsNoOther(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/bad", Behaviors.resetInBody()).on("/good", Behaviors.text("good"));
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            for (int i = 0; i < 20; i++) {
                PeerStream bad = client.open();
                PeerStream good = client.open();
                bad.send(Head.request("GET", "/bad"), true);
                good.send(Head.request("GET", "/good"), true);
                assertThatThrownBy(() -> {
                            bad.receiveFinal();
                            bad.receiveBody();
                        })
                        .isInstanceOf(StreamResetException.class);
                assertThat(good.receiveFinal().status()).isEqualTo(200);
                assertThat(good.receiveBody()).isEqualTo("good");
            }
        }
    }

    private static void awaitEnd(PeerStream stream) throws IOException {
        if (stream instanceof Http2Stream http2) {
            http2.awaitReset();
        } else {
            stream.peer().awaitClosed();
        }
    }
}
