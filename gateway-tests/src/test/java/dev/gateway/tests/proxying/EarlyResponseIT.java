package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.StreamResetException;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A response may come before its request has ended. */
@Tag("platform")
class EarlyResponseIT {
    @ParameterizedTest
    @EnumSource
    void aResponseBeforeTheBodysEndReachesTheClientAtOnce(Pairing pairing) throws Exception {
        try (Origin origin =
                        Origin.start().on("/", Behaviors.earlyResponse(200)).on("/next", Behaviors.text("next"));
                Rig rig = Rig.to(origin, pairing).start()) {
            for (int i = 0; i < 5; i++) {
                try (Peer client = rig.connect(pairing)) {
                    PeerStream stream = client.open();
                    stream.send(Head.request("POST", "/", "content-length", "12"), false);
                    try {
                        stream.send("first ", false);
                    } catch (StreamResetException e) {
                        assertThat(e.code).isZero(); // NO_ERROR: the response was faster, and is complete
                    }
                    assertThat(stream.receiveFinal().status()).isEqualTo(200);
                    assertThat(stream.receiveBody()).isEqualTo("early");
                }
                // Nothing of the unfinished exchange may come up in another one.
                try (Peer client = rig.connect(pairing)) {
                    PeerStream next = client.open();
                    next.send(Head.request("GET", "/next"), true);
                    assertThat(next.receiveFinal().status()).isEqualTo(200);
                    assertThat(next.receiveBody()).isEqualTo("next");
                }
            }
        }
    }

    /** Most clients read nothing before they have sent everything. */
    @ParameterizedTest
    @EnumSource
    void aClientThatSendsEverythingFirstGetsItsAnswer(Pairing pairing) throws Exception {
        String piece = "x".repeat(1 << 20);
        int pieces = 24;
        try (Origin origin = Origin.start().on("/", Behaviors.earlyResponse(413));
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-length", String.valueOf(pieces << 20)), false);
            for (int i = 1; i <= pieces; i++) {
                stream.send(piece, i == pieces);
            }
            assertThat(stream.receiveFinal().status()).isEqualTo(413);
            assertThat(stream.receiveBody()).isEqualTo("early");
        }
    }

    @ParameterizedTest
    @EnumSource
    void requestAndResponseMayTakeTurns(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.echo());
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/"), false);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            byte[] buffer = new byte[100];
            for (int i = 0; i < 50; i++) {
                stream.send("x".repeat(i + 1), false);
                for (int received = 0; received < i + 1; ) {
                    received += stream.receive(buffer);
                }
            }
            stream.send("", true);
            assertThat(stream.receive(buffer)).isEqualTo(-1);
        }
    }
}
