package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who may see and do what at the admin listener, and where it listens. */
@Tag("jar")
@Timeout(120)
class AdminAccessIT {
    private static final String TOKEN = "0123456789abcdef0123456789abcdef";
    private static final String SET_LEVEL = "POST /log-level?logger=x&level=debug HTTP/1.1\r\nContent-Length: 0\r\n";

    private static String yaml(String admin) {
        return """
                listeners: [{name: web, unix: web.sock, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {body: hello}}]}]}]
                admin: %s
                accessLog: {format: off}
                """
                .formatted(admin);
    }

    private static GatewayJar start(String admin) throws IOException {
        return GatewayJar.of(yaml(admin)).start();
    }

    private static Socket connect(GatewayJar gateway) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), gateway.adminPort());
    }

    private static void send(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
    }

    /** Returns an answer, which ends with the connection. */
    private static String ask(GatewayJar gateway, String request) throws IOException {
        try (Socket socket = connect(gateway)) {
            send(socket.getOutputStream(), request + "Connection: close\r\n\r\n");
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String get(GatewayJar gateway, String path, String host, String... fields) throws IOException {
        return ask(gateway, "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + String.join("", fields));
    }

    private static void reload(GatewayJar gateway, String yaml, String told) throws Exception {
        Files.writeString(gateway.directory().resolve("gateway.yaml"), yaml);
        gateway.awaitLog("SIGHUP reloads");
        gateway.signal("HUP");
        gateway.awaitLog(told);
    }

    @Test
    void aConnectionOfAFormerListenerKeepsItsRules() throws Exception {
        try (GatewayJar gateway = start("{address: 0.0.0.0, port: 0}");
                Socket socket = connect(gateway)) {
            send(socket.getOutputStream(), SET_LEVEL + "Host: localhost\r\nX-Requested-By: mallory\r\n");
            reload(gateway, yaml("{address: 127.0.0.1, port: 0}"), "generation 2 is active");
            send(socket.getOutputStream(), "Connection: close\r\n\r\n");
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answer).startsWith("HTTP/1.1 403 ").contains("this needs admin.tokenFile");
        }
    }

    @Test
    void clientsOfAProxyMayNotActWithoutAToken() throws Exception {
        try (GatewayJar gateway = start("{port: 0}")) {
            String request = SET_LEVEL + "Host: 127.0.0.1\r\nX-Requested-By: stranger\r\n";
            assertThat(ask(gateway, request)).startsWith("HTTP/1.1 200 ");
            assertThat(ask(gateway, request + "Via: 1.1 nginx\r\n"))
                    .startsWith("HTTP/1.1 403 ")
                    .contains("a proxy has passed this on, as Via shows");
        }
    }

    @Test
    void aTokenThatHasBecomeTooShortOpensNothing() throws Exception {
        try (GatewayJar gateway = start("{port: 0}")) {
            Files.writeString(gateway.directory().resolve("token"), TOKEN);
            reload(gateway, yaml("{port: 0, tokenFile: token}"), "generation 2 is active");
            Files.writeString(gateway.directory().resolve("token"), "short\n");
            String bearer = "Authorization: Bearer short\r\n";
            assertThat(get(gateway, "/config", "localhost", bearer)).startsWith("HTTP/1.1 503 ");
            assertThat(ask(gateway, SET_LEVEL + "Host: localhost\r\n" + bearer)).startsWith("HTTP/1.1 503 ");
            gateway.awaitLog("has fewer than 16 characters");
        }
    }

    @Test
    void withATokenOnlyHealthMetricsAndStatisticsAreOpen() throws Exception {
        try (GatewayJar gateway = start("{port: 0}")) {
            Files.writeString(gateway.directory().resolve("token"), TOKEN);
            reload(gateway, yaml("{port: 0, tokenFile: token}"), "generation 2 is active");
            for (String open : new String[] {"/healthz", "/live", "/ready", "/startup", "/stats", "/metrics"}) {
                assertThat(get(gateway, open, "localhost")).as(open).startsWith("HTTP/1.1 200 ");
            }
            String bearer = "Authorization: Bearer " + TOKEN + "\r\n";
            String basic = "Authorization: Basic "
                    + Base64.getEncoder().encodeToString(("me:" + TOKEN).getBytes(StandardCharsets.UTF_8))
                    + "\r\n";
            for (String closed : new String[] {
                "/",
                "/config",
                "/connections",
                "/tunnels",
                "/upstreams",
                "/certificates",
                "/failures",
                "/reloads",
                "/listeners",
                "/routes",
                "/log-level",
                "/explain?path=/",
                "/dashboard",
                "/dashboard/main.js",
                "/openapi.json"
            }) {
                assertThat(get(gateway, closed, "localhost"))
                        .as(closed)
                        .startsWith("HTTP/1.1 401 ")
                        .contains("WWW-Authenticate: Bearer realm=\"gateway admin\", Basic");
                assertThat(get(gateway, closed, "localhost", bearer)).as(closed).startsWith("HTTP/1.1 200 ");
                assertThat(get(gateway, closed, "localhost", basic)).as(closed).startsWith("HTTP/1.1 200 ");
                assertThat(get(gateway, closed, "localhost", bearer.replace('0', '1')))
                        .as(closed)
                        .startsWith("HTTP/1.1 401 ");
            }
            // A browser sends a password for other sites' pages, too.
            assertThat(ask(gateway, SET_LEVEL + "Host: localhost\r\n" + basic)).startsWith("HTTP/1.1 403 ");
            assertThat(ask(gateway, SET_LEVEL + "Host: localhost\r\n" + bearer)).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void onlyHealthPagesAnswerToAForeignName() throws Exception {
        try (GatewayJar gateway = start("{port: 0}")) {
            for (String open : new String[] {"/healthz", "/live", "/ready", "/startup"}) {
                assertThat(get(gateway, open, "rebind.evil.example")).as(open).startsWith("HTTP/1.1 200 ");
            }
            for (String closed : new String[] {
                "/",
                "/stats",
                "/metrics",
                "/dashboard",
                "/dashboard/main.js",
                "/openapi.json",
                "/proxy.pac",
                "/no-proxy"
            }) {
                assertThat(get(gateway, closed, "rebind.evil.example"))
                        .as(closed)
                        .startsWith("HTTP/1.1 403 ");
            }
        }
    }

    @Test
    void otherMachinesAskByAddressOrByANameThatNoWebPageHas() throws Exception {
        try (GatewayJar gateway = start("{address: 0.0.0.0, port: 0}")) {
            for (String name : new String[] {"192.0.2.7:9901", "[2001:db8::1]", "gateway", "gateway-admin.edge.svc"}) {
                assertThat(get(gateway, "/metrics", name)).as(name).startsWith("HTTP/1.1 200 ");
            }
            assertThat(get(gateway, "/metrics", "admin.example.com")).startsWith("HTTP/1.1 403 ");
            String named = "{address: 0.0.0.0, port: 0, hostnames: [Admin.example.com]}";
            reload(gateway, yaml(named), "generation 2 is active");
            assertThat(get(gateway, "/metrics", "admin.example.com:9901")).startsWith("HTTP/1.1 200 ");
            assertThat(get(gateway, "/metrics", "evil.example.com")).startsWith("HTTP/1.1 403 ");
        }
    }

    @Test
    void readinessTellsItsReasonsToReadersOnly() throws Exception {
        try (GatewayJar gateway = start("{port: 0}")) {
            reload(gateway, "listners: []\n", "The reload failed");
            assertThat(get(gateway, "/ready", "localhost")).contains("unknown key 'listners'");
            assertThat(get(gateway, "/ready", "rebind.evil.example")).endsWith("\r\n\r\nready\n");
            Files.writeString(gateway.directory().resolve("token"), TOKEN);
            reload(gateway, yaml("{port: 0, tokenFile: token}"), "generation 2 is active");
            reload(gateway, "listenrs: []\n", "The reload failed: generation 2 stays active");
            assertThat(get(gateway, "/ready", "localhost")).endsWith("\r\n\r\nready\n");
            assertThat(get(gateway, "/ready", "localhost", "Authorization: Bearer " + TOKEN + "\r\n"))
                    .contains("unknown key 'listenrs'");
        }
    }

    @Test
    void theAdminListenerMayBeASocketFile() throws Exception {
        try (GatewayJar gateway = GatewayJar.of(yaml("{unix: admin.sock}"))
                .startedWith("Admin at unix:")
                .start()) {
            Path file = gateway.directory().resolve("admin.sock");
            assertThat(unix(file, "GET /stats HTTP/1.1\r\nHost: any\r\n")).startsWith("HTTP/1.1 200 ");
            assertThat(unix(file, SET_LEVEL + "Host: any\r\n")).startsWith("HTTP/1.1 200 ");
            assertThat(unix(file, SET_LEVEL + "Host: any\r\nVia: 1.1 nginx\r\n"))
                    .startsWith("HTTP/1.1 403 ");
            gateway.awaitLog("requested by a user of the socket file");
        }
    }

    private static String unix(Path file, String request) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(file));
            channel.write(ByteBuffer.wrap((request + "Connection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII)));
            InputStream in = Channels.newInputStream(channel);
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void byDefaultTheAdminListenerIsOnLoopbackAndMayBeMissing() throws Exception {
        String yaml = yaml("").replace("admin: \n", "");
        String loopback = "ip link set lo up && exec \"$0\" \"$@\"";
        Tools.requireNamespace(loopback);
        try (GatewayJar first = GatewayJar.of(yaml)
                .under("unshare", "-rn", "sh", "-c", loopback)
                .start()) {
            assertThat(first.log()).contains("Admin at http://127.0.0.1:9901/");
            String pid = Long.toString(first.pid());
            try (GatewayJar second = GatewayJar.of(yaml)
                    .under("nsenter", "--preserve-credentials", "-U", "-n", "-t", pid)
                    .startedWith("Listener web at ")
                    .start()) {
                second.awaitLog("There is no admin listener, because ");
                Path file = second.directory().resolve("web.sock");
                assertThat(unix(file, "GET / HTTP/1.1\r\nHost: any\r\n")).endsWith("hello");
            }
        }
    }

    @Test
    void whoNamesAPortThatIsTakenIsTold() throws Exception {
        try (GatewayJar first = start("{port: 0}")) {
            try (GatewayJar second = GatewayJar.of(yaml("{port: " + first.adminPort() + "}"))
                    .startedWith("cannot start: ")
                    .start()) {
                assertThat(second.awaitExit(Duration.ofSeconds(20))).isEqualTo(3);
                second.awaitLog("Address already in use");
                assertThat(second.log()).doesNotContain("failed with error");
            }
        }
    }

    @Test
    void noAdminListenerIsAChoice() throws Exception {
        try (GatewayJar gateway = GatewayJar.of(yaml("{enabled: false}"))
                .startedWith("Listener web at ")
                .start()) {
            reload(gateway, yaml("{enabled: false}").replace("hello", "again"), "generation 2 is active");
            assertThat(gateway.log()).doesNotContain("Admin at");
        }
    }
}
