package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.NameServer;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.support.Rig;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who may reach what by CONNECT and by forward proxying, from a client's point of view. */
class TunnelPolicyIT {
    /** Of "secret", by htpasswd -B. */
    private static final String ANN = "ann:$2y$05$se62JBLfwUBZq6DwaBCJsOb2.tDm4/PH7gUxa3hogdE3x7GjFIcQ6\n";

    @TempDir
    private Path directory;

    private Echo echo;

    @BeforeEach
    void startEcho() throws IOException {
        echo = new Echo();
    }

    @AfterEach
    void stopEcho() throws IOException {
        echo.close();
    }

    /** Sends back what it gets, and counts its connections. */
    private static final class Echo implements AutoCloseable {
        final ServerSocket server = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        final AtomicInteger connections = new AtomicInteger();
        final List<String> requests = new ArrayList<>();

        Echo() throws IOException {
            Thread thread = new Thread(this::accept, "echo");
            thread.setDaemon(true);
            thread.start();
        }

        private void accept() {
            while (!server.isClosed()) {
                try {
                    Socket socket = server.accept();
                    connections.incrementAndGet();
                    Thread thread = new Thread(() -> serve(socket), "echo-connection");
                    thread.setDaemon(true);
                    thread.start();
                } catch (IOException e) {
                    return; // closed
                }
            }
        }

        /** A request gets a response; anything else comes back as it is. */
        private void serve(Socket socket) {
            try (socket) {
                byte[] buffer = new byte[8192];
                InputStream in = socket.getInputStream();
                for (int length = in.read(buffer); length > 0; length = in.read(buffer)) {
                    String text = new String(buffer, 0, length, StandardCharsets.ISO_8859_1);
                    if (text.startsWith("GET ")) {
                        synchronized (requests) {
                            requests.add(text);
                        }
                        socket.getOutputStream()
                                .write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
                                        .getBytes(StandardCharsets.US_ASCII));
                    } else {
                        socket.getOutputStream().write(buffer, 0, length);
                    }
                }
            } catch (IOException e) {
                // The peer has gone.
            }
        }

        int port() {
            return server.getLocalPort();
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }

    private Rig rig(String connect, String... more) throws IOException {
        return Rig.start(
                """
                listeners: [{name: egress, port: 0, protocol: HTTP}]
                connect:
                  - parentRefs: [{name: egress}]
                """
                        + connect.indent(4)
                        + String.join("\n", more)
                        + """

                        accessLog: {path: access.log}
                        admin: {port: 0}
                        """);
    }

    /** A client's connection to the proxy. */
    private static final class Client implements AutoCloseable {
        final Socket socket;
        final BufferedReader reader;

        Client(Rig rig) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), rig.port("egress"));
            socket.setSoTimeout(Peer.PATIENCE_MILLIS);
            reader = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
        }

        Client send(String text) throws IOException {
            socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
            return this;
        }

        Client connect(String authority, String... fields) throws IOException {
            StringBuilder head = new StringBuilder("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n");
            for (String field : fields) {
                head.append(field).append("\r\n");
            }
            return send(head.append("\r\n").toString());
        }

        /** Receives a head; returns its lines. */
        List<String> head() throws IOException {
            List<String> lines = new ArrayList<>();
            for (String line = reader.readLine(); line != null && !line.isEmpty(); line = reader.readLine()) {
                lines.add(line);
            }
            return lines;
        }

        int status() throws IOException {
            List<String> head = head();
            return head.isEmpty() ? -1 : Integer.parseInt(head.get(0).split(" ")[1]);
        }

        String receive(int length) throws IOException {
            char[] text = new char[length];
            int done = 0;
            for (int count = 0; done < length && count >= 0; done += Math.max(count, 0)) {
                count = reader.read(text, done, length - done);
            }
            return new String(text, 0, done);
        }

        /** Receives what comes until the connection ends, in whatever way. */
        String rest() throws IOException {
            StringBuilder rest = new StringBuilder();
            try {
                for (int c = reader.read(); c >= 0; c = reader.read()) {
                    rest.append((char) c);
                }
            } catch (SocketException e) {
                // A reset is an end, too.
            }
            return rest.toString();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static List<String> ask(Rig rig, String authority, String... fields) throws IOException {
        try (Client client = new Client(rig)) {
            return client.connect(authority, fields).head();
        }
    }

    private static String basic(String userPass) {
        return "Proxy-Authorization: Basic "
                + Base64.getEncoder().encodeToString(userPass.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void whatIsAllowedIsTunnelledAndTheRestRefusedWithItsCause() throws Exception {
        try (Rig rig = rig(
                """
                allowedPorts: [443, %d]
                allow: [127.0.0.1, .allowed.test]
                deny: [no.allowed.test]
                trustedDestinations: [127.0.0.1]
                """
                        .formatted(echo.port()))) {
            try (Client client = new Client(rig)) {
                assertThat(client.connect("127.0.0.1:" + echo.port()).status()).isEqualTo(200);
                assertThat(client.send("ping").receive(4)).isEqualTo("ping");
            }
            assertRefused(ask(rig, "127.0.0.1:1"), 403, "policy_port");
            assertRefused(ask(rig, "other.test:443"), 403, "policy_host");
            assertRefused(ask(rig, "no.allowed.test:443"), 403, "policy_host");
            assertRefused(ask(rig, "2130706433:443"), 403, "policy_host");
            assertThat(ask(rig, "127.0.0.1").get(0)).contains(" 400 ");
            assertThat(ask(rig, "127.0.0.1%00:443").get(0)).contains(" 400 ");
            assertThat(rig.awaitAccessLog(7))
                    .anySatisfy(line ->
                            assertThat(line).contains("no.allowed.test:443").contains("(deny[0])"));
            assertThat(rig.metric("gateway_connect_denied_total", "listener=\"egress\"", "rule=\"deny[0]\""))
                    .isEqualTo(1);
            assertThat(rig.metric("gateway_connect_denied_total", "rule=\"allowedPorts\""))
                    .isEqualTo(1);
        }
    }

    private static void assertRefused(List<String> head, int status, String cause) {
        assertThat(head.get(0)).startsWith("HTTP/1.1 " + status + " ");
        assertThat(head)
                .anySatisfy(
                        line -> assertThat(line).startsWith("Proxy-Status: ").contains(cause));
    }

    /** Everything here leads to a server on this machine, if it leads anywhere. */
    @Test
    void noTargetThatIsNotPublicIsReached() throws Exception {
        int port = echo.port();
        List<String> hosts = List.of(
                "127.0.0.1",
                "127.0.0.2",
                "127.1",
                "127.0.1",
                "2130706433",
                "017700000001",
                "0x7f000001",
                "0x7f.1",
                "0177.0.0.1",
                "0x7f.0.0.1",
                "127.0.0.1.",
                "127.0.0.01",
                "0.0.0.0",
                "0",
                "0.0.0.0.",
                "[::1]",
                "[::]",
                "[0:0:0:0:0:0:0:1]",
                "[::ffff:127.0.0.1]",
                "[::ffff:7f00:1]",
                "[::127.0.0.1]",
                "[::7f00:1]",
                "[64:ff9b::7f00:1]",
                "[64:ff9b:1::7f00:1]",
                "[2002:7f00:1::]",
                "[2001:0:7f00:1::]",
                "[fe80::1]",
                "[fec0::1]",
                "[fc00::1]",
                "[fd00:ec2::254]",
                "[ff02::1]",
                "[::ffff:0:7f00:1]",
                "[2001:db8::1]",
                "[100::1]",
                "[4000::1]",
                "localhost",
                "LOCALHOST",
                "localhost.",
                "LocalHost.",
                "ip6-localhost",
                "10.0.0.1",
                "172.16.0.1",
                "172.31.255.254",
                "192.168.0.1",
                "100.64.0.1",
                "169.254.169.254",
                "168.63.129.16",
                "192.0.0.192",
                "192.0.2.1",
                "198.18.0.1",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "240.0.0.1",
                "255.255.255.255",
                "[::1%25lo]",
                "[::1%lo]",
                "127.0.0.1%00",
                "%31%32%37.0.0.1",
                "user@127.0.0.1",
                "loopback.attacker.test",
                "loopback6.attacker.test",
                "mapped.attacker.test",
                "nat64.attacker.test",
                "rebinding.attacker.test",
                "rebinding.attacker.test",
                "rebinding.attacker.test",
                "both.attacker.test",
                "metadata.attacker.test");
        try (NameServer dns = new NameServer()
                        .answers("loopback.attacker.test", "127.0.0.1")
                        .answers("loopback6.attacker.test", "::1")
                        .answers("mapped.attacker.test", "::ffff:127.0.0.1")
                        .answers("nat64.attacker.test", "64:ff9b::7f00:1")
                        .answers("rebinding.attacker.test", "203.0.113.7", "127.0.0.1")
                        .answers("both.attacker.test", "127.0.0.1", "::1")
                        .answers("metadata.attacker.test", "169.254.169.254");
                Rig rig = rig(
                        "allowedPorts: [1-65535]\nallow: ['*']\ntimeouts: {connect: 2s}",
                        "resolver: {nameServers: ['127.0.0.1:" + dns.port() + "']}")) {
            for (String host : hosts) {
                List<String> head = ask(rig, host + ":" + port);
                assertThat(head).as(host).isNotEmpty();
                assertThat(head.get(0)).as(host).matches("HTTP/1.1 (400|403|502) .*");
            }
            // The gateway itself, by its own doors.
            assertRefused(ask(rig, "127.0.0.1:" + rig.port("egress")), 403, "policy_address");
            assertRefused(ask(rig, "127.0.0.1:" + rig.port("admin")), 403, "policy_address");
            assertThat(hosts).hasSizeGreaterThan(60);
            assertThat(echo.connections).hasValue(0);
        }
    }

    @Test
    void whoIsNotKnownIsAskedAndTheirPolicyHolds() throws Exception {
        Files.writeString(directory.resolve("users"), ANN);
        Files.writeString(directory.resolve("groups"), "builders: ann\n");
        Files.writeString(directory.resolve("tokens"), "ci:tok-1\n");
        String target = "127.0.0.1:" + echo.port();
        try (Rig rig = rig(
                """
                allowedPorts: [%d]
                allow: []
                trustedDestinations: [127.0.0.1]
                auth: {realm: here, groupsFile: %s, basic: {usersFile: %s}, bearer: {tokensFile: %s}}
                policies: [{groups: [builders], allow: ["*"]}]
                """
                        .formatted(
                                echo.port(),
                                directory.resolve("groups"),
                                directory.resolve("users"),
                                directory.resolve("tokens")))) {
            List<String> challenge = ask(rig, target);
            assertRefused(challenge, 407, "proxy_auth");
            assertThat(challenge)
                    .contains(
                            "Proxy-Authenticate: Basic realm=\"here\", charset=\"UTF-8\"",
                            "Proxy-Authenticate: Bearer realm=\"here\"");
            assertRefused(ask(rig, target, basic("ann:guess-77")), 407, "proxy_auth");
            assertRefused(ask(rig, target, basic("nobody:secret")), 407, "proxy_auth");
            assertRefused(ask(rig, target, "Proxy-Authorization: Bearer tok-1"), 403, "policy_host");
            // As clients do it: asked, and then again on the same connection.
            try (Client client = new Client(rig)) {
                List<String> asked = client.connect(target).head();
                int length = asked.stream()
                        .filter(line -> line.startsWith("Content-Length: "))
                        .mapToInt(line -> Integer.parseInt(line.substring(16)))
                        .findFirst()
                        .orElseThrow();
                client.receive(length);
                assertThat(client.connect(target, basic("ann:secret")).status()).isEqualTo(200);
                assertThat(client.send("ping").receive(4)).isEqualTo("ping");
            }
            List<String> log = rig.awaitAccessLog(6);
            assertThat(log).anySatisfy(line -> assertThat(line).contains("\"identity\":\"ann\""));
            assertThat(log).noneSatisfy(line -> assertThat(line).containsAnyOf("secret", "guess-77", "tok-1", "YW5u"));
        }
    }

    /** Nobody's name gives away where it leads; connections to a place are not shared with those who may not go there. */
    @Test
    void whatAPolicyDeniesIsDeniedWhateverNameLeadsThere() throws Exception {
        Files.writeString(directory.resolve("users"), ANN);
        Files.writeString(directory.resolve("tokens"), "ci:tok-1\n");
        String target = "inner.test:" + echo.port();
        try (NameServer dns = new NameServer().answers("inner.test", "127.0.0.1");
                Rig rig = rig(
                        """
                allowedPorts: [%d]
                allow: ["*"]
                trustedDestinations: [127.0.0.0/8]
                auth: {basic: {usersFile: %s}, bearer: {tokensFile: %s}}
                policies: [{identities: [ann], deny: [127.0.0.0/16]}]
                """
                                .formatted(echo.port(), directory.resolve("users"), directory.resolve("tokens")),
                        "resolver: {nameServers: ['127.0.0.1:" + dns.port() + "']}")) {
            String get = "GET http://" + target + "/ HTTP/1.1\r\nHost: " + target + "\r\n";
            try (Client ci = new Client(rig)) {
                String token = "Proxy-Authorization: Bearer tok-1";
                assertThat(ci.send(get + token + "\r\n\r\n").status()).isEqualTo(200); // leaves a connection behind
                assertThat(ci.receive(2)).isEqualTo("hi");
                assertThat(ci.connect(target, token).status()).isEqualTo(200);
            }
            assertRefused(ask(rig, target, basic("ann:secret")), 403, "policy_address");
            try (Client ann = new Client(rig)) {
                assertRefused(ann.send(get + basic("ann:secret") + "\r\n\r\n").head(), 403, "policy_address");
            }
            assertRefused(ask(rig, "[::ffff:127.0.0.1]:" + echo.port(), basic("ann:secret")), 403, "policy_host");
            assertRefused(ask(rig, "[64:ff9b::7f00:1]:" + echo.port(), basic("ann:secret")), 403, "policy_address");
            assertThat(echo.connections).hasValue(2);
        }
    }

    @Test
    void credentialsGoNoFurtherThanTheGateway() throws Exception {
        Files.writeString(directory.resolve("users"), ANN);
        try (Rig rig = rig(
                        """
                allowedPorts: [%d]
                allow: ["*"]
                trustedDestinations: [127.0.0.1]
                auth: {basic: {usersFile: %s}}
                """
                                .formatted(echo.port(), directory.resolve("users")));
                Client client = new Client(rig)) {
            String target = "127.0.0.1:" + echo.port();
            client.send("GET http://" + target + "/a HTTP/1.1\r\nHost: " + target + "\r\n" + basic("ann:secret")
                    + "\r\nX-Kept: 1\r\n\r\n");

            assertThat(client.status()).isEqualTo(200);
            synchronized (echo.requests) {
                assertThat(echo.requests).hasSize(1);
                assertThat(echo.requests.get(0))
                        .startsWith("GET /a HTTP/1.1\r\n")
                        .contains("X-Kept: 1")
                        .doesNotContainIgnoringCase("Proxy-Authorization");
            }
        }
    }

    @Test
    void noMoreTunnelsAreOpenThanMay() throws Exception {
        String target = "127.0.0.1:" + echo.port();
        try (Rig rig = rig(
                """
                allowedPorts: [%d]
                allow: ["*"]
                trustedDestinations: [127.0.0.1]
                limits: {maxTunnelsPerClient: 2}
                """
                        .formatted(echo.port()))) {
            try (Client first = new Client(rig);
                    Client second = new Client(rig)) {
                assertThat(first.connect(target).status()).isEqualTo(200);
                assertThat(second.connect(target).status()).isEqualTo(200);
                assertRefused(ask(rig, target), 429, "rate_limited");
            }
            rig.awaitIdle();
            try (Client third = new Client(rig)) {
                assertThat(third.connect(target).status()).isEqualTo(200);
            }
        }
    }

    @Test
    void auditModeLetsThroughWhatItWouldRefuse() throws Exception {
        String target = "127.0.0.1:" + echo.port();
        try (Rig rig = rig("allow: [a.test]\naudit: true\ntrustedDestinations: [127.0.0.1]")) {
            try (Client client = new Client(rig)) {
                assertThat(client.connect(target).status()).isEqualTo(200);
                assertThat(client.send("ping").receive(4)).isEqualTo("ping");
            }
            assertThat(rig.metric("gateway_connect_denied_total", "rule=\"allowedPorts\""))
                    .isEqualTo(1);
            assertRefused(ask(rig, "127.0.0.1:" + rig.port("admin")), 403, "policy_address");
            assertThat(rig.metric("gateway_connect_denied_total", "rule=\"address\""))
                    .isEqualTo(1);
            assertThat(rig.admin("/allow-list?listener=egress"))
                    .contains("allow:\n  - \"127.0.0.1\"\n")
                    .containsPattern("allowedPorts: \\[.*\\b" + echo.port() + "\\b.*]");
        }
    }

    @Test
    void aTunnelWhoseTlsAsksForAnotherHostIsRefused() throws Exception {
        String target = "127.0.0.1:" + echo.port();
        try (Rig rig = rig(
                        """
                allowedPorts: [%d]
                allow: ["*"]
                trustedDestinations: [127.0.0.1]
                sni: mustMatch
                """
                                .formatted(echo.port()));
                Client client = new Client(rig)) {
            assertThat(client.connect(target).status()).isEqualTo(200);
            client.send("not TLS at all");

            assertThat(client.rest()).isEmpty();
            assertThat(rig.awaitAccessLog(2).get(1)).contains("policy_sni"); // after the one of its opening
            rig.awaitIdle();
        }
    }

    @ParameterizedTest
    @CsvSource({"log, localhost", "log, other.test", "mustMatch, localhost", "mustMatch, other.test"})
    void theAccessLogHasTheNameThatTlsAsksFor(String mode, String name) throws Exception {
        String connect =
                """
                allowedPorts: [%d]
                allow: [localhost]
                trustedDestinations: [localhost]
                sni: %s
                """
                        .formatted(echo.port(), mode);
        boolean passes = mode.equals("log") || name.equals("localhost");
        try (Rig rig = rig(connect)) {
            try (Client client = new Client(rig)) {
                assertThat(client.connect("localhost:" + echo.port()).status()).isEqualTo(200);
                String hello = hello(name);
                client.send(hello);
                if (passes) {
                    assertThat(client.receive(hello.length())).isEqualTo(hello);
                } else {
                    assertThat(client.rest()).isEmpty();
                }
            }
            List<String> lines = rig.awaitAccessLog(2);
            assertThat(lines.get(0)).contains("\"record\":\"open\"").doesNotContain("tunnelServerName");
            assertThat(lines.get(1)).contains("\"tunnelServerName\":\"" + name + "\"");
            assertThat(lines.get(1).contains("policy_sni")).isEqualTo(!passes);
            rig.awaitIdle();
        }
    }

    /** Returns what a client of TLS sends first. */
    private static String hello(String serverName) throws Exception {
        SSLEngine engine = SSLContext.getDefault().createSSLEngine();
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setServerNames(List.of(new SNIHostName(serverName)));
        engine.setSSLParameters(parameters);
        ByteBuffer hello = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        engine.wrap(ByteBuffer.allocate(0), hello);
        return StandardCharsets.ISO_8859_1.decode(hello.flip()).toString();
    }
}
