package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Pairing;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An upstream that answers amid an upload, and resets the connection instead of reading the rest, has answered. */
@Tag("jar")
@Timeout(120)
@Tag("platform")
class AnswerThenResetIT {
    private static final int UPLOADS = 40;

    /** How many requests an origin has received whose connection it is still to reset. */
    private final AtomicInteger answering = new AtomicInteger();

    @ParameterizedTest
    @EnumSource
    void theAnswerReachesTheClientAndNobodyIsBlamed(Pairing pairing) throws Exception {
        CountDownLatch answered = new CountDownLatch(1);
        try (Origin one = origin().delayFirst(answered);
                Origin other = origin();
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                                upstreams:
                                  - name: app
                                    endpoints: [{host: 127.0.0.1, port: %1$d}, {host: 127.0.0.1, port: %2$d}]
                                    protocol: %3$s
                                    healthChecks: {outlierDetection: {consecutive5xx: 3}}
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: off}
                                """
                                        .formatted(one.port(), other.port(), pairing.upstream))
                        .start()) {
            for (int size : new int[] {200_000, 20_000_000}) {
                List<Integer> statuses = new ArrayList<>();
                for (int i = 0; i < UPLOADS; i++) {
                    try (Peer client = pairing.client.connect(gateway.port("web"))) {
                        statuses.add(upload(client, size));
                    }
                    if (one.connections() > 0) {
                        answered.countDown(); // with HTTP/2, the other origin has answered what this one was to get
                    }
                    // The next upload must not share a connection of HTTP/2 that is about to be reset.
                    gateway.await(
                            "no upstream connection but those that nobody has reset",
                            () -> answering.get() == 0 && connections(gateway) == open(one, other));
                }
                assertThat(statuses).as("uploads of %s bytes", size).containsOnly(413);
            }
            assertThat(gateway.json("/upstreams").findValuesAsText("state")).doesNotContain("ejected");
            assertThat(gateway.log()).doesNotContain("ejected");
        }
    }

    private Origin origin() throws IOException {
        return Origin.start().on("/", (stream, head) -> {
            answering.incrementAndGet();
            try {
                stream.sendAndAbort(Head.response(413, "content-length", "8"), "too much");
            } finally {
                answering.decrementAndGet();
            }
        });
    }

    /**
     * Returns how many connections the origins have and have not reset. One takes so long to open that its upload goes to
     * the other origin; the gateway keeps it for later.
     */
    private static int open(Origin... origins) {
        return Stream.of(origins).mapToInt(Origin::openConnections).sum();
    }

    private static int connections(GatewayJar gateway) {
        try {
            JsonNode used = gateway.json("/upstreams").at("/upstreams/0/limits/connections/used");
            assertThat(used.isInt()).isTrue();
            return used.intValue();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int upload(Peer client, int size) throws Exception {
        PeerStream stream = client.open();
        Thread sender = new Thread(() -> send(stream, size));
        sender.setDaemon(true);
        stream.send(Head.request("POST", "/", "content-length", Integer.toString(size)), false);
        sender.start();
        try {
            Head head = stream.receiveFinal();
            assertThat(stream.receiveBody()).isEqualTo("too much");
            return head.status();
        } finally {
            client.close();
            sender.join();
        }
    }

    private static void send(PeerStream stream, int size) {
        byte[] chunk = new byte[20_000];
        try {
            for (int sent = 0; sent < size; sent += chunk.length) {
                stream.send(chunk, sent + chunk.length >= size);
            }
        } catch (IOException e) {
            // Nobody wants the rest.
        }
    }
}
