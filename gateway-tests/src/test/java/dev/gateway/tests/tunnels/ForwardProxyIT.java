package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** curl with an HTTP proxy and {@code http} URLs: no tunnel, but the same rules. */
class ForwardProxyIT {
    @TempDir
    static Path directory;

    private static Origin origin;
    private static Origin own;
    private static Rig rig;

    @BeforeAll
    static void start() throws Exception {
        origin = Origin.start().on("/echo", Behaviors.echo()).otherwise(Behaviors.text("theirs"));
        own = Origin.start().otherwise(Behaviors.text("ours"));
        rig = Rig.start(
                """
                listeners:
                  - {name: plain, port: 0, protocol: HTTP}
                  - {name: https, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                routes:
                  - hostnames: [shop.test]
                    rules: [{backendRefs: [{name: own}]}]
                upstreams: [{name: own, endpoints: [{host: 127.0.0.1, port: %d}]}]
                connect:
                  - parentRefs: [{name: plain}, {name: https}]
                    allowedPorts: [%d]
                    allow: [localhost]
                    denyPrivate: false
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: json, path: access.log}
                """
                        .formatted(own.port(), origin.port()));
    }

    @AfterAll
    static void stop() throws Exception {
        rig.close();
        origin.close();
        own.close();
    }

    private static Tools.Result curl(String listener, String url, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Tools.find("curl"),
                "-sS",
                "--proxy-insecure",
                "--max-time",
                "20",
                "--noproxy",
                "",
                "-x",
                (listener.equals("https") ? "https" : "http") + "://localhost:" + rig.port(listener),
                "-w",
                " %{http_code}"));
        command.addAll(List.of(options));
        command.add(url);
        return Tools.run(30, command);
    }

    private static String url(String path) {
        return "http://localhost:" + origin.port() + path;
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "https"})
    void requestsAreForwardedWithTheirBodies(String listener) throws Exception {
        assertThat(curl(listener, url("/")).output()).isEqualTo("theirs 200");
        assertThat(curl(listener, url("/"), "--head").output()).endsWith(" 200");
        byte[] body = new byte[500_000];
        new Random(7).nextBytes(body);
        Path sent = Files.write(directory.resolve("sent"), body);
        Path received = directory.resolve("received");
        for (String[] how : new String[][] {
            {"--data-binary", "@" + sent}, {"-H", "Transfer-Encoding: chunked", "-T", sent.toString()}
        }) {
            List<String> options = new ArrayList<>(List.of(how));
            options.addAll(List.of("-o", received.toString()));
            assertThat(curl(listener, url("/echo"), options.toArray(String[]::new))
                            .output())
                    .isEqualTo(" 200");
            assertThat(Files.readAllBytes(received)).isEqualTo(body);
        }
    }

    @Test
    void theDestinationSeesWhatTheClientWroteAndNothingOfTheClient() throws Exception {
        curl(
                "plain",
                url("/a//b/../c?q=%7E"),
                "--path-as-is",
                "--proxy-header",
                "Proxy-Authorization: Basic c2VjcmV0",
                "-H",
                "X-Custom: 1");
        List<Head> requests = origin.requests("/a//b/../c");
        assertThat(requests).hasSize(1);
        Head head = requests.get(0);
        assertThat(head.target()).isEqualTo("/a//b/../c?q=%7E");
        assertThat(head.get("host")).contains("localhost:" + origin.port());
        assertThat(head.get("x-custom")).contains("1");
        assertThat(head.get("via").orElse("")).matches("1\\.1 gateway-[0-9a-f]{12}");
        assertThat(head.fields().stream().map(field -> field.getKey().toLowerCase(Locale.ROOT)))
                .noneMatch(name -> name.startsWith("x-forwarded") || name.startsWith("proxy-"))
                .doesNotContain("forwarded", "x-request-id");
    }

    @Test
    void whatIsOursIsServedAsOurs() throws Exception {
        assertThat(curl("plain", "http://shop.test/").output()).isEqualTo("ours 200");
        Head head = own.requests("/").get(0);
        assertThat(head.get("x-forwarded-for")).isPresent();
    }

    @Test
    void theRulesOfTunnelsHold() throws Exception {
        Tools.Result host = curl("plain", "http://elsewhere.test:" + origin.port() + "/");
        assertThat(host.output()).contains("policy_host").endsWith(" 403");
        Tools.Result port = curl("plain", "http://localhost:" + own.port() + "/");
        assertThat(port.output()).contains("policy_port").endsWith(" 403");
    }

    /** Sends a request of one line, and returns the answer. */
    private static String ask(String line) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", rig.port("plain"))) {
            socket.setSoTimeout(20_000);
            String head = line + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    /** RFC 9112, section 3.2.4. */
    @Test
    void optionsOfAWholeServerGoToTheServer() throws Exception {
        assertThat(ask("OPTIONS http://localhost:" + origin.port())).startsWith("HTTP/1.1 200 ");
        List<Head> requests = origin.requests("*");
        assertThat(requests).hasSize(1);
        assertThat(requests.get(0).get("host")).contains("localhost:" + origin.port());
    }

    @ParameterizedTest
    @CsvSource({
        "GET https://elsewhere.test/, '501 Not Implemented: use CONNECT for https://'",
        "GET ws://elsewhere.test/, '400 Bad Request: use CONNECT for ws:// and wss://'",
        "GET wss://elsewhere.test/, '400 Bad Request: use CONNECT for ws:// and wss://'",
        "GET ftp://elsewhere.test/, '400 Bad Request: only http:// and CONNECT are offered'",
        "GET /, '404 Not Found: this is a proxy for http:// and CONNECT'",
        "GET http://elsewhere.test/, '403 Forbidden by gateway: policy_port'",
        "GET http://elsewhere.test:%d/, '403 Forbidden by gateway: policy_host'",
        "CONNECT elsewhere.test:443, '403 Forbidden by gateway: policy_port'",
        "CONNECT elsewhere.test:%d, '403 Forbidden by gateway: policy_host'",
    })
    void whatIsRefusedSaysWhatToUse(String line, String status) throws Exception {
        assertThat(ask(line.formatted(origin.port()))).startsWith("HTTP/1.1 " + status + "\r\n");
    }

    @Test
    void aRequestToTheGatewayItselfIsForwardedNowhere() throws Exception {
        Tools.Result result = Tools.run(
                Tools.find("curl"),
                "-sS",
                "--noproxy",
                "*",
                "-H",
                "Host: localhost:" + origin.port(),
                "-w",
                " %{http_code}",
                "http://localhost:" + rig.port("plain") + "/");
        assertThat(result.output()).contains("no_route").endsWith(" 404");
    }
}
