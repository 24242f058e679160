package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Flow control is paid for in bulk: frames are counted at the upstream, against the payload it sent. */
@Tag("platform")
class WindowUpdateIT {
    private static final int BODY = 64 << 20;

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H2", "H2_TO_H2"})
    void aDownloadCostsFewWindowUpdates(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200), false);
                    byte[] chunk = new byte[16384];
                    for (int i = 0; i < BODY; i += chunk.length) {
                        stream.send(chunk, i + chunk.length == BODY);
                    }
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            stream.receiveFinal();
            byte[] buffer = new byte[1 << 16];
            long received = 0;
            for (int n = stream.receive(buffer); n >= 0; n = stream.receive(buffer)) {
                received += n;
            }
            assertThat(received).isEqualTo(BODY);

            Http2Peer upstream = (Http2Peer) origin.peers().get(0);
            long window = upstream.awaitSettings().getOrDefault(4, 65_535L);
            long windows = BODY / window + 1;
            // A stream's and the connection's, and one that raises the connection's at the start. Windows are narrower,
            // with up to twice as many updates, where earlier tests have left direct memory less than ample.
            assertThat((long) upstream.received(Http2Peer.WINDOW_UPDATE)).isLessThanOrEqualTo(7 * windows + 1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H2", "H2_TO_H2"})
    void aStreamThatHasEndedGetsNone(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("x".repeat(16_000)));
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            for (int i = 0; i < 200; i++) {
                get(client);
            }
            Http2Peer upstream = (Http2Peer) origin.peers().get(0);
            assertThat(upstream.streamWindowUpdates()).isZero();
            assertThat(upstream.received(Http2Peer.RST_STREAM)).isZero();
        }
    }

    private static void get(Peer client) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        assertThat(stream.receiveBody()).hasSize(16_000);
    }
}
