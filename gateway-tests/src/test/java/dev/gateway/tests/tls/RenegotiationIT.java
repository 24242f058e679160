package dev.gateway.tests.tls;

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
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client of TLS 1.2 that wants to renegotiate, which would cost a handshake each time, loses its connection. */
@Tag("jar")
@Tag("platform")
@Timeout(60)
class RenegotiationIT {
    private static final int TIMES = 20;

    @Test
    void theConnectionEndsAndNoHandshakeIsMade() throws Exception {
        String openssl = Tools.find("openssl");
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners:
                                  - {name: web, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: off}
                                """
                                        .formatted(origin.port()))
                        .start();
                Peer other = Peers.HTTP1_TLS.connect(gateway.port("web"))) {
            ask(other);
            for (int i = 0; i < TIMES; i++) {
                renegotiate(openssl, gateway.port("web"));
            }
            ask(other);
            gateway.await("the end of all these connections", () -> connections(gateway) == 1);
            assertThat(gateway.metric("gateway_downstream_connections_total")).isEqualTo(TIMES + 1);
            assertThat(gateway.log()).doesNotContain("Exception");
        }
    }

    /** Has a request served, then asks for another handshake; returns when the gateway has closed the connection. */
    private static void renegotiate(String openssl, int port) throws Exception {
        Process client = new ProcessBuilder(openssl, "s_client", "-tls1_2", "-crlf", "-connect", "127.0.0.1:" + port)
                .redirectErrorStream(true)
                .start();
        try {
            OutputStream in = client.getOutputStream();
            in.write("GET / HTTP/1.1\nHost: localhost\n\n".getBytes(StandardCharsets.US_ASCII));
            in.flush();
            InputStream out = client.getInputStream();
            StringBuilder seen = new StringBuilder();
            while (seen.indexOf("\r\n\r\nok") < 0) {
                int next = out.read();
                assertThat(next).as("%s", seen).isNotNegative();
                seen.append((char) next);
            }
            in.write("R\n".getBytes(StandardCharsets.US_ASCII)); // a command of s_client
            in.flush();
            String rest = new String(out.readAllBytes(), StandardCharsets.US_ASCII);
            assertThat(rest).contains("RENEGOTIATING");
            assertThat(client.waitFor(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
                    .isTrue();
        } finally {
            client.destroyForcibly();
        }
    }

    private static double connections(GatewayJar gateway) {
        try {
            return gateway.metric("gateway_downstream_connections_active");
        } catch (IOException | InterruptedException e) {
            return -1;
        }
    }

    private static void ask(Peer client) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        assertThat(stream.receiveBody()).isEqualTo("ok");
    }
}
