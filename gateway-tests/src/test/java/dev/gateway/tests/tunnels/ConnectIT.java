package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** curl through tunnels, to proxies in cleartext and over TLS, and what it is told when there is no tunnel to be had. */
@Tag("platform")
class ConnectIT {
    /** Of "secret". */
    private static final String USER = "ann:$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/\n";

    @TempDir
    static Path directory;

    private static Origin clear;
    private static Origin secure;
    private static Rig rig;

    @BeforeAll
    static void start() throws Exception {
        clear = Origin.start().on("/", Behaviors.text("hello")).on("/echo", Behaviors.echo());
        secure = Origin.startTls("h2", "http/1.1")
                .on("/", Behaviors.text("hello"))
                .on("/echo", Behaviors.echo());
        Path users = Files.writeString(directory.resolve("users"), USER);
        rig = Rig.start(
                """
                listeners:
                  - {name: plain, port: 0, protocol: HTTP}
                  - {name: https, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                  - {name: logged, port: 0, protocol: HTTP}
                  - {name: closed, port: 0, protocol: HTTP}
                  - {name: private, port: 0, protocol: HTTP}
                connect:
                  - parentRefs: [{name: plain}, {name: https}, {name: logged}]
                    allowedPorts: [1-65535]
                    allow: ["*"]
                    denyPrivate: false
                  - parentRefs: [{name: private}]
                    allowedPorts: [1-65535]
                    allow: ["*"]
                    denyPrivate: false
                    auth: {realm: tests, basic: {usersFile: "%s"}}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: json, path: access.log}
                """
                        .formatted(users));
    }

    @AfterAll
    static void stop() throws Exception {
        rig.close();
        clear.close();
        secure.close();
    }

    private static Tools.Result curl(String listener, String url, String... options) throws Exception {
        String scheme = listener.equals("https") ? "https" : "http";
        List<String> command = new ArrayList<>(List.of(
                Tools.find("curl"),
                "-sS",
                "-k",
                "--proxy-insecure",
                "--proxytunnel",
                "--max-time",
                "20",
                "--noproxy",
                "",
                "-x",
                scheme + "://localhost:" + rig.port(listener),
                "-w",
                " %{http_connect} %{http_code} %{http_version}"));
        command.addAll(List.of(options));
        command.add(url);
        return Tools.run(30, command);
    }

    private static String url(boolean tls, String path) {
        return tls ? "https://localhost:" + secure.port() + path : "http://localhost:" + clear.port() + path;
    }

    @ParameterizedTest
    @CsvSource({
        "plain, false, --http1.1, 1.1",
        "plain, false, --http2-prior-knowledge, 2",
        "plain, true, --http1.1, 1.1",
        "plain, true, --http2, 2",
        "https, false, --http1.1, 1.1",
        "https, true, --http1.1, 1.1",
        "https, true, --http2, 2",
    })
    void whateverIsSpokenInsidePassesAsItIs(String listener, boolean tls, String option, String version)
            throws Exception {
        assertThat(curl(listener, url(tls, "/"), option).output()).isEqualTo("hello 200 200 " + version);
        byte[] body = new byte[3_000_000];
        new Random(7).nextBytes(body);
        Path sent = Files.write(directory.resolve("sent"), body);
        Path received = directory.resolve("received");
        Tools.Result echo =
                curl(listener, url(tls, "/echo"), option, "--data-binary", "@" + sent, "-o", received.toString());
        assertThat(echo.output()).isEqualTo(" 200 200 " + version);
        assertThat(Files.readAllBytes(received)).isEqualTo(body);
    }

    @Test
    void withoutAConnectSectionThereAreNoTunnels() throws Exception {
        Tools.Result result = curl("closed", url(true, "/"), "-v");
        assertThat(result.exit()).isNotZero();
        assertThat(result.output())
                .contains("405 Method Not Allowed")
                .containsIgnoringCase("< Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n");
    }

    @Test
    void whoeverCannotBeReachedIsNamed() throws Exception {
        int port = ClosedPort.number();
        assertThat(curl("plain", "https://127.0.0.1:" + port + "/", "-v").output())
                .contains("502 Bad Gateway")
                .containsIgnoringCase("Proxy-Status: gateway;error=connection_refused;next-hop=\"127.0.0.1:" + port
                        + "\";details=\"connect_failed\"");
        assertThat(curl("plain", "https://nowhere.invalid/", "-v").output())
                .contains("502 Bad Gateway")
                .containsIgnoringCase("Proxy-Status: gateway;error=dns_error;next-hop=\"nowhere.invalid:443\"");
    }

    /** A resolver may read such a name as one without its empty labels, for which another rule is. */
    @ParameterizedTest
    @ValueSource(strings = {"localhost..", "local..host", ".localhost"})
    void aTargetWithAnEmptyLabelIsRefused(String host) throws Exception {
        String target = host + ":" + clear.port();
        for (Peers protocol : List.of(Peers.HTTP1, Peers.H2C)) {
            try (Peer client = protocol.connect(rig.port("plain"))) {
                assertThat(Handshake.askTunnel(client.open(), target).status())
                        .as("by %s", protocol)
                        .isEqualTo(400);
            }
        }
    }

    @Test
    void aChallengeIsAnsweredOnTheSameConnection() throws Exception {
        double before = rig.metric("gateway_downstream_connections_total", "listener=\"private\"");
        Tools.Result result = curl("private", url(true, "/"), "--proxy-anyauth", "--proxy-user", "ann:secret", "-v");
        assertThat(result.output())
                .contains("407 Proxy Authentication Required")
                .containsIgnoringCase("Proxy-Authenticate: Basic realm=\"tests\"")
                .contains("hello 200 200 ");
        assertThat(rig.metric("gateway_downstream_connections_total", "listener=\"private\"") - before)
                .as("connections")
                .isEqualTo(1);
        assertThat(curl("private", url(true, "/")).output()).endsWith(" 407 000 0");
        assertThat(curl("private", url(true, "/"), "--proxy-user", "ann:wrong").output())
                .endsWith(" 407 000 0");
    }

    @Test
    void tunnelsAreLoggedWhenTheyOpenAndWhenTheyEndAndAreCounted() throws Exception {
        curl("logged", url(false, "/"));
        List<String> told = awaitLog(2, "\"listener\":\"logged\"");
        String open = told.get(0);
        String close = told.get(1);
        assertThat(open)
                .contains("\"kind\":\"tunnel\",\"record\":\"open\"")
                .contains("\"method\":\"CONNECT\"")
                .contains("\"authority\":\"localhost:" + clear.port() + "\"")
                .containsPattern("\"dialed\":\"(127\\.0\\.0\\.1|\\[::1]):" + clear.port() + "\"")
                .contains("\"status\":200");
        assertThat(close).contains("\"record\":\"close\"").contains("\"endedBy\":\"client\"");
        assertThat(rig.metric("gateway_tunnels_total", "listener=\"logged\"", "decision=\"allowed\"", "cause=\"\""))
                .isEqualTo(1);
        assertThat(rig.metric("gateway_tunnels_active", "listener=\"logged\"")).isZero();
        double sent = rig.metric("gateway_tunnels_bytes_total", "listener=\"logged\"", "direction=\"sent\"");
        assertThat(close).contains("\"sentBytes\":" + (long) sent + ",");
    }

    private static List<String> log(String text) throws Exception {
        return rig.awaitAccessLog(0).stream()
                .filter(line -> line.contains(text))
                .toList();
    }

    private static List<String> awaitLog(int lines, String text) throws Exception {
        List<String> found = log(text);
        for (int all = 1; found.size() < lines; all++) {
            rig.awaitAccessLog(all); // fails when no more lines come
            found = log(text);
        }
        return found;
    }

    @Test
    void whatIsSentAheadOfTheAnswerArrivesAlsoFromAClientThatSaysNoMore() throws Exception {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), rig.port("plain"))) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream()
                    .write(("CONNECT localhost:" + clear.port() + " HTTP/1.1\r\nHost: localhost:" + clear.port()
                                    + "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            socket.shutdownOutput();
            String all = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            assertThat(all).startsWith("HTTP/1.1 200 OK\r\n\r\n").endsWith("hello");
        }
    }
}
