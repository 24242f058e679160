package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Http2Stream;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client that only makes work loses its connection, and nobody else notices. */
class Http2FloodIT {
    private static final int FRAMES = 100_000;

    enum Flood {
        RAPID_RESET {
            @Override
            void send(Http2Peer peer, int i) throws IOException {
                Http2Stream stream = peer.open();
                stream.send(Head.request("GET", "/"), true);
                stream.reset();
            }
        },
        MADE_YOU_RESET {
            @Override
            void send(Http2Peer peer, int i) throws IOException {
                Http2Stream stream = peer.open();
                stream.send(Head.request("GET", "/slow"), true);
                peer.frame(Http2Peer.WINDOW_UPDATE, 0, stream.id(), new byte[4]); // an increment of 0 is an error
            }
        },
        CONTINUATION {
            @Override
            void send(Http2Peer peer, int i) throws IOException {
                if (i == 0) {
                    peer.frame(Http2Peer.HEADERS, Http2Peer.END_STREAM, 1, new byte[] {(byte) 0x82});
                } else {
                    peer.frame(Http2Peer.CONTINUATION, 0, 1, new byte[0]);
                }
            }
        },
        SETTINGS {
            @Override
            void send(Http2Peer peer, int i) throws IOException {
                peer.frame(Http2Peer.SETTINGS, 0, 0, new byte[0]);
            }
        },
        PING {
            @Override
            void send(Http2Peer peer, int i) throws IOException {
                peer.frame(Http2Peer.PING, 0, 0, new byte[8]);
            }
        },
        EMPTY_DATA {
            @Override
            void send(Http2Peer peer, int i) throws IOException {
                if (i == 0) {
                    Http2Stream stream = peer.open();
                    stream.send(Head.request("POST", "/"), false);
                } else {
                    peer.frame(Http2Peer.DATA, 0, 1, new byte[0]);
                }
            }
        };

        abstract void send(Http2Peer peer, int i) throws IOException;
    }

    @ParameterizedTest
    @EnumSource
    void theConnectionIsEndedAndOthersGoOn(Flood flood) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok")).on("/slow", Behaviors.silence());
                Rig rig = Rig.to(origin, Pairing.H2_TO_H1).start();
                Http2Peer attacker = (Http2Peer) rig.connect(Peers.H2C);
                Peer other = rig.connect(Peers.H2C)) {
            attacker.roundTrip(); // it has acknowledged SETTINGS, which must not stand between frames of a header block
            int sent = 0;
            try {
                while (sent < FRAMES) {
                    flood.send(attacker, sent);
                    sent++;
                }
            } catch (IOException e) {
                // The connection is gone, as it should be.
            }
            attacker.awaitClosed();
            if (attacker.received(Http2Peer.GOAWAY) > 0) { // a reset may overtake it
                assertThat(attacker.awaitGoAway().code()).isEqualTo(11); // ENHANCE_YOUR_CALM
            }
            PeerStream stream = other.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(rig.metric("gateway_protocol_violations_total")).isPositive();
        }
    }
}
