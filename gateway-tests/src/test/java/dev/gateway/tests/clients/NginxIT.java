package dev.gateway.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.NginxServer;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** nginx as the upstream: files, ranges, conditions, and connections that it ends after some requests. */
@Tag("platform")
class NginxIT {
    private static final byte[] FILE = new byte[3_000_000];
    private static NginxServer nginx;

    @BeforeAll
    static void start() throws Exception {
        new Random(7).nextBytes(FILE);
        nginx = NginxServer.start(FILE);
    }

    @AfterAll
    static void stop() throws Exception {
        if (nginx != null) {
            nginx.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void filesArriveWhole(Pairing pairing) throws Exception {
        try (Rig rig = rig(pairing);
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/file"), true);
            assertThat(stream.receiveFinal().get("content-length")).contains("3000000");
            assertThat(stream.receiveBody().getBytes(StandardCharsets.ISO_8859_1))
                    .isEqualTo(FILE);
        }
    }

    @ParameterizedTest
    @EnumSource
    void rangesAndConditionsPass(Pairing pairing) throws Exception {
        try (Rig rig = rig(pairing);
                Peer client = rig.connect(pairing)) {
            PeerStream range = client.open();
            range.send(Head.request("GET", "/file", "range", "bytes=10-19"), true);
            Head partial = range.receiveFinal();
            assertThat(partial.status()).isEqualTo(206);
            assertThat(range.receiveBody()).hasSize(10);

            PeerStream conditional = client.open();
            String etag = partial.get("etag").orElseThrow();
            conditional.send(Head.request("GET", "/file", "if-none-match", etag), true);
            assertThat(conditional.receiveFinal().status()).isEqualTo(304);
            assertThat(conditional.receiveBody()).isEmpty();

            PeerStream head = client.open();
            head.send(Head.request("HEAD", "/file"), true);
            assertThat(head.receiveFinal().get("content-length")).contains("3000000");
            assertThat(head.receiveBody()).isEmpty();

            PeerStream gone = client.open();
            gone.send(Head.request("GET", "/gone"), true);
            assertThat(gone.receiveFinal().status()).isEqualTo(410);
            gone.receiveBody();
        }
    }

    @ParameterizedTest
    @EnumSource
    void connectionsThatItEndsCauseNoError(Pairing pairing) throws Exception {
        try (Rig rig = rig(pairing);
                Peer client = rig.connect(pairing)) {
            String protocol = pairing.upstreamIsHttp2() ? "HTTP/2.0" : "HTTP/1.1";
            // It closes each connection, or sends GOAWAY, after 50 requests.
            for (int i = 0; i < 320; i++) {
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/whoami"), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                assertThat(stream.receiveBody()).startsWith("GET " + protocol).endsWith("for=127.0.0.1");
            }
        }
    }

    private static Rig rig(Pairing pairing) throws Exception {
        return Rig.to(pairing.upstreamIsHttp2() ? nginx.h2cPort() : nginx.port())
                .upstreamProtocol(pairing.upstream)
                .start();
    }
}
