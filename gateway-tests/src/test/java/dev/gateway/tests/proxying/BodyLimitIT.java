package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A rule takes bodies up to its limit, whether or not they are announced. */
class BodyLimitIT {
    private static Rig rig(Origin origin, Pairing pairing) throws IOException {
        return Rig.to(origin, pairing)
                .rule("filters: [{type: BodyLimit, bodyLimit: {maxBytes: 1KiB}}]")
                .start();
    }

    @ParameterizedTest
    @EnumSource
    void aBodyThatSaysItIsTooLargeIsRefusedAtOnce(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-length", "1025", "expect", "100-continue"), false);
            Head response = stream.receiveHead(); // not told to send it
            assertThat(response.status()).isEqualTo(413);
            assertThat(response.get("proxy-status").orElse("")).contains("details=\"body_too_large\"");
            assertThat(origin.requests("/")).isEmpty();
            assertThat(rig.awaitAccessLog(1).get(0))
                    .contains("body_too_large", "Content-Length 1025 is more than 1024 bytes (BodyLimit)");
        }
    }

    @CrossPairingTest
    void aBodyThatTurnsOutTooLargeIsRefusedThen(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/"), false);
            stream.send("x".repeat(1024), false);
            stream.send("x", false);
            assertThat(stream.receiveFinal().status()).isEqualTo(413);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("a body of more than 1024 bytes (BodyLimit)");
        }
    }

    @CrossPairingTest
    void aBodyAtTheLimitPassesAlsoAfterAReload(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.echo());
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            for (Head head : List.of(Head.request("POST", "/"), Head.request("POST", "/", "content-length", "1024"))) {
                PeerStream stream = client.open();
                stream.send(head, false);
                stream.send("x".repeat(1024), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                assertThat(stream.receiveBody()).hasSize(1024);
            }
            PeerStream before = client.open();
            before.send(Head.request("POST", "/"), false);
            before.send("x".repeat(1000), false);
            rig.reload(Files.readString(rig.file()).replace("1KiB", "10B"));
            before.send("x".repeat(24), true);
            assertThat(before.receiveFinal().status()).as("it began before").isEqualTo(200);
            assertThat(before.receiveBody()).hasSize(1024);
            PeerStream after = client.open();
            after.send(Head.request("POST", "/", "content-length", "11"), false);
            assertThat(after.receiveFinal().status()).isEqualTo(413);
        }
    }

    @CrossPairingTest
    void aResponseThatHasBegunIsCut(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.echo());
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/"), false);
            stream.send("x".repeat(10), false);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThatThrownBy(() -> {
                        stream.send("x".repeat(2000), false); // the gateway may reset the connection in its midst
                        stream.receiveBody();
                    })
                    .isInstanceOf(IOException.class);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("body_too_large");
        }
    }
}
