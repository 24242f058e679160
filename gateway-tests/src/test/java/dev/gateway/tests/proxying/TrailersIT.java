package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Trailers pass in both directions. */
@Tag("platform")
class TrailersIT {
    @ParameterizedTest
    @EnumSource
    void trailersOfARequestReachTheUpstream(Pairing pairing) throws Exception {
        CompletableFuture<List<String>> received = new CompletableFuture<>();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    String body = stream.receiveBody();
                    received.complete(List.of(body, String.join(",", stream.trailer("x-sum"))));
                    stream.send(Head.response(204), true);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "trailer", "x-sum"), false);
            stream.send("body", false);
            stream.sendTrailers("x-sum", "42");
            assertThat(stream.receiveFinal().status()).isEqualTo(204);
            assertThat(received.get(20, TimeUnit.SECONDS)).containsExactly("body", "42");
        }
    }

    @ParameterizedTest
    @EnumSource
    void trailersOfAResponseReachTheClient(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200, "trailer", "x-sum"), false);
                    stream.send("body", false);
                    stream.sendTrailers("x-sum", "42", "x-other", "43");
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            for (int i = 0; i < 2; i++) {
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/", "te", "trailers"), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                assertThat(stream.receiveBody()).isEqualTo("body");
                assertThat(stream.trailer("x-sum")).containsExactly("42");
                assertThat(stream.trailer("x-other")).containsExactly("43");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void trailersCannotFrameRouteOrAuthenticate(Pairing pairing) throws Exception {
        CompletableFuture<List<Map.Entry<String, String>>> received = new CompletableFuture<>();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    received.complete(stream.trailers());
                    stream.send(Head.response(200), false);
                    stream.send("body", false);
                    stream.sendTrailers(
                            "x-end", "43", "content-length", "1", "location", "/other", "set-cookie", "a=b");
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "te", "trailers"), false);
            stream.send("body", false);
            stream.sendTrailers("x-sum", "42", "content-length", "1", "host", "other.test", "authorization", "none");
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("body");
            assertThat(received.get(20, TimeUnit.SECONDS))
                    .as("trailers of the request")
                    .containsExactly(Map.entry("x-sum", "42"));
            assertThat(stream.trailers()).as("trailers of the response").containsExactly(Map.entry("x-end", "43"));
        }
    }
}
