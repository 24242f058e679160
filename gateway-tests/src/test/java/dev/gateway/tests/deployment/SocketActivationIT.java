package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Callers;
import dev.gateway.tests.support.GatewayProcess;
import dev.gateway.tests.support.NotifyReceiver;
import dev.gateway.tests.support.SocketHolder;
import dev.gateway.tests.support.Tools;
import java.io.File;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A gateway that inherits its listening sockets, as from systemd. */
@Timeout(180)
@Tag("jar")
@Tag("platform")
class SocketActivationIT {
    private static final String ROUTES =
            """
            routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {body: ok}}]}]}]
            drain: {timeout: 10s}
            accessLog: {format: off}
            """;

    @TempDir
    private Path directory;

    private Path config;
    private Map<String, String> environment;

    @BeforeEach
    void prepare() {
        config = directory.resolve("gateway.yaml");
        environment = Map.of("NOTIFY_SOCKET", directory.resolve("notify").toString());
    }

    private NotifyReceiver systemd() {
        return new NotifyReceiver(environment.get("NOTIFY_SOCKET"));
    }

    private static String get(int port) throws IOException {
        try (Peer peer = Peers.HTTP1.connect(port)) {
            PeerStream stream = peer.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            return stream.receiveBody();
        }
    }

    /** Gets a page by a socket file, of a server that closes the connection after it. */
    private static String get(Path file) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(file));
            byte[] request =
                    "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
            channel.write(ByteBuffer.wrap(request));
            ByteBuffer answer = ByteBuffer.allocate(4096);
            while (channel.read(answer) >= 0) {
                assertThat(answer.hasRemaining()).isTrue();
            }
            return StandardCharsets.US_ASCII.decode(answer.flip()).toString();
        }
    }

    @Test
    void aRestartRefusesNobody() throws Exception {
        Files.writeString(config, "listeners: [{name: web, address: 127.0.0.1, port: 1, protocol: HTTP}]\n" + ROUTES);
        try (NotifyReceiver systemd = systemd();
                SocketHolder holder =
                        new SocketHolder(List.of("web=127.0.0.1:0"), GatewayProcess.command(config), environment)) {
            long first = holder.start();
            systemd.await("READY=1\n");
            try (Callers callers = new Callers(
                    holder.port(0), Callers.Kind.HTTP1_EACH, Callers.Kind.HTTP1_EACH, Callers.Kind.HTTP1_KEPT)) {
                callers.awaitAnswers(20);
                assertThat(holder.stop(first)).isZero();
                long second = holder.start();
                systemd.await("READY=1\n");
                callers.awaitAnswers(20);
                assertThat(callers.failures()).isEmpty();
                callers.end();
                assertThat(holder.stop(second)).isZero();
            }
        }
    }

    @Test
    void socketsGoByNameElseByAddressAndOutliveReloads() throws Exception {
        Path socket = directory.resolve("web.sock");
        try (NotifyReceiver systemd = systemd();
                SocketHolder holder = new SocketHolder(
                        List.of("named=127.0.0.1:0", "any=127.0.0.1:0", "any=" + socket, "stray=127.0.0.1:0"),
                        GatewayProcess.command(config),
                        environment)) {
            String named = "{name: named, address: 127.0.0.1, port: 1, protocol: HTTP}";
            String byPort = "{name: other, address: 127.0.0.1, port: " + holder.port(1) + ", protocol: HTTP}";
            String byFile = "{name: file, unix: " + socket + ", protocol: HTTP}";
            String all = "listeners: [" + String.join(", ", named, byPort, byFile) + "]\n" + ROUTES;
            Files.writeString(config, all);
            long gateway = holder.start();
            systemd.await("READY=1\n");
            assertThat(get(holder.port(0))).isEqualTo("ok");
            assertThat(get(holder.port(1))).isEqualTo("ok");
            assertThat(get(socket)).startsWith("HTTP/1.1 200").endsWith("ok");

            // Who connects to the socket of a listener that is gone waits until it is back.
            Files.writeString(config, "listeners: [" + named + "]\n" + ROUTES);
            systemd.await("READY=1\nSTATUS=Serving generation 2\n");
            try (SocketChannel waiting = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
                assertThat(waiting.isConnected()).isTrue();
                assertThat(get(holder.port(0))).isEqualTo("ok");
                Files.writeString(config, all);
                systemd.await("READY=1\nSTATUS=Serving generation 3\n");
                assertThat(get(socket)).endsWith("ok");
                assertThat(get(holder.port(1))).isEqualTo("ok");
            }
            assertThat(holder.stop(gateway)).isZero();
            assertThat(socket).exists();
        }
    }

    @Test
    void whatDoesNotListenIsAMistake() throws Exception {
        Files.writeString(config, "listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]\n" + ROUTES);
        List<String> command =
                new ArrayList<>(List.of("sh", "-c", "export LISTEN_PID=$$; exec \"$@\" 3</dev/null", "sh"));
        command.addAll(GatewayProcess.command(config));
        try (GatewayProcess gateway = GatewayProcess.start(command, Map.of("LISTEN_FDS", "1"))) {
            assertThat(gateway.awaitExit()).isEqualTo(3);
        }
    }

    @Test
    void systemdsOwnActivatorStartsTheLauncher() throws Exception {
        Path jar = Path.of("../gateway-core/target/gateway.jar");
        if (!Files.exists(jar)) {
            Tools.missing("gateway.jar is not built: mvn package makes it");
        }
        Path socket = directory.resolve("web.sock");
        Files.writeString(config, "listeners: [{name: web, unix: " + socket + ", protocol: HTTP}]\n" + ROUTES);
        List<String> command = List.of(
                Tools.find("systemd-socket-activate"),
                "--listen=" + socket,
                "--setenv=JAVA_HOME=" + System.getProperty("java.home"),
                "--setenv=GATEWAY_CACHE=" + directory.resolve("cache"),
                "--setenv=PATH=" + System.getenv("PATH"),
                Path.of("../bin/gateway").toRealPath().toString(),
                "run",
                "--config",
                config.toString());
        File log = directory.resolve("log").toFile();
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log)
                .start();
        try {
            assertThat(awaitAnswer(socket, process))
                    .as(Files.readString(log.toPath()))
                    .startsWith("HTTP/1.1 200")
                    .endsWith("ok");
            process.toHandle().destroy();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    private static String awaitAnswer(Path file, Process process) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (true) {
            try {
                return get(file);
            } catch (IOException e) { // there is no file yet, or nobody listens yet
                if (!process.isAlive() || System.nanoTime() > deadline) {
                    throw e;
                }
                LockSupport.parkNanos(5_000_000);
            }
        }
    }
}
