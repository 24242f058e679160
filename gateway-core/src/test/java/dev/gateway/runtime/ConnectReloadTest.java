package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.Gateway;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of tunnels when another configuration takes over; nothing is waited for there. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // what is made before each test
class ConnectReloadTest {
    private static final int PATIENCE_MILLIS = 20_000;
    private static final String ALLOWED = "allow: [localhost]";

    private ServerSocket origin;
    private Gateway gateway;

    @BeforeEach
    void start() throws Exception {
        origin = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        origin.setSoTimeout(PATIENCE_MILLIS);
        gateway = Gateway.start(config(ALLOWED));
    }

    @AfterEach
    void stop() throws IOException {
        gateway.close();
        origin.close();
    }

    private GatewayConfig config(String keys) {
        String connect = keys.isEmpty()
                ? ""
                : "connect: [{parentRefs: [{name: egress}], allowedPorts: [" + origin.getLocalPort()
                        + "], trustedDestinations: [localhost], " + keys + "}]\n";
        String yaml = "listeners: [{name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}]\n" + connect
                + "drain: {timeout: 0s}\naccessLog: {format: off}\nworkers: 1\n";
        LoadResult result =
                ConfigLoader.parse("gateway.yaml", yaml.getBytes(StandardCharsets.UTF_8), Path.of(""), Map.of());
        assertThat(result).as("%s", result.problems()).isInstanceOf(LoadResult.Valid.class);
        return ((LoadResult.Valid) result).config();
    }

    private Socket ask() throws IOException {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), gateway.port("egress"));
        client.setSoTimeout(PATIENCE_MILLIS);
        String authority = "localhost:" + origin.getLocalPort();
        send(client, "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
        return client;
    }

    private static String status(Socket client) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int c = client.getInputStream().read();
            assertThat(c).as("what comes after: %s", head).isGreaterThanOrEqualTo(0);
            head.append((char) c);
        }
        return head.substring(9, 12);
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String receive(Socket socket, int bytes) throws IOException {
        return new String(socket.getInputStream().readNBytes(bytes), StandardCharsets.US_ASCII);
    }

    @Test
    void aTunnelOutlivesAChangeThatWouldRefuseIt() throws Exception {
        try (Socket client = ask()) {
            assertThat(status(client)).isEqualTo("200");
            try (Socket server = origin.accept()) {
                gateway.reload(config("allow: [other.example]"));
                try (Socket refused = ask()) {
                    assertThat(status(refused)).isEqualTo("403");
                }
                send(client, "ping");
                assertThat(receive(server, 4)).isEqualTo("ping");
                send(server, "pong");
                assertThat(receive(client, 4)).isEqualTo("pong");
            }
        }
    }

    @Test
    void aTunnelOfAnEntryThatIsGoneIsCut() throws Exception {
        try (Socket client = ask()) {
            assertThat(status(client)).isEqualTo("200");
            try (Socket server = origin.accept()) {
                gateway.reload(config(""));
                try (Socket refused = ask()) {
                    assertThat(status(refused)).isEqualTo("405");
                }
                server.setSoTimeout(PATIENCE_MILLIS);
                try {
                    assertThat(server.getInputStream().read()).isNegative();
                } catch (SocketException e) {
                    assertThat(e).hasMessageContaining("reset");
                }
            }
        }
    }
}
