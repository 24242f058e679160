package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients of the gateway may be anybody, so no upstream leads them to the pages that are for this machine. */
@Timeout(120)
class AdminEndpointIT {
    @Test
    void aFileCannotMakeTheAdminListenerAnEndpoint(@TempDir Path directory) throws Exception {
        Path list = Files.writeString(directory.resolve("endpoints.yaml"), "[]\n");
        try (Rig rig = Rig.start(
                """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP, forwardedHeaders: off}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                routes: [{rules: [{backendRefs: [{name: app}], retry: {attempts: 0}}]}]
                upstreams: [{name: app, endpoints: [{file: "%s"}]}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: json, path: access.log}
                """
                        .formatted(list))) {
            int port = rig.port("admin");
            Files.writeString(list, "- {host: localhost, port: " + port + "}\n");
            rig.awaitMetric(1, "gateway_upstream_endpoints", "upstream", "app", "state", "healthy");
            try (Peer client = Peers.HTTP1.connect(rig.port("clear"))) {
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/config"), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(502);
                assertThat(stream.receiveBody()).doesNotContain("listeners");
            }
            assertThat(rig.awaitAccessLog(1).get(0))
                    .contains("\"cause\":\"connect_failed\"", "is the admin listener of this gateway");
        }
    }
}
