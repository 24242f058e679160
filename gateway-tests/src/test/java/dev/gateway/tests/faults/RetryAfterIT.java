package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who is refused for the moment is told when to come back. */
@Tag("jar")
@Timeout(120)
class RetryAfterIT {
    @Test
    void aRefusalForTheMomentSaysWhenToComeBack() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                GatewayJar gateway = GatewayJar.of(
                                """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes: [{rules: [{matches: [{path: {value: /app}}], backendRefs: [{name: app}]}]}]
                        upstreams:
                          - name: app
                            protocol: http1
                            endpoints: [{host: 127.0.0.1, port: %d}]
                            circuitBreaker: {maxConnections: 1}
                            timeouts: {poolAcquire: 200ms}
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                        .formatted(silent.getLocalPort()))
                        .start();
                Peer holder = Peers.HTTP1.connect(gateway.port("web"))) {
            holder.open().send(Head.request("GET", "/app"), true);
            Socket held = silent.accept(); // the one connection, which lives as long as this names it
            for (Peers protocol : List.of(Peers.HTTP1, Peers.H2C)) {
                try (Peer client = protocol.connect(gateway.port("web"))) {
                    PeerStream refused = client.open();
                    refused.send(Head.request("GET", "/app"), true);
                    Head head = refused.receiveFinal();
                    assertThat(head.status()).isEqualTo(503);
                    assertThat(head.get("retry-after")).contains("1");
                    refused.receiveBody();
                    PeerStream unknown = client.open();
                    unknown.send(Head.request("GET", "/"), true);
                    head = unknown.receiveFinal();
                    assertThat(head.status()).isEqualTo(404);
                    assertThat(head.get("retry-after")).isEmpty();
                }
            }
            held.close();
        }
    }

    @Test
    void aProbeOfADrainingGatewaySaysWhenToComeBack() throws Exception {
        try (GatewayJar gateway = GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """)
                .start()) {
            HttpResponse<String> ready = gateway.admin("/ready", Duration.ofSeconds(20));
            assertThat(ready.statusCode()).isEqualTo(200);
            assertThat(ready.headers().firstValue("retry-after")).isEmpty();
            gateway.post("/drain"); // is answered before it begins
            do {
                ready = gateway.admin("/ready", Duration.ofSeconds(20));
            } while (ready.statusCode() == 200); // the test's timeout ends this
            assertThat(ready.statusCode()).isEqualTo(503);
            assertThat(ready.headers().firstValue("retry-after")).contains("1");
        }
    }
}
