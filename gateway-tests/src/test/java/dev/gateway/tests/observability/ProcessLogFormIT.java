package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Lines of both logs can be put in order, and say what failed without the words of a library. */
@Tag("jar")
@Timeout(60)
class ProcessLogFormIT {
    @Test
    void linesBeginWithTheTimeInUtcAndFailuresAreInPlainWords() throws Exception {
        try (GatewayJar gateway = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                                admin: {address: 127.0.0.1, port: 0}
                                """
                                        .formatted(ClosedPort.number()))
                        .start();
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            assertThat(gateway.log().lines().filter(line -> line.contains("INFO")))
                    .isNotEmpty()
                    .allMatch(line -> line.matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z INFO .*"));
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(502);
            gateway.awaitLog("\"cause\":\"connect_failed\"");
            assertThat(gateway.log()).contains("Connection refused").doesNotContain("failed with error");
        }
    }
}
