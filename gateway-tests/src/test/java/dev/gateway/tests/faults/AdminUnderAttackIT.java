package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.NotifyReceiver;
import dev.gateway.tests.support.Tools;
import dev.gateway.tests.support.WaitingPlugin;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Probes, metrics and systemd's watchdog go on, whatever somebody does to the admin listener. */
@Tag("jar")
@Timeout(90)
class AdminUnderAttackIT {
    private static final Duration SOON = Duration.ofSeconds(10);

    @TempDir
    private Path directory;

    @Test
    void probesAreAnsweredThoughAClientHoldsMoreConnectionsThanThereMayBe() throws Exception {
        List<Socket> sockets = new ArrayList<>();
        try (GatewayJar gateway = GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        admin: {address: 127.0.0.1, port: 0}
                        """)
                .start()) {
            for (int i = 0; i < 300; i++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.adminPort());
                sockets.add(socket);
                try {
                    socket.getOutputStream().write('G');
                } catch (IOException e) {
                    assertThat(e).hasMessageContaining("Broken pipe"); // one that had to make room
                }
            }
            for (String probe : List.of("/live", "/ready", "/healthz", "/startup")) {
                assertThat(gateway.admin(probe, SOON).statusCode()).as(probe).isEqualTo(200);
            }
            assertThat(gateway.admin("/metrics", SOON).statusCode()).isEqualTo(200);
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    /** What a client sends of heads that it does not finish must not use up the room that a probe's connection needs. */
    @Test
    void probesAreAnsweredThoughAClientSendsHeadsThatDoNotEnd() throws Exception {
        byte[] head =
                ("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + "x".repeat(15_000)).getBytes(StandardCharsets.US_ASCII);
        List<Socket> sockets = new ArrayList<>();
        try (GatewayJar gateway = GatewayJar.of(
                        """
                        workers: 1
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        admin: {address: 127.0.0.1, port: 0}
                        """)
                .start()) {
            for (int i = 0; i < 63; i++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.adminPort());
                sockets.add(socket);
                socket.getOutputStream().write(head);
            }
            for (String probe : List.of("/live", "/ready", "/healthz", "/startup")) {
                assertThat(gateway.admin(probe, SOON).statusCode()).as(probe).isEqualTo(200);
            }
            assertThat(gateway.admin("/metrics", SOON).statusCode()).isEqualTo(200);
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    /** The reload opens a pipe that nobody writes to. */
    @Test
    void nothingWaitsForAReloadThatHangs() throws Exception {
        String yaml =
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [%s]}]}]
                admin: {address: 127.0.0.1, port: 0}
                """;
        String answer = "{type: DirectResponse, directResponse: {statusCode: 200}}";
        Path pipe = directory.resolve("pipe");
        assertThat(Tools.run("mkfifo", pipe.toString()).exit()).isZero();
        try (NotifyReceiver systemd =
                        new NotifyReceiver(directory.resolve("notify").toString());
                GatewayJar gateway = GatewayJar.of(yaml.formatted(answer))
                        .file("plugins/waiting.jar", WaitingPlugin.jar(pipe))
                        .under("env", "NOTIFY_SOCKET=" + systemd.address(), "WATCHDOG_USEC=600000")
                        .start()) {
            Files.writeString(
                    gateway.directory().resolve("gateway.yaml"), yaml.formatted(WaitingPlugin.FILTER + ", " + answer));
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.adminPort())) {
                socket.getOutputStream()
                        .write("POST /reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
                                .getBytes(StandardCharsets.US_ASCII));
                gateway.awaitLog("Reloading");
                assertThat(gateway.admin("/metrics", SOON).statusCode()).isEqualTo(200);
                assertThat(gateway.admin("/stats", SOON).statusCode()).isEqualTo(200);
                for (int i = 0; i < 10; i++) { // five a second: more than may have been told before
                    systemd.await("WATCHDOG=1");
                }
            }
            gateway.signal("TERM");
            assertThat(gateway.awaitExit(Duration.ofSeconds(60))).isZero();
            assertThat(gateway.log()).contains("stopping without waiting for it");
        }
    }
}
