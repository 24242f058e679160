package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Heads that are cheap to send and dear to handle or to log, and ids that tell nothing of one another. */
@Tag("jar")
@Timeout(120)
class CostlyHeadsIT {
    private static GatewayJar to(Origin origin) throws IOException {
        return GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: json, path: access.log}
                        """
                                .formatted(origin.port()))
                .start();
    }

    /** By HTTP/2 each repetition of a field costs the client one byte. */
    @Test
    void aRepeatedHeaderIsCutInTheLog() throws Exception {
        List<String> fields = new ArrayList<>();
        for (int i = 0; i < 90; i++) {
            fields.addAll(List.of("user-agent", "x".repeat(260)));
        }
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = to(origin);
                Peer client = Peers.H2C.connect(gateway.port("web"))) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/", fields.toArray(String[]::new)), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            Path log = gateway.directory().resolve("access.log");
            gateway.await("a line of the access log", () -> {
                try {
                    return Files.exists(log) && Files.readString(log).endsWith("\n");
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(Files.readString(log)).contains("x".repeat(260) + ", ").hasSizeLessThan(3_000);
        }
    }

    /** Each name is looked for among all fields. */
    @Test
    void aConnectionThatNamesThousandsOfFieldsIsABadRequest() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = to(origin)) {
            for (int names : new int[] {32, 33, 10_000}) {
                try (Http1Peer client = Http1Peer.connect(gateway.port("web"))) {
                    client.raw("GET / HTTP/1.1\r\nHost: a.test\r\nConnection: " + "a,".repeat(names - 1) + "a\r\n\r\n");
                    assertThat(client.response("GET").receiveFinal().status()).isEqualTo(names > 32 ? 400 : 200);
                }
            }
            assertThat(gateway.metric("gateway_protocol_violations_total", "kind=\"too_many_connection_options\""))
                    .isEqualTo(2);
        }
    }

    /** Two thirds of the way to SplittableRandom's next number: undo its last step, and take the next one. */
    private static long after(long number) {
        long z = number;
        z ^= z >>> 31 ^ z >>> 62;
        z *= 0x319642b2d24d8ec3L;
        z ^= z >>> 27 ^ z >>> 54;
        z *= 0x96de1b173f119089L;
        z ^= z >>> 30 ^ z >>> 60;
        z += 0x9e3779b97f4a7c15L << 1; // an id takes two
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }

    @Test
    void aRequestIdDoesNotTellTheNext() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = to(origin);
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            for (int i = 0; i < 2; i++) {
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/"), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                stream.receiveBody();
            }
            List<String> ids = origin.requests("/").stream()
                    .map(head -> head.get("x-request-id").orElseThrow())
                    .toList();
            assertThat(ids).hasSize(2).allMatch(id -> id.matches("[0-9a-f]{32}"));
            long first = Long.parseUnsignedLong(ids.get(0).substring(16), 16);
            assertThat(ids.get(1)).doesNotEndWith("%016x".formatted(after(first)));
        }
    }
}
