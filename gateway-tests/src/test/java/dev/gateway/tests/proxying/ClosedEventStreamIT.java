package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Stream;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A tab with an event stream is closed: its upstream learns of it long before the next event. */
@Tag("platform")
class ClosedEventStreamIT {
    private static final int CANCEL = 8;

    @ParameterizedTest
    @CsvSource({"HTTP1, http1", "HTTP1, h2c", "HTTP1_TLS, http1", "HTTP1_TLS, h2c", "H2C, http1"})
    void theUpstreamStreamEnds(Peers client, String upstream) throws Exception {
        CompletableFuture<Integer> ended = new CompletableFuture<>();
        try (Origin origin = Origin.start().on("/events", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200, "content-type", "text/event-stream"), false);
                    stream.send("data: 1\n\n", false);
                    if (stream instanceof Http2Stream http2) {
                        ended.complete(http2.awaitReset());
                    } else {
                        stream.peer().awaitClosed();
                        ended.complete(CANCEL);
                    }
                });
                Rig rig = Rig.to(origin.port()).upstreamProtocol(upstream).start()) {
            try (Peer tab = rig.connect(client)) {
                PeerStream stream = tab.open();
                stream.send(Head.request("GET", "/events"), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
            }
            assertThat(ended.get(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS)).isEqualTo(CANCEL);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("\"status\":200", "\"cause\":\"client_closed\"");
        }
    }
}
