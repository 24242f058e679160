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

/** A call of gRPC that the gateway cannot pass on ends with a status of gRPC's and the cause. */
@Tag("jar")
@Timeout(60)
class GrpcFailureIT {
    @Test
    void aCallIsToldItsStatusAndTheCause() throws Exception {
        try (GatewayJar gateway = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes:
                                  - rules:
                                      - matches: [{path: {type: PathPrefix, value: /demo.Echo}}]
                                        backendRefs: [{name: app}]
                                upstreams:
                                  - name: app
                                    protocol: h2c
                                    endpoints: [{host: 127.0.0.1, port: %d}]
                                admin: {address: 127.0.0.1, port: 0}
                                """
                                        .formatted(ClosedPort.number()))
                        .start();
                Peer client = Peers.H2C.connect(gateway.port("web"))) {
            assertThat(call(client, "/demo.Echo/Say", "application/grpc"))
                    .satisfies(head -> assertThat(head.get("grpc-status")).contains("14"))
                    .satisfies(head ->
                            assertThat(head.get("grpc-message").orElse("")).startsWith("connect_failed, request "))
                    .satisfies(head ->
                            assertThat(head.get("proxy-status").orElse("")).contains("connect_failed"))
                    .satisfies(head -> assertThat(head.status()).isEqualTo(200))
                    .satisfies(head -> assertThat(head.get("content-type")).contains("application/grpc"));
            assertThat(call(client, "/other/Say", "application/grpc+proto").get("grpc-status"))
                    .contains("12");
            assertThat(call(client, "/demo.Echo/Say", "application/json").status())
                    .isEqualTo(502);
            assertThat(gateway.metric("gateway_downstream_requests_total", "cause=\"connect_failed\"", "code=\"502\""))
                    .isEqualTo(2);
        }
    }

    private static Head call(Peer client, String path, String type) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("POST", path, "content-type", type, "te", "trailers"), true);
        Head head = stream.receiveFinal();
        String body = stream.receiveBody();
        assertThat(body.isEmpty()).isEqualTo(head.status() == 200);
        return head;
    }
}
