package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What outlives many reloads does not keep each of the configurations that it began with. */
@Tag("jar")
@Timeout(90)
class OldGenerationsIT {
    private static final int RELOADS = 8;

    private static String config(int origin, int generation) {
        return """
        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
        routes:
          - name: generation-%d
            rules: [{backendRefs: [{name: app}]}]
        upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
        connect: [{parentRefs: [{name: web}], allow: ["127.0.0.1"], allowedPorts: [%d], denyPrivate: false}]
        admin: {address: 127.0.0.1, port: 0}
        accessLog: {format: off}
        """
                .formatted(generation, origin, origin);
    }

    /** Sends a request, and returns when its response has begun. */
    private static Socket open(GatewayJar gateway, String request) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port("web"));
        socket.setSoTimeout(Peer.PATIENCE_MILLIS);
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        assertThat(new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
                .isEqualTo("HTTP/1.1 200");
        return socket;
    }

    @Test
    void tunnelsAndLongResponsesKeepNoConfiguration() throws Exception {
        List<Socket> clients = new ArrayList<>();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.send(Head.response(200), false); // and never ends
                    stream.peer().awaitClosed();
                });
                GatewayJar gateway = GatewayJar.of(config(1, 0)).start()) {
            for (int i = 1; i <= RELOADS; i++) {
                Files.writeString(gateway.directory().resolve("gateway.yaml"), config(origin.port(), i));
                assertThat(gateway.post("/reload").statusCode()).isEqualTo(200);
                String authority = "127.0.0.1:" + origin.port();
                clients.add(open(gateway, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
                clients.add(open(gateway, "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n"));
            }
            assertThat(gateway.instances("dev.gateway.config.GatewayConfig")).isBetween(1, 3);
            assertThat(gateway.instances("dev.gateway.assembly.Generation")).isBetween(1, 3);
            assertThat(gateway.instances("dev.gateway.assembly.Generation$ListenerPolicy"))
                    .isBetween(1, 3);
        } finally {
            for (Socket client : clients) {
                client.close();
            }
        }
    }
}
