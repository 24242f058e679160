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
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An HTTP/2 upstream that only makes work loses its connection; its other connections and other upstreams go on. */
@Tag("jar")
@Timeout(60)
class UpstreamFloodIT {
    private static final int FRAMES = 100_000;
    private static final int PROTOCOL_ERROR = 1;
    private static final int ENHANCE_YOUR_CALM = 11;

    enum Flood {
        PING("h2_ping_flood") {
            @Override
            void send(Http2Stream stream, int i) throws IOException {
                stream.peer().frame(Http2Peer.PING, 0, 0, new byte[8]);
            }
        },
        SETTINGS("h2_settings_flood") {
            @Override
            void send(Http2Stream stream, int i) throws IOException {
                stream.peer().frame(Http2Peer.SETTINGS, 0, 0, new byte[0]);
            }
        },
        EMPTY_DATA("h2_empty_data_flood") {
            @Override
            void send(Http2Stream stream, int i) throws IOException {
                if (i == 0) {
                    stream.send(Head.response(200), false);
                }
                stream.peer().frame(Http2Peer.DATA, 0, stream.id(), new byte[0]);
            }
        },
        PADDING("h2_empty_data_flood") {
            @Override
            void send(Http2Stream stream, int i) throws IOException {
                if (i == 0) {
                    stream.send(Head.response(200), false);
                }
                stream.peer().frame(Http2Peer.DATA, 8, stream.id(), new byte[] {3, 0, 0, 0});
            }
        },
        RST_STREAM("h2_stray_frame_flood") {
            @Override
            void send(Http2Stream stream, int i) throws IOException {
                stream.peer().frame(Http2Peer.RST_STREAM, 0, stream.id(), new byte[] {0, 0, 0, 8}); // CANCEL
            }
        },
        CONTINUATION("h2_continuation_flood") {
            @Override
            void send(Http2Stream stream, int i) throws IOException {
                byte[] status200 = {(byte) 0x88};
                if (i == 0) {
                    stream.peer().frame(Http2Peer.HEADERS, 0, stream.id(), status200);
                } else {
                    stream.peer().frame(Http2Peer.CONTINUATION, 0, stream.id(), new byte[0]);
                }
            }
        };

        final String word;

        Flood(String word) {
            this.word = word;
        }

        /** Sends one more frame on the connection of a stream that waits for its response. */
        abstract void send(Http2Stream stream, int i) throws IOException;
    }

    @ParameterizedTest
    @EnumSource
    void theConnectionIsEndedAndOthersGoOn(Flood flood) throws Exception {
        try (Origin origin = Origin.start()
                        .on("/", Behaviors.text("ok"))
                        .on("/wait", Behaviors.silence())
                        .on("/flood", (stream, head) -> {
                            for (int i = 0; i < FRAMES; i++) {
                                flood.send((Http2Stream) stream, i); // throws when the connection is gone
                            }
                        });
                Origin other = Origin.start().on("/", Behaviors.text("other"));
                GatewayJar gateway = GatewayJar.of(
                                """
                                workers: 1
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes:
                                  - hostnames: [gateway.test]
                                    rules: [{backendRefs: [{name: app}]}]
                                  - hostnames: [other.test]
                                    rules: [{backendRefs: [{name: other}]}]
                                upstreams:
                                  - {name: app, protocol: h2c, endpoints: [{host: 127.0.0.1, port: %d}]}
                                  - {name: other, protocol: h2c, endpoints: [{host: 127.0.0.1, port: %d}]}
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: json}
                                """
                                        .formatted(origin.port(), other.port()))
                        .start();
                Peer bystander = Peers.HTTP1.connect(gateway.port("web"));
                Peer victim = Peers.HTTP1.connect(gateway.port("web"));
                Peer neighbor = Peers.H2C.connect(gateway.port("web"))) {
            ask(neighbor, "other.test", "other");
            PeerStream waiting = bystander.open();
            waiting.send(Head.request("POST", "/wait"), true); // not sent again
            await(gateway, origin, "/wait");
            PeerStream stream = victim.open();
            stream.send(Head.request("GET", "/flood"), true);
            await(gateway, origin, "/flood");
            Http2Peer attacker = (Http2Peer) origin.peers().get(0);
            attacker.awaitClosed();
            if (attacker.received(Http2Peer.GOAWAY) > 0) { // a reset may overtake it
                assertThat(attacker.awaitGoAway().code()).isIn(ENHANCE_YOUR_CALM, PROTOCOL_ERROR);
            }
            assertThat(failure(stream)).as("what the client is told").isTrue();
            assertThat(failure(waiting))
                    .as("what another client of the connection is told")
                    .isTrue();

            ask(neighbor, "other.test", "other");
            assertThat(other.connections())
                    .as("connections of the other upstream")
                    .isEqualTo(1);
            try (Peer next = Peers.HTTP1.connect(gateway.port("web"))) {
                ask(next, "gateway.test", "ok");
            }
            assertThat(gateway.metric("gateway_upstream_protocol_violations_total", "upstream=\"app\""))
                    .isPositive();
            gateway.awaitLog("\"cause\":\"upstream_protocol_error\"");
            gateway.awaitLog("the upstream broke the protocol: " + flood.word);
        }
    }

    private static void await(GatewayJar gateway, Origin origin, String path) throws IOException {
        gateway.await("a request for " + path, () -> !origin.requests(path).isEmpty());
    }

    /** Whether the response is 502, or visibly cut. */
    private static boolean failure(PeerStream stream) {
        try {
            int status = stream.receiveFinal().status();
            if (status == 200) {
                stream.receiveBody();
                return false;
            }
            return status == 502;
        } catch (IOException e) {
            return true;
        }
    }

    private static void ask(Peer client, String host, String expected) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/", "host", host), true);
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        assertThat(stream.receiveBody()).isEqualTo(expected);
    }
}
