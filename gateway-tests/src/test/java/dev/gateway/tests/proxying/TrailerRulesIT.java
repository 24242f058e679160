package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Pairing;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A header that a rule removes or sets does not come back as a trailer, which some servers merge into the head. */
@Tag("jar")
@Timeout(120)
class TrailerRulesIT {
    private static final String YAML =
            """
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            routes:
              - rules:
                  - filters:
                      - type: RequestHeaderModifier
                        requestHeaderModifier:
                          remove: [X-Internal-User]
                          set: [{name: X-Tier, value: bronze}]
                          add: [{name: X-Note, value: ours}]
                      - type: ResponseHeaderModifier
                        responseHeaderModifier:
                          remove: [X-Debug]
                          set: [{name: X-Frame, value: deny}]
                    backendRefs: [{name: app}]
            upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s}]
            admin: {address: 127.0.0.1, port: 0}
            accessLog: {format: off}
            """;

    @ParameterizedTest
    @EnumSource
    void removedAndSetHeadersAreNoTrailers(Pairing pairing) throws Exception {
        CompletableFuture<List<String>> received = new CompletableFuture<>();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    received.complete(stream.trailers().stream()
                            .map(field -> field.getKey().toLowerCase(java.util.Locale.ROOT))
                            .toList());
                    stream.send(Head.response(200, "trailer", "x-sum"), false);
                    stream.send("body", false);
                    stream.sendTrailers("x-sum", "42", "x-debug", "secret", "x-frame", "any");
                });
                GatewayJar gateway = GatewayJar.of(YAML.formatted(origin.port(), pairing.upstream))
                        .start();
                Peer client = pairing.client.connect(gateway.port("web"))) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "te", "trailers"), false);
            stream.send("body", false);
            stream.sendTrailers("x-sum", "42", "x-internal-user", "admin", "x-tier", "gold", "x-note", "theirs");
            assertThat(stream.receiveFinal().get("x-frame")).contains("deny");
            assertThat(stream.receiveBody()).isEqualTo("body");
            assertThat(received.get(20, TimeUnit.SECONDS)).containsExactlyInAnyOrder("x-sum", "x-note");
            assertThat(stream.trailer("x-sum")).containsExactly("42");
            assertThat(stream.trailer("x-debug")).isEmpty();
            assertThat(stream.trailer("x-frame")).isEmpty();
        }
    }
}
