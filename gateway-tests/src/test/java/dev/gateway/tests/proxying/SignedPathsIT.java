package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Paths that must arrive as the client wrote them, since it has signed them. */
class SignedPathsIT {
    /** S3 keys, as boto3 writes them into its URLs. */
    private static final List<String> KEYS = List.of(
            "/bucket/a//b",
            "/bucket//lead",
            "/bucket/trail/",
            "/bucket/trail//",
            "/bucket/./a",
            "/bucket/a/./b",
            "/bucket/a/../b",
            "/bucket/a%20b",
            "/bucket/a%2Bb",
            "/bucket/a%2Fb",
            "/bucket/a%3Fb%23c",
            "/bucket/%C3%A4",
            "/bucket/%e2%82%ac",
            "/bucket/~a",
            "/bucket/%7Ea",
            "/bucket/a=b&c;d",
            "/bucket/a%25b");

    private static int get(Peer client, String path) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path, "x-amz-meta-under_score", "1", "x-amz-meta-a.b", "2"), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }

    @ParameterizedTest
    @EnumSource
    void whatAClientOfS3SignsArrivesAsItIs(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().otherwise(Behaviors.text("ok"));
                Rig rig = Rig.to(origin, pairing)
                        .listener("headersWithUnderscores: allow")
                        .rule("mergeSlashes: false, normalizePath: false")
                        .start()) {
            for (String key : KEYS) {
                try (Peer client = rig.connect(pairing)) {
                    assertThat(get(client, key)).as(key).isEqualTo(200);
                }
                assertThat(origin.requests(key)).as(key).singleElement().satisfies(seen -> {
                    assertThat(seen.get("x-amz-meta-under_score")).contains("1");
                    assertThat(seen.get("x-amz-meta-a.b")).contains("2");
                });
            }
            try (Peer client = rig.connect(pairing)) { // still refused: two servers read it differently
                assertThat(get(client, "/bucket/a//../b")).isEqualTo(400);
            }
        }
    }
}
