package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.ScriptedParent;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client is told, and what the log says, of parents that refuse, fail or break the rules. */
@SuppressWarnings("StringConcatToTextBlock") // the line ends matter
class ParentFailuresIT {
    private static final String PASSWORD = "open sesame";

    /** Of "gateway:open sesame". */
    private static final String BASIC = "Z2F0ZXdheTpvcGVuIHNlc2FtZQ==";

    @TempDir
    static Path directory;

    private static ScriptedParent http;
    private static ScriptedParent socks;
    private static ScriptedParent cleartext;
    private static Rig rig;
    private static final Socket bound = new Socket(); // never listens, so that nobody else does at its port
    private static int closed;

    @BeforeAll
    static void start() throws Exception {
        http = new ScriptedParent(ParentFailuresIT::serveHttp);
        socks = new ScriptedParent(ParentFailuresIT::serveSocks);
        cleartext = new ScriptedParent((self, socket) -> {
            ScriptedParent.write(socket, "HTTP/1.1 400 Bad Request\r\n\r\n");
            ScriptedParent.waitForEnd(socket);
        });
        bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        closed = bound.getLocalPort();
        Files.writeString(directory.resolve("credentials"), "gateway:" + PASSWORD + "\n");
        CertificateAuthority ca = new CertificateAuthority("A CA of nobody's", directory);
        rig = Rig.start(
                """
                listeners:
                  - {name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: hasty, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: strict, address: 127.0.0.1, port: 0, protocol: HTTP}
                connect:
                  - parentRefs: [{name: egress}]
                    allow: ["*"]
                    allowedPorts: [1-65535]
                    denyPrivate: false
                    parents:
                      - {hosts: [.direct.test, localhost], proxy: DIRECT}
                      - {hosts: [.socks.test], proxy: "socks5://127.0.0.1:%2$d"}
                      - {hosts: [closed.test], proxy: "http://127.0.0.1:%3$d"}
                      - {hosts: [nowhere.test], proxy: "http://nowhere.invalid:3128"}
                      - {hosts: [cleartext.test], proxy: "https://127.0.0.1:%6$d", tls: {caFile: %4$s}}
                      - {hosts: ["*"], proxy: "http://127.0.0.1:%1$d", credentialsFile: %5$s/credentials}
                  - parentRefs: [{name: hasty}]
                    allow: ["*"]
                    denyPrivate: false
                    parents:
                      - {hosts: [.socks.test], proxy: "socks5://127.0.0.1:%2$d"}
                      - {hosts: [tls.test], proxy: "https://127.0.0.1:%1$d"}
                      - {hosts: ["*"], proxy: "http://127.0.0.1:%1$d"}
                    timeouts: {connect: 300ms}
                  - parentRefs: [{name: strict}]
                    allow: ["*"]
                    allowedPorts: [1-65535]
                    parents: [{hosts: ["*"], proxy: "http://127.0.0.1:%1$d"}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: json, path: access.log}
                """
                        .formatted(http.port(), socks.port(), closed, ca.file(), directory, cleartext.port()));
    }

    @AfterAll
    static void stop() throws Exception {
        rig.close();
        http.close();
        socks.close();
        cleartext.close();
        bound.close();
    }

    private static void serveHttp(ScriptedParent parent, Socket socket) throws IOException {
        String head = parent.readHead(socket);
        String host = head.isEmpty() ? "" : head.substring(head.indexOf(' ') + 1, head.indexOf(".test"));
        switch (host) {
            case "filtered" -> ScriptedParent.write(socket, "HTTP/1.0 403 Filtered\r\nConnection: close\r\n\r\nno");
            case "login" ->
                ScriptedParent.write(
                        socket,
                        "HTTP/1.1 407 Not " + BASIC + "\r\nProxy-Authenticate: Basic realm=\"far\"\r\n"
                                + "Content-Length: 0\r\n\r\n");
            case "late" -> ScriptedParent.write(socket, "HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\n\r\n");
            case "far" ->
                ScriptedParent.write(socket, "HTTP/1.1 502 Bad Gateway\r\nProxy-Status: far;error=dns_error\r\n\r\n");
            case "nonsense" -> ScriptedParent.write(socket, "SSH-2.0-OpenSSH_9.2p1\r\n\r\n");
            case "partial" -> ScriptedParent.write(socket, "HTTP/1.1 200 Connection esta");
            case "endless" -> {
                ScriptedParent.write(socket, "HTTP/1.1 200 OK\r\n");
                String line = "X-Filler: " + "x".repeat(1000) + "\r\n";
                for (int i = 0; i < 100_000; i++) { // the gateway does not take them all
                    ScriptedParent.write(socket, line);
                }
            }
            case "interim" -> {
                for (int i = 0; i < 100_000; i++) {
                    ScriptedParent.write(socket, "HTTP/1.1 100 Continue\r\n\r\n");
                }
            }
            case "silent" -> ScriptedParent.waitForEnd(socket);
            case "slow" -> {
                ScriptedParent.write(socket, "HTTP/1.1 2");
                ScriptedParent.waitForEnd(socket);
            }
            case "early" -> {
                ScriptedParent.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n220 hi\r\n");
                ScriptedParent.echo(socket);
            }
            case "brief" -> ScriptedParent.write(socket, "HTTP/1.1 200 OK\r\n\r\n221 bye\r\n");
            default -> {
                // Closed at once.
            }
        }
    }

    private static void serveSocks(ScriptedParent parent, Socket socket) throws IOException {
        String host = parent.readSocks(socket);
        if (host.startsWith("code-")) {
            byte code = Byte.parseByte(host.substring(5, 6));
            socket.getOutputStream().write(new byte[] {5, code, 0, 1, 0, 0, 0, 0, 0, 0});
        } else if (host.startsWith("early")) {
            socket.getOutputStream().write(new byte[] {5, 0, 0, 1, 0, 0, 0, 0, 0, 0, 'h', 'i', '\n'});
            ScriptedParent.echo(socket);
        } else if (host.startsWith("silent")) {
            ScriptedParent.waitForEnd(socket);
        } else if (host.startsWith("nonsense")) {
            ScriptedParent.write(socket, "HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    }

    private static Socket connect(String listener) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), rig.port(listener));
        socket.setSoTimeout(Peer.PATIENCE_MILLIS);
        return socket;
    }

    private static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            if (next < 0) {
                throw new IOException("only " + head);
            }
            head.append((char) next);
        }
        return head.toString();
    }

    private static String ask(String listener, String authority) throws IOException {
        try (Socket socket = connect(listener)) {
            ScriptedParent.write(socket, "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
            return head(socket.getInputStream());
        }
    }

    /** Returns the last line of the access log about a destination. */
    private static String logged(String authority) throws IOException {
        for (int lines = 1; ; lines++) {
            String found = null;
            for (String line : rig.awaitAccessLog(lines)) {
                if (line.contains("\"" + authority + "\"") && !line.contains("\"record\":\"open\"")) {
                    found = line;
                }
            }
            if (found != null) {
                return found;
            }
        }
    }

    private static void assertTold(String authority, String answer, int status, String cause) {
        assertThat(answer)
                .as(authority)
                .startsWith("HTTP/1.1 " + status + " ")
                .containsIgnoringCase("Proxy-Status: gateway;error=")
                .contains("details=\"" + cause + "\"")
                .doesNotContainIgnoringCase("Proxy-Authenticate");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "filtered.test:443|502|connect_failed|answered 403 Filtered",
                "login.test:443|502|connect_failed|answered 407",
                "late.test:443|504|connect_timeout|answered 504 Gateway Timeout",
                "far.test:443|502|connect_failed|answered 502 Bad Gateway, Proxy-Status far;error=dns_error",
                "nonsense.test:443|502|upstream_protocol_error|a greeting of SSH instead of a status line; another port may speak HTTP",
                "partial.test:443|502|connect_failed|closed the connection instead of answering",
                "other.test:443|502|connect_failed|closed the connection instead of answering",
                "endless.test:443|502|upstream_protocol_error|the fields are too large",
                "interim.test:443|502|upstream_protocol_error|too many interim responses",
            })
    void aTunnelThatAnHttpParentDoesNotOpenIsAFailureThatNamesIt(
            String authority, int status, String cause, String detail) throws Exception {
        assertTold(authority, ask("egress", authority), status, cause);
        assertThat(logged(authority))
                .contains("\"status\":" + status, "\"cause\":\"" + cause + "\"")
                .contains("\"detail\":\"parent http://127.0.0.1:" + http.port() + ": " + detail + "\"")
                .doesNotContain(PASSWORD, BASIC);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "code-1|502|connect_failed|answered 1 (general failure)",
                "code-2|502|connect_failed|answered 2 (not allowed)",
                "code-5|502|connect_failed|answered 5 (connection refused)",
                "code-6|504|connect_timeout|answered 6 (TTL expired)",
                "nonsense|502|upstream_protocol_error|does not speak SOCKS 5",
                "other|502|connect_failed|closed the connection instead of answering",
            })
    void aTunnelThatASocksParentDoesNotOpenIsAFailureThatNamesIt(String host, int status, String cause, String detail)
            throws Exception {
        String authority = host + ".socks.test:443";
        assertTold(authority, ask("egress", authority), status, cause);
        assertThat(logged(authority))
                .contains("\"detail\":\"parent socks5://127.0.0.1:" + socks.port() + ": " + detail + "\"");
    }

    @Test
    void aParentThatCannotBeReachedIsNamed() throws Exception {
        assertTold("closed", ask("egress", "closed.test:443"), 502, "connect_failed");
        assertThat(logged("closed.test:443")).contains("parent http://127.0.0.1:" + closed + ": 127.0.0.1: ");
        assertTold("nowhere", ask("egress", "nowhere.test:443"), 502, "dns_failed");
        assertThat(logged("nowhere.test:443")).contains("parent http://nowhere.invalid:3128: ");
        assertTold("cleartext", ask("egress", "cleartext.test:443"), 502, "tls_failed");
        assertThat(logged("cleartext.test:443")).contains("parent https://127.0.0.1:" + cleartext.port() + ": ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"silent.test", "slow.test", "tls.test", "silent.socks.test"})
    void aParentThatDoesNotAnswerInTimeIsGivenUp(String host) throws Exception {
        String authority = host + ":443";
        assertTold(authority, ask("hasty", authority), 504, "connect_timeout");
        assertThat(logged(authority)).contains(": no answer in 300 ms");
    }

    /** The parent only relays: that a connection is kept is the word of the destination that it leads to. */
    @Test
    void aConnectionThatAParentKeepsCarriesRequestsForOneDestination() throws Exception {
        List<String> served = new CopyOnWriteArrayList<>();
        AtomicInteger connections = new AtomicInteger();
        try (ScriptedParent relay = new ScriptedParent((self, socket) -> {
                    int connection = connections.incrementAndGet();
                    for (String head = self.readHead(socket); !head.isEmpty(); head = self.readHead(socket)) {
                        served.add(connection + " " + head.substring(4, head.indexOf(" HTTP")));
                        ScriptedParent.write(
                                socket, "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n");
                    }
                });
                Rig rig = Rig.start(
                        """
                        workers: 1
                        listeners: [{name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        connect:
                          - parentRefs: [{name: egress}]
                            allow: ["*"]
                            allowedPorts: [80, 81]
                            denyPrivate: false
                            parents: [{hosts: ["*"], proxy: "http://127.0.0.1:%d"}]
                        admin: {address: 127.0.0.1, port: 0}
                        """
                                .formatted(relay.port()));
                Socket client = new Socket(InetAddress.getLoopbackAddress(), rig.port("egress"))) {
            client.setSoTimeout(Peer.PATIENCE_MILLIS);
            for (int i = 0; i < 2; i++) {
                for (String to : new String[] {"a.test", "b.test", "a.test:81"}) {
                    ScriptedParent.write(client, "GET http://" + to + "/ HTTP/1.1\r\nHost: " + to + "\r\n\r\n");
                    assertThat(head(client.getInputStream())).startsWith("HTTP/1.1 200 ");
                }
            }
            assertThat(served)
                    .containsExactly(
                            "1 http://a.test/",
                            "2 http://b.test/",
                            "3 http://a.test:81/",
                            "1 http://a.test/",
                            "2 http://b.test/",
                            "3 http://a.test:81/");
        }
    }

    @Test
    void whatComesWithTheParentsConsentIsDelivered() throws Exception {
        for (String authority : new String[] {"early.test:25", "early.socks.test:25"}) {
            String greeting = authority.contains("socks") ? "hi\n" : "220 hi\r\n";
            try (Socket socket = connect("egress")) {
                ScriptedParent.write(socket, "CONNECT " + authority + " HTTP/1.1\r\nHost: x\r\n\r\nEHLO\r\n");
                InputStream in = socket.getInputStream();
                assertThat(head(in)).isEqualTo("HTTP/1.1 200 OK\r\n\r\n");
                assertThat(new String(in.readNBytes(greeting.length()), StandardCharsets.US_ASCII))
                        .isEqualTo(greeting);
                assertThat(new String(in.readNBytes(6), StandardCharsets.US_ASCII))
                        .isEqualTo("EHLO\r\n");
                socket.shutdownOutput();
                assertThat(in.read()).isEqualTo(-1);
            }
        }
        assertThat(logged("early.test:25"))
                .contains("\"endpoint\":\"early.test:25\",\"dialed\":\"127.0.0.1:" + http.port()
                        + "\",\"parent\":\"http://127.0.0.1:" + http.port() + "\"");
    }

    @Test
    void aDestinationThatSaysAllAtOnceAndClosesIsHeard() throws Exception {
        try (Socket socket = connect("egress")) {
            ScriptedParent.write(socket, "CONNECT brief.test:25 HTTP/1.1\r\nHost: x\r\n\r\n");
            InputStream in = socket.getInputStream();
            head(in);
            assertThat(new String(in.readAllBytes(), StandardCharsets.US_ASCII)).isEqualTo("221 bye\r\n");
        }
    }

    @Test
    void credentialsAreForTheParentAlone() throws Exception {
        ask("egress", "filtered.test:8443");
        assertThat(http.asked)
                .anyMatch(
                        head -> head.matches("CONNECT filtered\\.test:8443 HTTP/1\\.1\r\nHost: filtered\\.test:8443\r\n"
                                + "Via: 1\\.1 gateway-[0-9a-f]{12}\r\nProxy-Authorization: Basic " + BASIC
                                + "\r\n\r\n"));
        ask("strict", "filtered.test:8444");
        assertThat(http.asked)
                .anyMatch(
                        head -> head.matches("CONNECT filtered\\.test:8444 HTTP/1\\.1\r\nHost: filtered\\.test:8444\r\n"
                                + "Via: 1\\.1 gateway-[0-9a-f]{12}\r\n\r\n"));
    }

    @Test
    void whatIsExceptedIsReachedWithoutTheParent() throws Exception {
        try (ScriptedParent origin = new ScriptedParent((self, socket) -> ScriptedParent.echo(socket));
                Socket socket = connect("egress")) {
            String authority = "localhost:" + origin.port();
            ScriptedParent.write(socket, "CONNECT " + authority + " HTTP/1.1\r\nHost: x\r\n\r\n!");
            InputStream in = socket.getInputStream();
            assertThat(head(in)).startsWith("HTTP/1.1 200 ");
            assertThat(in.read()).isEqualTo('!');
            socket.shutdownOutput();
            assertThat(in.read()).isEqualTo(-1);
            assertThat(http.asked).noneMatch(head -> head.contains(authority));
            assertThat(logged(authority)).doesNotContain("\"parent\"");
        }
        // Under the rules of the entry: the name is resolved here, and known to nobody.
        assertTold("excepted", ask("egress", "a.direct.test:443"), 502, "dns_failed");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1:443",
                "10.0.0.1:443",
                "169.254.169.254:80",
                "[::1]:443",
                "[::ffff:10.0.0.1]:443",
                "[64:ff9b::a00:1]:443",
                "localhost:443",
                "LocalHost.:443",
                "a.localhost:443",
                "localhost.localdomain:443",
                "ip6-loopback:443",
                "metadata.google.internal:80",
                "host.docker.internal:443",
                "intranet:443",
            })
    void whatIsKnownToBePrivateIsNotAskedFor(String authority) throws Exception {
        assertTold(authority, ask("strict", authority), 403, "policy_address");
        assertThat(http.asked)
                .noneMatch(head -> head.toLowerCase(Locale.ROOT).contains(authority.toLowerCase(Locale.ROOT)));
    }

    @Test
    void aParentThatIsThisGatewayItselfIsNotDialed() throws Exception {
        String yaml =
                """
                listeners: [{name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}]
                connect:
                  - parentRefs: [{name: egress}]
                    allow: ["*"]
                    denyPrivate: false
                    parents: [{hosts: ["*"], proxy: "http://127.0.0.1:%d"}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: json, path: access.log}
                """;
        try (Rig loop = Rig.start(yaml.formatted(closed))) {
            loop.reload(yaml.formatted(loop.port("egress")));
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), loop.port("egress"))) {
                socket.setSoTimeout(Peer.PATIENCE_MILLIS);
                ScriptedParent.write(socket, "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n");
                assertTold("loop", head(socket.getInputStream()), 502, "connect_failed");
            }
            assertThat(loop.awaitAccessLog(1)).hasSize(1).allSatisfy(line -> assertThat(line)
                    .contains("127.0.0.1 is this gateway itself"));
        }
    }
}
