package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Callers;
import dev.gateway.tests.support.GatewayProcess;
import dev.gateway.tests.support.NotifyReceiver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A gateway that is started while another one serves, which is then told to end. */
@Timeout(180)
@Tag("platform")
class HandoverIT {
    @TempDir
    private Path directory;

    /** Keeps a port of this host, at which only gateways listen. */
    private static SocketChannel port() throws IOException {
        SocketChannel socket = SocketChannel.open();
        socket.setOption(StandardSocketOptions.SO_REUSEPORT, true);
        return socket.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0));
    }

    private static int number(SocketChannel socket) throws IOException {
        return ((InetSocketAddress) socket.getLocalAddress()).getPort();
    }

    @ParameterizedTest(name = "{1} event loops after {0}")
    @CsvSource({"2, 2", "2, 3", "3, 2"})
    void noRequestFailsWhenTheFormerOneEnds(int formerly, int workers) throws Exception {
        noRequestFails(formerly, workers, true);
    }

    @Test
    void noRequestFailsWhenTheNewOneEndsAgain() throws Exception {
        noRequestFails(2, 2, false);
    }

    private void noRequestFails(int formerly, int workers, boolean formerEnds) throws Exception {
        Path file = directory.resolve("web.sock");
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                SocketChannel web = port();
                SocketChannel admin = port();
                NotifyReceiver systemd =
                        new NotifyReceiver(directory.resolve("notify").toString())) {
            String common =
                    """
                    listeners:
                      - {name: web, address: 127.0.0.1, port: %d, protocol: HTTP, reusePort: true}
                      - {name: file, unix: %s, protocol: HTTP, reusePort: true}
                    routes: [{rules: [{backendRefs: [{name: app}]}]}]
                    upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                    admin: {address: 127.0.0.1, port: %d, reusePort: true}
                    accessLog: {format: off}
                    """
                            .formatted(number(web), file, origin.port(), number(admin));
            Path before = Files.writeString(
                    directory.resolve("before.yaml"),
                    common + "workers: " + formerly + "\ndrain: {acceptFor: 500ms}\n");
            Path after = Files.writeString(
                    directory.resolve("after.yaml"), common + "workers: " + workers + "\ndrain: {acceptFor: 500ms}\n");
            Map<String, String> environment = Map.of("NOTIFY_SOCKET", systemd.address());
            try (GatewayProcess first = GatewayProcess.start(before, environment)) {
                systemd.await("READY=1\n");
                try (Callers callers = new Callers(number(web), Callers.Kind.values())) {
                    callers.awaitAnswers(20);
                    assertThat(get(file)).endsWith("ok");
                    try (GatewayProcess second = GatewayProcess.start(after, environment)) {
                        systemd.await("READY=1\n");
                        callers.awaitAnswers(20);
                        GatewayProcess ending = formerEnds ? first : second;
                        GatewayProcess staying = formerEnds ? second : first;
                        ending.terminate();
                        systemd.await("STOPPING=1\n");
                        for (int i = 0; formerEnds && i < 20; i++) {
                            assertThat(statusOf(number(admin)))
                                    .as("of the new one, which is ready")
                                    .isEqualTo(200);
                        }
                        assertThat(ending.awaitExit()).isZero();
                        callers.awaitAnswers(20);
                        assertThat(callers.failures()).isEmpty();
                        if (formerEnds) { // else the file has ended with whom it was given
                            assertThat(get(file)).endsWith("ok");
                        }
                        callers.end();
                        staying.terminate();
                        assertThat(staying.awaitExit()).isZero();
                    }
                }
            }
            assertThat(file).doesNotExist();
        }
    }

    private static int statusOf(int port) throws IOException {
        try (Http1Peer peer = Http1Peer.connect(port)) {
            PeerStream stream = peer.open();
            stream.send(Head.request("GET", "/ready"), true);
            return stream.receiveFinal().status();
        }
    }

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
}
