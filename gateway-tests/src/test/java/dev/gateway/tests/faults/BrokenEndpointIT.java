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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An endpoint that breaks off whatever it answers is ejected, if the configuration says that this counts. */
@Tag("jar")
@Timeout(60)
class BrokenEndpointIT {
    private static final int REQUESTS = 12;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\r\nContent-Le",
                "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsome\r\nnothing more\r\n",
            })
    void isEjected(String response) throws Exception {
        try (Origin broken = Origin.start().otherwise((stream, head) -> {
                    stream.receiveBody();
                    Http1Peer peer = (Http1Peer) stream.peer();
                    peer.raw(response).halfClose();
                });
                Origin good = Origin.start().otherwise(Behaviors.text("good"));
                GatewayJar gateway = GatewayJar.of(
                                """
                                workers: 1
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                                upstreams:
                                  - name: app
                                    loadBalancer: RoundRobin
                                    endpoints: [{host: 127.0.0.1, port: %d}, {host: 127.0.0.1, port: %d}]
                                    healthChecks: {outlierDetection: {consecutive5xx: 3, baseEjectionTime: 5m}}
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: off}
                                """
                                        .formatted(broken.port(), good.port()))
                        .start()) {
            for (int i = 0; i < REQUESTS; i++) {
                ask(gateway);
            }
            assertThat(gateway.json("/upstreams").findValuesAsText("state")).containsExactly("ejected", "healthy");
            assertThat(broken.requests("/")).hasSize(3);
            assertThat(ask(gateway)).isEqualTo("good");
        }
    }

    private static String ask(GatewayJar gateway) throws IOException {
        try (Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            try {
                stream.receiveFinal();
                return stream.receiveBody();
            } catch (IOException e) {
                return "broken: " + e;
            }
        }
    }
}
