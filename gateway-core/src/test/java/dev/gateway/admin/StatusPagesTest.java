package dev.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an operator sees of what goes on, and can do about it. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // what each test's start sets
class StatusPagesTest {
    private static final String WEB_SOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; // RFC 6455, section 1.3

    @TempDir
    Path directory;

    private AdminRig rig;

    @BeforeEach
    void start() throws Exception {
        rig = new AdminRig(directory, "");
    }

    @AfterEach
    void stop() throws IOException {
        rig.close();
    }

    // ---- connections and tunnels

    /** Opens a tunnel to the rig's server; the client's end. */
    private Socket tunnel() throws IOException {
        Socket client = rig.connect("egress");
        String authority = "127.0.0.1:" + rig.bytes.getLocalPort();
        String credentials =
                Base64.getEncoder().encodeToString(("alice:" + AdminRig.SECRET).getBytes(StandardCharsets.US_ASCII));
        AdminRig.write(
                client,
                "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\nProxy-Authorization: Basic "
                        + credentials + "\r\n\r\n");
        assertThat(AdminRig.head(client)).startsWith("HTTP/1.1 200 ");
        return client;
    }

    @Test
    void anOpenTunnelIsShownWithWhoseItIsAndWhatItHasCarried() throws Exception {
        try (Socket client = tunnel();
                Socket server = rig.bytes.accept()) {
            AdminRig.write(client, "12345");
            server.getInputStream().readNBytes(5);
            AdminRig.write(server, "123");
            client.getInputStream().readNBytes(3);
            JsonNode tunnel = rig.json("/tunnels").get("tunnels").get(0);
            assertThat(tunnel.get("kind").asText()).isEqualTo("tunnel");
            assertThat(tunnel.get("listener").asText()).isEqualTo("egress");
            assertThat(tunnel.get("identity").asText()).isEqualTo("alice");
            assertThat(tunnel.get("target").asText()).isEqualTo("127.0.0.1:" + rig.bytes.getLocalPort());
            assertThat(tunnel.get("peer").asText()).isEqualTo("127.0.0.1:" + client.getLocalPort());
            assertThat(tunnel.get("receivedBytes").asLong()).isEqualTo(5);
            assertThat(tunnel.get("sentBytes").asLong()).isEqualTo(3);
            assertThat(tunnel.get("idleMillis").asLong())
                    .isLessThanOrEqualTo(tunnel.get("ageMillis").asLong());
        }
        JsonNode left = rig.json("/tunnels").get("tunnels");
        while (!left.isEmpty()) { // until the loop has seen the end
            left = rig.json("/tunnels").get("tunnels");
        }
        assertThat(left).isEmpty();
    }

    @Test
    void aWebSocketIsShownWithoutTheQueryOfItsAddress() throws Exception {
        try (Socket client = rig.connect("web")) {
            AdminRig.write(
                    client,
                    "GET /chat?token=" + AdminRig.SECRET + " HTTP/1.1\r\nHost: a.test\r\nUpgrade: websocket\r\n"
                            + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
            try (Socket server = rig.bytes.accept()) {
                Matcher key = Pattern.compile("(?i)sec-websocket-key: (\\S+)").matcher(AdminRig.head(server));
                assertThat(key.find()).isTrue();
                byte[] digest = MessageDigest.getInstance("SHA-1")
                        .digest((key.group(1) + WEB_SOCKET).getBytes(StandardCharsets.US_ASCII));
                AdminRig.write(
                        server,
                        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                + "Sec-WebSocket-Accept: " + Base64.getEncoder().encodeToString(digest) + "\r\n\r\n");
                assertThat(AdminRig.head(client)).startsWith("HTTP/1.1 101 ");
                JsonNode tunnel = rig.json("/tunnels").get("tunnels").get(0);
                assertThat(tunnel.get("kind").asText()).isEqualTo("websocket");
                assertThat(tunnel.get("target").asText()).isEqualTo("a.test/chat");
                assertThat(tunnel.get("upstream").asText()).isEqualTo("chat");
                assertThat(tunnel.get("endpoint").asText()).isEqualTo("127.0.0.1:" + rig.bytes.getLocalPort());
            }
        }
    }

    @Test
    void connectionsAreShownInPartsThatTogetherAreAll() throws Exception {
        List<Socket> sockets = new ArrayList<>();
        try {
            Set<String> peers = new HashSet<>();
            for (int i = 0; i < 7; i++) {
                Socket socket = rig.connect("web");
                sockets.add(socket);
                AdminRig.write(socket, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
                AdminRig.head(socket); // so it has been accepted
                peers.add("127.0.0.1:" + socket.getLocalPort());
            }
            Set<String> seen = new HashSet<>();
            List<Integer> sizes = new ArrayList<>();
            String after = "0";
            while (!after.isEmpty()) {
                JsonNode page = rig.json("/connections?limit=3&after=" + after);
                page.get("connections").forEach(connection -> {
                    assertThat(seen.add(connection.get("peer").asText())).isTrue();
                    assertThat(connection.get("listener").asText()).isEqualTo("web");
                    assertThat(connection.get("protocol").asText()).isEqualTo("HTTP/1.1");
                    assertThat(connection.get("receivedBytes").asLong()).isEqualTo(35);
                    assertThat(connection.get("sentBytes").asLong()).isPositive();
                });
                sizes.add(page.get("connections").size());
                after = page.has("next") ? page.get("next").asText() : "";
            }
            assertThat(seen).isEqualTo(peers);
            assertThat(sizes).containsExactly(3, 3, 1);
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/connections?limit=0",
                "/connections?limit=1001",
                "/tunnels?after=-1",
                "/tunnels?limit=x",
                "/connections?limt=3"
            })
    void aPartThatCannotBeMeantIsABadQuestion(String path) throws Exception {
        HttpResponse<String> response = rig.get(path);
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains("expected");
    }

    // ---- the configuration and what it has become

    @Test
    void theConfigurationIsShownWithADateOfItsOwn() throws Exception {
        HttpResponse<String> config = rig.get("/config");
        assertThat(config.body()).contains("name: egress").contains("<masked>");
        String tag = config.headers().firstValue("etag").orElseThrow();
        HttpResponse<String> again = rig.send(rig.to("admin", "/config").header("If-None-Match", tag));
        assertThat(again.statusCode()).isEqualTo(304);
        assertThat(again.body()).isEmpty();
        rig.reload("drain: {timeout: 17s}");
        HttpResponse<String> changed = rig.send(rig.to("admin", "/config").header("If-None-Match", tag));
        assertThat(changed.statusCode()).isEqualTo(200);
        assertThat(changed.body()).contains("17s");
    }

    @Test
    void listenersRoutesAndCertificatesAreShown() throws Exception {
        JsonNode listeners = rig.json("/listeners").get("listeners");
        assertThat(listeners.findValuesAsText("name")).containsExactly("web", "secure", "egress", "admin");
        assertThat(listeners.get(1).get("url").asText())
                .isEqualTo("https://127.0.0.1:" + rig.gateway.port("secure") + "/");
        assertThat(listeners.get(2).get("connect").get(0).asText()).isEqualTo("out");
        JsonNode routes = rig.json("/routes").get("routes");
        assertThat(routes.get(0).get("at").asText()).startsWith("gateway.yaml:9:");
        assertThat(routes.get(0).get("matches").get(0).get("headers").get(0).asText())
                .isEqualTo("authorization = ***");
        JsonNode certificate = rig.json("/certificates").get("certificates").get(0);
        assertThat(certificate.get("listener").asText()).isEqualTo("secure");
        assertThat(certificate.get("names").toString()).contains("localhost");
    }

    @Test
    void upstreamsAreShownWithTheConnectionsOfEachEventLoop() throws Exception {
        rig.fetch();
        JsonNode app = rig.json("/upstreams").get("upstreams").get(1);
        assertThat(app.get("name").asText()).isEqualTo("app");
        assertThat(app.get("limits").get("connections").get("used").asInt()).isEqualTo(1);
        int open = 0;
        for (JsonNode endpoint : app.get("endpoints")) {
            assertThat(endpoint.get("loops")).hasSize(2);
            open += endpoint.get("idle").asInt() + endpoint.get("inUse").asInt();
        }
        assertThat(open).isEqualTo(1);
        assertThat(rig.json("/upstreams").get("upstreams").get(2).get("name").asText())
                .isEqualTo("out");
    }

    // ---- what can be done

    private String state(int endpoint) throws Exception {
        return rig.json("/upstreams")
                .get("upstreams")
                .get(1)
                .get("endpoints")
                .get(endpoint)
                .get("state")
                .asText();
    }

    private Set<String> answers() throws Exception {
        Set<String> answers = new HashSet<>();
        for (int i = 0; i < 6; i++) {
            answers.add(rig.fetch());
        }
        return answers;
    }

    @Test
    void anEndpointThatDrainsGetsNoNewRequestsEvenAfterAReload() throws Exception {
        String one = "/endpoints/app/127.0.0.1:" + rig.one.getAddress().getPort();
        assertThat(answers()).containsExactlyInAnyOrder("200 one", "200 two");
        assertThat(rig.post(one + ":drain").statusCode()).isEqualTo(200);
        assertThat(state(0)).isEqualTo("draining");
        assertThat(answers()).containsExactly("200 two");
        rig.reload("drain: {timeout: 1s}"); // the upstream is kept
        assertThat(answers()).containsExactly("200 two");
        rig.reload("drain: {timeout: 1s}", "timeouts: {connect: 3s}"); // and made anew
        assertThat(state(0)).isEqualTo("draining");
        assertThat(answers()).containsExactly("200 two");
        assertThat(rig.get("/explain?host=localhost&path=/").body()).contains("state draining");
        assertThat(rig.post(one.replace(
                                        ":" + rig.one.getAddress().getPort(),
                                        "%3A" + rig.one.getAddress().getPort()) + ":undrain")
                        .statusCode())
                .isEqualTo(200);
        assertThat(answers()).containsExactlyInAnyOrder("200 one", "200 two");
        assertThat(state(0)).isEqualTo("healthy");
    }

    @Test
    void withAllEndpointsDrainingThereIsNone() throws Exception {
        for (int port :
                new int[] {rig.one.getAddress().getPort(), rig.two.getAddress().getPort()}) {
            assertThat(rig.post("/endpoints/app/127.0.0.1:" + port + ":drain").statusCode())
                    .isEqualTo(200);
        }
        assertThat(answers()).containsExactly("503 ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/endpoints/app/127.0.0.1:1:drain",
                "/endpoints/none/127.0.0.1:1:drain",
                "/endpoints/app",
                "/endpoints/app/x",
                "/endpoints/"
            })
    void anEndpointThatThereIsNotCannotDrain(String path) throws Exception {
        assertThat(rig.post(path).statusCode()).isEqualTo(404);
    }

    @Test
    void aLogLevelHoldsForAsLongAsItWasAskedFor() throws Exception {
        String logger = "dev.gateway.tests.loglevel";
        assertThat(rig.post("/log-level?logger=" + logger + "&level=debug&for=10ms")
                        .statusCode())
                .isEqualTo(200);
        while (rig.json("/log-level").has(logger)) { // it goes back by itself
            Thread.onSpinWait();
        }
        assertThat(rig.post("/log-level?logger=" + logger + "&level=trace").body())
                .isEqualTo("logger " + logger + ": trace\n");
        assertThat(rig.json("/log-level").get(logger).asText()).isEqualTo("trace");
        assertThat(rig.post("/log-level?logger=" + logger + "&level=inherit").statusCode())
                .isEqualTo(200);
        assertThat(rig.json("/log-level").has(logger)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"level=loud", "level=info&for=soon", "level=info&logger=a%20b", "level=inherit", "levl=info"})
    void aLogLevelThatThereIsNotIsRefused(String query) throws Exception {
        assertThat(rig.post("/log-level?" + query).statusCode()).isEqualTo(422);
    }

    @Test
    void whatChangesSomethingIsNotDoneForAWebPage() throws Exception {
        String one = "/endpoints/app/127.0.0.1:" + rig.one.getAddress().getPort() + ":drain";
        for (String path : List.of(one, "/log-level?level=off", "/reload")) {
            HttpResponse<String> response = rig.send(rig.to("admin", path).POST(BodyPublishers.noBody()));
            assertThat(response.statusCode()).as(path).isEqualTo(403);
        }
        assertThat(state(0)).isEqualTo("healthy");
    }

    @Test
    void detailsAreNotToldUnderANameThatIsNotLocal() throws Exception {
        for (String path :
                List.of("/config", "/connections", "/tunnels", "/upstreams", "/explain?path=/", "/stats", "/metrics")) {
            try (Socket socket = rig.connect("admin")) {
                AdminRig.write(socket, "GET " + path + " HTTP/1.1\r\nHost: rebound.test\r\n\r\n");
                assertThat(AdminRig.head(socket)).as(path).startsWith("HTTP/1.1 403 ");
            }
        }
    }

    @Test
    void aPathThatIsOnlyDoneOrOnlyShownSaysSo() throws Exception {
        HttpResponse<String> get = rig.get("/drain");
        assertThat(get.statusCode()).isEqualTo(405);
        assertThat(get.headers().firstValue("allow")).contains("POST");
        HttpResponse<String> put = rig.send(rig.to("admin", "/log-level").PUT(BodyPublishers.noBody()));
        assertThat(put.statusCode()).isEqualTo(405);
        assertThat(put.headers().firstValue("allow")).contains("GET, HEAD, POST");
    }

    // ---- secrets

    @Test
    void noPageShowsASecret() throws Exception {
        List<String> secrets = new ArrayList<>(List.of(AdminRig.SECRET, "$apr1$"));
        try (Stream<Path> files = Files.walk(directory.resolve("tls"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String text = Files.readString(file, StandardCharsets.ISO_8859_1);
                if (text.contains("PRIVATE KEY")) {
                    secrets.add(text.lines().skip(1).findFirst().orElseThrow());
                }
            }
        }
        assertThat(secrets).hasSize(3);
        try (Socket client = tunnel();
                Socket server = rig.bytes.accept()) {
            assertThat(server.isConnected() && client.isConnected()).isTrue();
            List<String> paths = new ArrayList<>(List.of(
                    "/explain?host=localhost&path=/internal&header=authorization:x",
                    "/explain?host=localhost&path=/internal&header=authorization:x&format=json",
                    "/explain?connect=127.0.0.1:1&identity=alice&format=json",
                    "/stats?format=json"));
            Pattern.compile("href=\"([^\"]+)\"")
                    .matcher(rig.get("/").body())
                    .results()
                    .forEach(link -> paths.add(link.group(1)));
            assertThat(paths).hasSizeGreaterThan(20);
            for (String path : paths) {
                HttpResponse<String> page = rig.get(path);
                assertThat(page.statusCode()).as(path).isIn(200, 400);
                assertThat(page.body() + page.headers().map()).as(path).doesNotContain(secrets);
            }
        }
    }
}
