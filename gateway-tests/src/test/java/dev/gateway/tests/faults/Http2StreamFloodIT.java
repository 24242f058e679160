package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Http2Stream;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.GatewayJar;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** What floods of HTTP/2 streams cost is counted however they are dressed, and clients that mean no harm are not hit. */
@Tag("jar")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class Http2StreamFloodIT {
    private static final int ENHANCE_YOUR_CALM = 11;
    private static final int CANCEL = 8;
    private static final int END = Http2Peer.END_STREAM | Http2Peer.END_HEADERS;
    private static final int PADDED = 8;

    private Origin origin;
    private GatewayJar gateway;
    private final CountDownLatch release = new CountDownLatch(1);

    @BeforeAll
    void start() throws Exception {
        origin = Origin.start()
                .on("/", Behaviors.text("ok"))
                .on("/slow", Behaviors.silence())
                .on("/later", (stream, head) -> {
                    stream.receiveBody();
                    release.await();
                    Behaviors.text("kept").serve(stream, head);
                });
        gateway = GatewayJar.of(
                        """
                        listeners:
                          - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP}
                          - {name: old, address: 127.0.0.1, port: 0, protocol: HTTP, timeouts: {maxConnectionAge: 500ms}}
                        routes:
                          - hostnames: [gateway.test]
                            rules: [{backendRefs: [{name: app}]}]
                        upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(origin.port()))
                .start();
    }

    @AfterAll
    void stop() throws Exception {
        release.countDown();
        gateway.close();
        origin.close();
    }

    /** A header block of literals that no table remembers. */
    private static byte[] block(String... fields) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < fields.length; i++) {
            if (i % 2 == 0) {
                out.write(0);
            }
            int length = fields[i].length();
            if (length < 127) {
                out.write(length);
            } else {
                out.write(127);
                int rest = length - 127;
                for (; rest > 127; rest >>= 7) {
                    out.write((rest & 127) | 128);
                }
                out.write(rest);
            }
            out.writeBytes(fields[i].getBytes(StandardCharsets.US_ASCII));
        }
        return out.toByteArray();
    }

    private static byte[] head(String method, String path, String host) {
        return block(":method", method, ":scheme", "http", ":path", path, ":authority", host);
    }

    /** More than 32 KiB of fields in a block of some 4.5 KiB: one goes into the table and is named again and again. */
    private static byte[] large(byte[] before) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(before);
        out.writeBytes(block("p", "p".repeat(500)));
        byte[] field = block("v", "v".repeat(3_900));
        field[0] = 0x40;
        out.writeBytes(field);
        for (int i = 0; i < 10; i++) {
            out.write(0x80 | 62);
        }
        return out.toByteArray();
    }

    private interface Cycle {
        void send(Http2Peer client, int i) throws IOException;
    }

    /** Sends frames again and again, and asks whether the connection is still served then. */
    private static boolean survives(Http2Peer client, int times, Cycle cycle) throws IOException {
        try {
            for (int i = 0; i < times; i++) {
                cycle.send(client, i);
            }
            return isServed(client);
        } catch (IOException e) {
            return false; // the connection is gone
        }
    }

    /** Whether a PING is answered, so that all frames before it have been seen to. */
    private static boolean isServed(Http2Peer client) throws IOException {
        int before = client.received(Http2Peer.PING);
        client.frame(Http2Peer.PING, 0, 0, new byte[8]);
        return client.awaitFrame(Http2Peer.PING, before + 1);
    }

    /** One of these kinds of abuse: what is refused for want of memory, on a slow machine, is one of its own. */
    private void assertEndedAsAbuse(Http2Peer client, String... kinds) throws Exception {
        client.awaitClosed();
        if (client.received(Http2Peer.GOAWAY) > 0) { // a reset may overtake it
            assertThat(client.awaitGoAway().code()).isEqualTo(ENHANCE_YOUR_CALM);
        }
        double violations = 0;
        for (String kind : kinds) {
            violations += violations("kind=\"" + kind + "\"");
        }
        assertThat(violations).isPositive();
        try (Http2Peer other = Http2Peer.connect(gateway.port("web"))) {
            Http2Stream stream = other.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
        }
    }

    private double violations(String... labels) throws Exception {
        return gateway.metric("gateway_protocol_violations_total", labels);
    }

    private static byte[] number(int value) {
        return new byte[] {(byte) (value >> 24), (byte) (value >> 16), (byte) (value >> 8), (byte) value};
    }

    @Test
    void trailersDoNotHideARapidReset() throws Exception {
        byte[] post = head("POST", "/slow", "gateway.test");
        byte[] trailers = block("x", "y");
        try (Http2Peer client = Http2Peer.connect(gateway.port("web"))) {
            assertThat(survives(client, 1_500, (peer, i) -> {
                        peer.frame(Http2Peer.HEADERS, Http2Peer.END_HEADERS, 2 * i + 1, post);
                        peer.frame(Http2Peer.HEADERS, END, 2 * i + 1, trailers);
                        peer.frame(Http2Peer.RST_STREAM, 0, 2 * i + 1, number(CANCEL));
                    }))
                    .isFalse();
            assertEndedAsAbuse(client, "h2_rapid_reset", "h2_provoked_resets");
        }
    }

    @Test
    void cheapAnswersDoNotHideARapidReset() throws Exception {
        byte[] nowhere = head("GET", "/", "nowhere.test");
        byte[] slow = head("GET", "/slow", "gateway.test");
        try (Http2Peer client = Http2Peer.connect(gateway.port("web"))) {
            // Some are answered before they are given up, for want of room at the upstream; those do not count.
            assertThat(survives(client, 8_000, (peer, i) -> {
                        peer.frame(Http2Peer.HEADERS, END, 4 * i + 1, nowhere);
                        peer.frame(Http2Peer.HEADERS, END, 4 * i + 3, slow);
                        peer.frame(Http2Peer.RST_STREAM, 0, 4 * i + 3, number(CANCEL));
                    }))
                    .isFalse();
            assertEndedAsAbuse(client, "h2_rapid_reset", "h2_provoked_resets");
        }
    }

    @Test
    void trailersThatAreTooLargeAreProvokedResets() throws Exception {
        byte[] post = head("POST", "/slow", "gateway.test");
        byte[] trailers = large(new byte[0]);
        try (Http2Peer client = Http2Peer.connect(gateway.port("web"))) {
            assertThat(survives(client, 300, (peer, i) -> {
                        peer.frame(Http2Peer.HEADERS, Http2Peer.END_HEADERS, 2 * i + 1, post);
                        peer.frame(Http2Peer.HEADERS, END, 2 * i + 1, trailers);
                    }))
                    .isFalse();
            assertEndedAsAbuse(client, "h2_provoked_resets");
        }
    }

    @Test
    void headsThatAreTooLargeKeepToTheLimitOfStreams() throws Exception {
        byte[] head = large(head("GET", "/", "gateway.test"));
        try (Http2Peer client = Http2Peer.connect(gateway.port("web"), Http2Peer.INITIAL_WINDOW_SIZE, 0)) {
            survives(client, 600, (peer, i) -> peer.frame(Http2Peer.HEADERS, END, 2 * i + 1, head));
            assertThat(gateway.metric("gateway_h2_streams_active", "side=\"downstream\""))
                    .isBetween(0., 256.);
        }
    }

    @Test
    void paddingIsNoBody() throws Exception {
        byte[] post = head("POST", "/slow", "gateway.test");
        byte[] padding = new byte[20];
        padding[0] = 19;
        try (Http2Peer client = Http2Peer.connect(gateway.port("web"))) {
            client.frame(Http2Peer.HEADERS, Http2Peer.END_HEADERS, 1, post);
            assertThat(survives(client, 1_000, (peer, i) -> peer.frame(Http2Peer.DATA, PADDED, 1, padding)))
                    .isFalse();
            assertEndedAsAbuse(client, "h2_empty_data_flood");
        }
    }

    @Test
    void goAwaysWithoutEnd() throws Exception {
        try (Http2Peer client = Http2Peer.connect(gateway.port("web"))) {
            assertThat(survives(client, 1_000, (peer, i) -> peer.frame(Http2Peer.GOAWAY, 0, 0, new byte[1_000])))
                    .isFalse();
            assertEndedAsAbuse(client, "h2_goaway_flood");
        }
    }

    /** A map of 256 tiles is left before any has come, and so is the next. */
    @Test
    void aPageThatIsLeftIsNoFlood() throws Exception {
        byte[] slow = head("GET", "/slow", "gateway.test");
        try (Http2Peer client = Http2Peer.connect(gateway.port("web"))) {
            int id = 1;
            for (int page = 0; page < 2; page++) {
                int first = id;
                for (; id < first + 2 * 256; id += 2) {
                    client.frame(Http2Peer.HEADERS, END, id, slow);
                }
                assertThat(isServed(client)).isTrue();
                for (int i = first; i < id; i += 2) {
                    client.frame(Http2Peer.RST_STREAM, 0, i, number(CANCEL));
                }
                assertThat(isServed(client)).isTrue();
            }
            client.frame(Http2Peer.HEADERS, END, id, head("GET", "/", "gateway.test"));
            assertThat(client.awaitFrame(Http2Peer.DATA, 1)).isTrue();
            assertThat(client.received(Http2Peer.GOAWAY)).isZero();
        }
    }

    /** Browsers and gRPC reset what they do not need any more, also after the answer. */
    @Test
    void resetsAfterTheAnswerAreNoFlood() throws Exception {
        byte[] nowhere = head("GET", "/", "nowhere.test");
        try (Http2Peer client = Http2Peer.connect(gateway.port("web"))) {
            assertThat(survives(client, 2_000, (peer, i) -> {
                        peer.frame(Http2Peer.HEADERS, END, 2 * i + 1, nowhere);
                        peer.frame(Http2Peer.RST_STREAM, 0, 2 * i + 1, number(CANCEL));
                    }))
                    .isTrue();
        }
    }

    /** It is far away: what it sends after the last GOAWAY, it has sent before it could read that. */
    @Test
    void aLateRequestDoesNotCostWhatWasPromised() throws Exception {
        double before = violations();
        try (Http2Peer client = Http2Peer.connect(gateway.port("old"))) {
            Http2Stream promised = client.open();
            promised.send(Head.request("GET", "/later"), true);
            assertThat(client.awaitFrame(Http2Peer.GOAWAY, 2)).isTrue();
            assertThat(client.goAways().get(1).lastStreamId()).isEqualTo(promised.id());

            client.frame(Http2Peer.HEADERS, Http2Peer.END_HEADERS, 3, head("POST", "/", "gateway.test"));
            client.frame(Http2Peer.DATA, 0, 3, new byte[3_000]);
            client.frame(Http2Peer.HEADERS, END, 3, block("x", "y"));
            client.frame(Http2Peer.HEADERS, Http2Peer.END_HEADERS, 5, head("POST", "/", "gateway.test"));
            client.frame(Http2Peer.WINDOW_UPDATE, 0, 5, number(1_000));
            client.frame(2, 0, 5, new byte[5]); // PRIORITY
            client.frame(Http2Peer.RST_STREAM, 0, 5, number(CANCEL));
            assertThat(isServed(client)).isTrue();

            release.countDown();
            assertThat(promised.receiveFinal().status()).isEqualTo(200);
            assertThat(promised.receiveBody()).isEqualTo("kept");
            assertThat(client.goAways()).hasSize(2);
            assertThat(violations()).isEqualTo(before);
        }
    }
}
