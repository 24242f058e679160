package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.support.Rig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Upgrades as Docker, BuildKit and kubectl ask for them: by any method, after a body, to a protocol that nobody here knows. */
@Tag("platform")
class UpgradesIT {
    private static final String SWITCH =
            """
            HTTP/1.1 101 UPGRADED\r
            Content-Type: application/vnd.docker.raw-stream\r
            Connection: Upgrade\r
            Upgrade: %s\r
            Content-Length: 7\r
            \r
            """;

    /** The upstream reads the request to its end, switches, reads to the end of the input, and then says the rest. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "POST | tcp | Content-Length: 2 | {} | {}",
                "POST | tcp | Transfer-Encoding: chunked | 1;{;1;};0;; | 0;;",
                "POST | tcp | Content-Length: 0 | '' | ''",
                "POST | SPDY/3.1 | X: y | '' | ''",
                "GET | spdy/3.1 | X: y | '' | ''",
                "PUT | foo, tcp | Content-Length: 2 | {} | {}",
                "POST | h2c | X: y | '' | ''",
            })
    void bytesGoBothWaysAfterTheRequestAndEachWayEndsByItself(
            String method, String upgrade, String framing, String body, String last) throws Exception {
        String protocol = upgrade.substring(upgrade.indexOf(' ') + 1);
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
                Rig rig = Rig.to(server.getLocalPort())
                        .rule("upgrades: [tcp, spdy/3.1, h2c]")
                        .start();
                Socket client = new Socket(InetAddress.getLoopbackAddress(), rig.port())) {
            client.setSoTimeout(Peer.PATIENCE_MILLIS);
            CompletableFuture<Void> served = new CompletableFuture<>();
            Thread upstream = new Thread(
                    () -> {
                        try (Socket connection = server.accept()) {
                            connection.setSoTimeout(Peer.PATIENCE_MILLIS);
                            InputStream in = connection.getInputStream();
                            String head = until(in, "\r\n\r\n");
                            assertThat(head)
                                    .startsWith(method + " /exec HTTP/1.1\r\n")
                                    .contains("\r\nUpgrade: " + protocol + "\r\n")
                                    .contains("\r\nConnection: Upgrade\r\n");
                            until(in, last.replace(";", "\r\n"));
                            write(connection, SWITCH.formatted(protocol) + "prompt>");
                            assertThat(new String(in.readAllBytes(), StandardCharsets.ISO_8859_1))
                                    .endsWith("input");
                            write(connection, "output after the end of the input");
                            served.complete(null);
                        } catch (IOException | AssertionError e) {
                            served.completeExceptionally(e);
                        }
                    },
                    "upstream");
            upstream.start();
            write(
                    client,
                    method + " /exec HTTP/1.1\r\nHost: docker\r\nConnection: Upgrade\r\nUpgrade: " + upgrade + "\r\n"
                            + framing + "\r\n\r\n" + body.replace(";", "\r\n"));
            String switched = until(client.getInputStream(), "prompt>");
            assertThat(switched)
                    .startsWith("HTTP/1.1 101 ")
                    .contains("\r\nUpgrade: " + protocol + "\r\n")
                    .doesNotContain("Content-Length");
            write(client, "input");
            client.shutdownOutput();
            assertThat(new String(client.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1))
                    .isEqualTo("output after the end of the input");
            served.get(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
            assertThat(rig.awaitAccessLog(2).get(1))
                    .contains("\"kind\":\"upgrade\"", "\"record\":\"close\"", "\"method\":\"" + method + "\"")
                    .doesNotContain("\"cause\"");
        }
    }

    private static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String until(InputStream in, String end) throws IOException {
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        while (!read.toString(StandardCharsets.ISO_8859_1).endsWith(end)) {
            int next = in.read();
            if (next < 0) {
                throw new IOException("ended after: " + read.toString(StandardCharsets.ISO_8859_1));
            }
            read.write(next);
        }
        return read.toString(StandardCharsets.ISO_8859_1);
    }
}
