package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A route that leads back to its own listener makes one request of one, and not as many as fit. */
@Tag("jar")
@Timeout(120)
class RouteLoopIT {
    private static Head get(Peers peers, int port, String path) throws IOException {
        try (Peer client = peers.connect(port)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", path), true);
            Head answer = stream.receiveFinal();
            stream.receiveBody();
            return answer;
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void aRouteThatLeadsBackToItselfIsALoop(Peers peers) throws Exception {
        int port = Tools.freePort();
        try (Origin origin = Origin.start().otherwise(Behaviors.text("ok"));
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners:
                                  - {name: web, address: 127.0.0.1, port: %1$d, protocol: HTTP}
                                  - {name: inner, address: 127.0.0.1, port: 0, protocol: HTTP}
                                routes:
                                  - name: back
                                    rules: [{matches: [{path: {value: /loop}}], backendRefs: [{name: self}]}]
                                  - name: twice
                                    rules:
                                      - matches: [{path: {value: /twice}}]
                                        filters:
                                          - type: URLRewrite
                                            urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /once}}
                                        backendRefs: [{name: self}]
                                  - name: end
                                    rules: [{matches: [{path: {value: /once}}], backendRefs: [{name: app}]}]
                                upstreams:
                                  - {name: self, protocol: %3$s, endpoints: [{host: 127.0.0.1, port: %1$d}]}
                                  - {name: app, endpoints: [{host: 127.0.0.1, port: %2$d}]}
                                admin: {address: 127.0.0.1, port: 0}
                                """
                                        .formatted(port, origin.port(), peers.isHttp2() ? "h2c" : "http1"))
                        .start()) {
            assertThat(get(peers, port, "/loop").status()).isEqualTo(508);
            gateway.awaitLog("loop_detected");
            assertThat(gateway.metric("gateway_downstream_requests_total", "route=\"back\""))
                    .isEqualTo(2);

            // Who comes back by another route may well get somewhere.
            assertThat(get(peers, port, "/twice").status()).isEqualTo(200);
            assertThat(origin.requests("/once")).hasSize(1);
        }
    }
}
