package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Pairing;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An upstream has its time for a response from the end of the request on: until then the client is waited for. */
@Tag("jar")
@Timeout(120)
class SlowUploadIT {
    @ParameterizedTest
    @EnumSource
    void aClientThatPausesAmidItsUploadIsNotAnsweredForTheUpstream(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("whole")).on("/silence", Behaviors.silence());
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                                upstreams:
                                  - name: app
                                    endpoints: [{host: 127.0.0.1, port: %1$d}]
                                    protocol: %2$s
                                    timeouts: {responseHeaders: 400ms}
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: off}
                                """
                                        .formatted(origin.port(), pairing.upstream))
                        .start();
                Peer client = pairing.client.connect(gateway.port("web"));
                Peer other = pairing.client.connect(gateway.port("web"))) {
            PeerStream upload = client.open();
            upload.send(Head.request("POST", "/", "content-length", "8"), false);
            upload.send("half", false);
            for (int i = 0; i < 2; i++) { // the time is over, as others see
                PeerStream silent = other.open();
                silent.send(Head.request("GET", "/silence"), true);
                assertThat(silent.receiveFinal().status()).isEqualTo(504);
                silent.receiveBody();
            }
            upload.send("half", true);
            assertThat(upload.receiveFinal().status()).isEqualTo(200);
            assertThat(upload.receiveBody()).isEqualTo("whole");
        }
    }
}
