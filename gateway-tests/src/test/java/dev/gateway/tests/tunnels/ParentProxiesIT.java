package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.WebSocket;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket.Listener;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Through parents that others have written (tinyproxy, microsocks), and through another gateway, in cleartext and over
 * TLS; all of them want to know who asks. Each listener has a parent of its own.
 */
class ParentProxiesIT {
    private static final String CREDENTIALS = "gateway:sesame";

    /** Of "sesame". */
    private static final String USERS = "gateway:{SHA}CEo1Ae3vaEXy8eQZjsOiuBz1xrw=\n";

    @TempDir
    static Path directory;

    private static final Deque<AutoCloseable> open = new ArrayDeque<>();
    private static Origin clear;
    private static Origin secure;
    private static Rig far;
    private static Rig rig;
    private static int tinyproxy;
    private static int microsocks;

    @BeforeAll
    static void start() throws Exception {
        clear = Origin.start()
                .on("/echo", Behaviors.echo())
                .on("/ws", WebSocket::echo)
                .otherwise(Behaviors.text("hello"));
        secure = Origin.startTls("h2", "http/1.1").on("/echo", Behaviors.echo()).otherwise(Behaviors.text("hello"));
        CertificateAuthority ca = new CertificateAuthority("CA of proxies", directory);
        Files.writeString(directory.resolve("credentials"), CREDENTIALS + "\n");
        Files.writeString(directory.resolve("wrong"), "gateway:wrong\n");
        Files.writeString(directory.resolve("users"), USERS);
        tinyproxy = tinyproxy();
        microsocks = microsocks();
        far = keep(Rig.start(
                """
                listeners:
                  - {name: http, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: https, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {certificateRefs: [%s]}}
                connect:
                  - parentRefs: [{name: http}, {name: https}]
                    allow: [localhost]
                    allowedPorts: [%d, %d]
                    denyPrivate: false
                    auth: {basic: {usersFile: "%s/users"}}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: json, path: access.log}
                """
                        .formatted(ca.issue("proxy.test").ref(), clear.port(), secure.port(), directory)));
        rig = keep(Rig.start(
                """
                listeners:
                  - {name: tinyproxy, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: microsocks, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: http, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: https, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: wrong, address: 127.0.0.1, port: 0, protocol: HTTP}
                connect:
                """
                        + entry("tinyproxy", "http://127.0.0.1:" + tinyproxy, "credentials", "")
                        + entry("microsocks", "socks5://127.0.0.1:" + microsocks, "credentials", "")
                        + entry("http", "http://localhost:" + far.port("http"), "credentials", "")
                        + entry(
                                "https",
                                "https://127.0.0.1:" + far.port("https"),
                                "credentials",
                                ", tls: {caFile: " + ca.file() + ", serverName: proxy.test}")
                        + """
                          - parentRefs: [{name: wrong}]
                            allow: ["*"]
                            allowedPorts: [1-65535]
                            denyPrivate: false
                            parents:
                              - {hosts: [tiny.test], proxy: "http://127.0.0.1:%1$d", credentialsFile: %3$s/wrong}
                              - {hosts: [socks.test], proxy: "socks5://127.0.0.1:%2$d", credentialsFile: %3$s/wrong}
                              - {hosts: [nobody.test], proxy: "socks5://127.0.0.1:%2$d"}
                              - {hosts: [far.test], proxy: "http://127.0.0.1:%4$d", credentialsFile: %3$s/wrong}
                              - {hosts: [refused.test], proxy: "http://127.0.0.1:%4$d", credentialsFile: %3$s/credentials}
                              - {hosts: [tls.test], proxy: "https://127.0.0.1:%5$d", tls: {caFile: %6$s}}
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: json, path: access.log}
                        """
                                .formatted(
                                        tinyproxy,
                                        microsocks,
                                        directory,
                                        far.port("http"),
                                        far.port("https"),
                                        ca.file())));
        keep(clear); // closed first: clients keep their tunnels as long as there is somebody at the other end
        keep(secure);
    }

    private static String entry(String listener, String proxy, String credentials, String more) {
        return """
                  - parentRefs: [{name: %1$s}]
                    allow: ["*"]
                    allowedPorts: [1-65535]
                    denyPrivate: false
                    parents: [{hosts: ["*"], proxy: "%2$s", credentialsFile: %3$s/%4$s%5$s}]
                """
                .formatted(listener, proxy, directory, credentials, more);
    }

    private static <T extends AutoCloseable> T keep(T started) {
        open.addFirst(started);
        return started;
    }

    private static int tinyproxy() throws IOException {
        int port = Tools.freePort();
        Path config = Files.writeString(
                directory.resolve("tinyproxy.conf"),
                "Port " + port + "\nListen 127.0.0.1\nBasicAuth " + CREDENTIALS.replace(':', ' ')
                        + "\nTimeout 60\nMaxClients 100\n");
        run(port, Tools.find("tinyproxy"), "-d", "-c", config.toString());
        return port;
    }

    private static int microsocks() throws IOException {
        int port = Tools.freePort();
        String[] login = CREDENTIALS.split(":", 2);
        run(port, Tools.find("microsocks"), "-i", "127.0.0.1", "-p", "" + port, "-u", login[0], "-P", login[1]);
        return port;
    }

    private static void run(int port, String... command) throws IOException {
        Path out = directory.resolve("out-" + port);
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
        keep(() -> Tools.stop(process));
        if (!Tools.awaitListening(port, process)) {
            throw new IOException(command[0] + " did not start: " + Files.readString(out));
        }
    }

    @AfterAll
    static void stop() throws Exception {
        while (!open.isEmpty()) {
            open.removeFirst().close();
        }
    }

    private static Tools.Result curl(String listener, String url, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Tools.find("curl"),
                "-sS",
                "-k",
                "--max-time",
                "20",
                "--noproxy",
                "",
                "-x",
                "http://127.0.0.1:" + rig.port(listener),
                "-w",
                " %{http_connect} %{http_code}"));
        command.addAll(List.of(options));
        command.add(url);
        return Tools.run(30, command);
    }

    private static String url(boolean tls, String path) {
        return tls ? "https://localhost:" + secure.port() + path : "http://localhost:" + clear.port() + path;
    }

    @ParameterizedTest
    @ValueSource(strings = {"tinyproxy", "microsocks", "http", "https"})
    void curlFetchesThroughATunnelAndWithoutOne(String listener) throws Exception {
        byte[] body = new byte[400_000];
        new Random(5).nextBytes(body);
        Path sent = Files.write(directory.resolve("sent"), body);
        Path received = directory.resolve("received");
        for (String[] how : new String[][] {
            {url(true, "/"), "--http1.1", "200"},
            {url(true, "/"), "--http2", "200"},
            {url(false, "/"), "--http1.1", "000"},
            {url(false, "/"), "--proxytunnel", "200"}
        }) {
            assertThat(curl(listener, how[0], how[1]).output()).isEqualTo("hello " + how[2] + " 200");
            assertThat(curl(listener, how[0] + "echo", how[1], "--data-binary", "@" + sent, "-o", received.toString())
                            .output())
                    .isEqualTo(" " + how[2] + " 200");
            assertThat(Files.readAllBytes(received)).isEqualTo(body);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tinyproxy", "microsocks", "http", "https"})
    void theJdksClientFetchesToo(String listener) throws Exception {
        HttpClient client = HttpClient.newBuilder()
                .proxy(ProxySelector.of(new InetSocketAddress("127.0.0.1", rig.port(listener))))
                .sslContext(trusting(secure.writeCertificate(directory.resolve("origin.crt"))))
                .version(HttpClient.Version.HTTP_1_1)
                .build();
        for (boolean tls : new boolean[] {true, false}) {
            for (int i = 0; i < 3; i++) {
                HttpResponse<String> response = client.send(
                        HttpRequest.newBuilder(URI.create(url(tls, "/echo")))
                                .POST(BodyPublishers.ofString("hello " + i))
                                .timeout(Duration.ofSeconds(20))
                                .build(),
                        BodyHandlers.ofString());
                assertThat(response.statusCode()).isEqualTo(200);
                assertThat(response.body()).isEqualTo("hello " + i);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tinyproxy", "microsocks", "http", "https"})
    void aWebSocketIsOpenedThroughATunnel(String listener) throws Exception {
        CompletableFuture<String> echoed = new CompletableFuture<>();
        var socket = HttpClient.newBuilder()
                .proxy(ProxySelector.of(new InetSocketAddress("127.0.0.1", rig.port(listener))))
                .build()
                .newWebSocketBuilder()
                .buildAsync(URI.create("ws://localhost:" + clear.port() + "/ws"), new Listener() {
                    @Override
                    public @Nullable CompletionStage<?> onText(
                            java.net.http.WebSocket from, CharSequence text, boolean last) {
                        echoed.complete(text.toString());
                        return null;
                    }
                })
                .get(20, TimeUnit.SECONDS);
        try {
            socket.sendText("hello", true).get(20, TimeUnit.SECONDS);
            assertThat(echoed.get(20, TimeUnit.SECONDS)).isEqualTo("hello");
        } finally {
            socket.abort();
        }
    }

    private static SSLContext trusting(Path certificate) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (var in = Files.newInputStream(certificate)) {
            store.setCertificateEntry(
                    "origin", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    @Test
    void requestsForOneDestinationShareConnectionsToItsParent() throws Exception {
        double before = far.metric("gateway_downstream_connections_total", "listener=\"https\"");
        double connections = rig.metric("gateway_upstream_connections_total", "upstream=\"connect-4\"");
        for (int i = 0; i < 5; i++) {
            // By one client after the other, on whatever event loop.
            assertThat(curl("https", url(false, "/" + i)).output()).isEqualTo("hello 000 200");
            assertThat(curl("https", "http://other.test:" + clear.port() + "/").output())
                    .contains("policy_host")
                    .endsWith(" 000 403");
        }
        double made = rig.metric("gateway_upstream_connections_total", "upstream=\"connect-4\"") - connections;
        assertThat(made).isLessThan(10);
        assertThat(far.metric("gateway_downstream_connections_total", "listener=\"https\"") - before)
                .isEqualTo(made);
    }

    @Test
    void theDestinationSeesWhatTheClientWroteAndNoCredentials() throws Exception {
        for (String listener : List.of("http", "microsocks", "tinyproxy")) {
            curl(listener, url(false, "/seen-by-" + listener + "?q=%7E"), "--proxy-user", "ann:secret");
            List<Head> requests = clear.requests("/seen-by-" + listener);
            assertThat(requests).hasSize(1);
            Head head = requests.get(0);
            assertThat(head.target()).isEqualTo("/seen-by-" + listener + "?q=%7E");
            assertThat(head.get("host")).contains("localhost:" + clear.port());
            assertThat(head.get("proxy-authorization")).isEmpty();
            assertThat(head.get("via").orElse("")).contains("gateway");
        }
    }

    @Test
    void theLogNamesTheParentAndTheAddress() throws Exception {
        curl("https", url(true, "/"));
        curl("https", url(false, "/logged"));
        String parent = "\"dialed\":\"127.0.0.1:" + far.port("https") + "\",\"parent\":\"https://127.0.0.1:"
                + far.port("https") + "\"";
        awaitLog(rig, "\"listener\":\"https\"", "\"record\":\"open\"", parent);
        awaitLog(rig, "\"listener\":\"https\"", "\"record\":\"close\"", parent);
        awaitLog(rig, "\"path\":\"/logged\"", parent);
        awaitLog(far, "\"path\":\"/logged\"", "\"identity\":\"gateway\"");
        assertThat(rig.awaitAccessLog(1)).noneMatch(line -> line.contains("sesame") || line.contains("Z2F0ZXdheT"));
    }

    private static String awaitLog(Rig of, String... texts) throws IOException {
        for (int lines = 1; ; lines++) {
            for (String line : of.awaitAccessLog(lines)) { // fails when no more lines come
                if (List.of(texts).stream().allMatch(line::contains)) {
                    return line;
                }
            }
        }
    }

    @Test
    void whatAParentRefusesIsTheGatewaysFailure() throws Exception {
        for (String[] each : new String[][] {
            {"tiny.test", "parent http://127.0.0.1:" + tinyproxy + ": answered 401"},
            {"socks.test", "parent socks5://127.0.0.1:" + microsocks + ": refuses our name and password"},
            {"nobody.test", "parent socks5://127.0.0.1:" + microsocks + ": wants a name and a password"},
            {"far.test", "parent http://127.0.0.1:" + far.port("http") + ": answered 407"},
            {"refused.test", "parent http://127.0.0.1:" + far.port("http") + ": answered 403"},
        }) {
            Tools.Result result = curl("wrong", "https://" + each[0] + ":" + secure.port() + "/", "-v");
            assertThat(result.output())
                    .contains("502 Bad Gateway")
                    .containsIgnoringCase("Proxy-Status: gateway;error=connection_refused")
                    .doesNotContainIgnoringCase("Proxy-Authenticate");
            awaitLog(rig, "\"authority\":\"" + each[0], "\"cause\":\"connect_failed\"", each[1]);
        }
        assertThat(curl("wrong", "https://tls.test/", "-v").output()) // its certificate is for another name
                .contains("502 Bad Gateway")
                .containsIgnoringCase("Proxy-Status: gateway;error=tls_protocol_error");
    }

    @Test
    void aParentThatWantsOtherCredentialsDoesNotAskTheClientForThem() throws Exception {
        Tools.Result result = curl("wrong", "http://far.test:" + clear.port() + "/", "-v");
        assertThat(result.output())
                .contains("connect_failed")
                .doesNotContainIgnoringCase("Proxy-Authenticate")
                .endsWith(" 000 502");
        awaitLog(rig, "\"authority\":\"far.test:" + clear.port(), "answered 407");
    }
}
