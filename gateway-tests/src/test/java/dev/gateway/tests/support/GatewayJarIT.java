package dev.gateway.tests.support;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The jar starts with few descriptors and little memory, and tells its ports. */
@Tag("jar")
@Timeout(120)
@Tag("platform")
class GatewayJarIT {
    @Test
    void theJarServesWithLittleOfEverything() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: off}
                                """
                                        .formatted(origin.port()))
                        .heap("64m")
                        .openFiles(256)
                        .start()) {
            try (Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/"), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                assertThat(stream.receiveBody()).isEqualTo("ok");
            }
            assertThat(gateway.admin("/ready", Duration.ofSeconds(20)).statusCode())
                    .isEqualTo(200);
            assertThat(gateway.openFiles()).isBetween(5, 256);
        }
    }
}
