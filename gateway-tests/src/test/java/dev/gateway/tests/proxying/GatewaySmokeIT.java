package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.Gateway;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.files.StartException;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each way into a whole gateway, once: what must work before anything else is worth testing. */
@Tag("platform")
class GatewaySmokeIT {
    @TempDir
    private static Path directory;

    private Origin origin;
    private Rig gateway;

    @BeforeEach
    void start() throws IOException {
        origin = Origin.start().on("/hello", Behaviors.text("hello")).on("/echo", Behaviors.echo());
        gateway = Rig.start(
                """
                listeners:
                  - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP, h2cUpgrade: true}
                  - {name: plain, address: 127.0.0.1, port: 0, protocol: HTTP, reusePort: true}
                  - name: secure
                    address: 127.0.0.1
                    port: 0
                    protocol: HTTPS
                    tls: {selfSigned: true, selfSignedDirectory: %1$s/tls}
                  - {name: file, unix: %1$s/gateway.sock, protocol: HTTP}
                  - name: proxied
                    address: 127.0.0.1
                    port: 0
                    protocol: HTTP
                    proxyProtocol: {trustedCidrs: [127.0.0.0/8]}
                routes:
                  - rules:
                      - matches: [{path: {type: PathPrefix, value: /moved}}]
                        filters: [{type: RequestRedirect, requestRedirect: {hostname: example.com, statusCode: 301}}]
                      - backendRefs: [{name: app}]
                upstreams:
                  - {name: app, endpoints: [{host: 127.0.0.1, port: %2$d}]}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                """
                        .formatted(directory, origin.port()));
    }

    @AfterEach
    void stop() throws IOException {
        gateway.close();
        origin.close();
        assertThat(directory.resolve("gateway.sock")).doesNotExist();
    }

    private static HttpResponse<String> get(URI uri, Version version) throws IOException, InterruptedException {
        return HttpClient.newBuilder()
                .version(version)
                .build()
                .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> admin(String path) throws IOException, InterruptedException {
        return gateway.adminResponse(path);
    }

    private static String curl(String... arguments) throws IOException, InterruptedException {
        String[] command = new String[arguments.length + 6];
        command[0] = Tools.find("curl");
        command[1] = "--silent";
        command[2] = "--show-error";
        command[3] = "--insecure";
        command[4] = "--write-out";
        command[5] = " HTTP/%{http_version} %{http_code}";
        System.arraycopy(arguments, 0, command, 6, arguments.length);
        return Tools.run(command).output();
    }

    @Test
    void aRequestInHttp1IsAnswered() throws Exception {
        HttpResponse<String> response = get(gateway.uri("web", "/hello"), Version.HTTP_1_1);
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.version()).isEqualTo(Version.HTTP_1_1);
        assertThat(response.body()).isEqualTo("hello");
    }

    @Test
    void aListenerWithASocketOnEachLoopAnswers() throws Exception {
        for (int i = 0; i < 8; i++) {
            assertThat(get(gateway.uri("plain", "/hello"), Version.HTTP_1_1).body())
                    .isEqualTo("hello");
        }
    }

    @Test
    void theJdkClientUpgradesToHttp2InCleartext() throws Exception {
        HttpResponse<String> response = get(gateway.uri("web", "/hello"), Version.HTTP_2);
        assertThat(response.version()).isEqualTo(Version.HTTP_2);
        assertThat(response.body()).isEqualTo("hello");
    }

    @Test
    void withoutTheOptionAnUpgradeIsIgnored() throws Exception {
        HttpResponse<String> response = get(gateway.uri("plain", "/hello"), Version.HTTP_2);
        assertThat(response.version()).isEqualTo(Version.HTTP_1_1);
        assertThat(response.body()).isEqualTo("hello");
    }

    @Test
    void curlSpeaksHttp2WithPriorKnowledge() throws Exception {
        assertThat(curl("--http2-prior-knowledge", gateway.uri("web", "/hello").toString()))
                .isEqualTo("hello HTTP/2 200");
    }

    @Test
    void curlAgreesOnHttp2ByAlpn() throws Exception {
        assertThat(curl("--http2", gateway.uri("secure", "/hello").toString())).isEqualTo("hello HTTP/2 200");
    }

    @Test
    void curlSpeaksHttp1OverTls() throws Exception {
        assertThat(curl("--http1.1", gateway.uri("secure", "/hello").toString()))
                .isEqualTo("hello HTTP/1.1 200");
        assertThat(curl("--no-alpn", gateway.uri("secure", "/hello").toString()))
                .isEqualTo("hello HTTP/1.1 200");
    }

    @Test
    void curlReachesASocketFile() throws Exception {
        assertThat(curl("--unix-socket", directory.resolve("gateway.sock").toString(), "http://localhost/hello"))
                .isEqualTo("hello HTTP/1.1 200");
    }

    @Test
    void aProxyTellsWhoTheClientIs() throws Exception {
        assertThat(curl("--haproxy-protocol", gateway.uri("proxied", "/hello").toString()))
                .isEqualTo("hello HTTP/1.1 200");
        assertThat(curl(gateway.uri("proxied", "/hello").toString())).doesNotContain("HTTP/1.1 200");
        origin.forget();
        try (Http1Peer proxy = Http1Peer.connect(gateway.port("proxied"))) {
            proxy.raw("PROXY TCP4 203.0.113.9 127.0.0.1 40000 80\r\n");
            PeerStream stream = proxy.open();
            stream.send(Head.request("GET", "/hello"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
        }
        assertThat(origin.requests("/hello").get(0).all("x-forwarded-for")).containsExactly("203.0.113.9");
    }

    @Test
    void httpOnATlsPortIsToldSo() throws Exception {
        String answer = curl("http://localhost:" + gateway.port("secure") + "/hello");
        assertThat(answer).contains("speaks TLS").endsWith("HTTP/1.1 400");
        assertThat(admin("/metrics").body())
                .containsPattern("gateway_protocol_violations_total\\{.*cleartext_on_tls.*} 1");
    }

    @Test
    void aBodyComesBackWhole() throws Exception {
        String body = "0123456789abcdef".repeat(1 << 16);
        Path file = Files.writeString(directory.resolve("body"), body);
        String echo = gateway.uri("web", "/echo").toString();
        for (String version : new String[] {"--http1.1", "--http2-prior-knowledge"}) {
            Path received = directory.resolve("received");
            curl(version, "--data-binary", "@" + file, "--output", received.toString(), echo);
            assertThat(Files.readString(received)).isEqualTo(body);
        }
        HttpResponse<String> response = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(gateway.uri("web", "/echo"))
                                .POST(BodyPublishers.ofString(body, StandardCharsets.US_ASCII))
                                .build(),
                        BodyHandlers.ofString());
        assertThat(response.body()).isEqualTo(body);
    }

    @Test
    void aFilterAnswers() throws Exception {
        HttpResponse<String> response = get(gateway.uri("web", "/moved/here"), Version.HTTP_1_1);
        assertThat(response.statusCode()).isEqualTo(301);
        assertThat(response.headers().firstValue("Location"))
                .hasValueSatisfying(location ->
                        assertThat(location).startsWith("http://example.com").endsWith("/moved/here"));
    }

    @Test
    void theAdminListenerTellsHowItIs() throws Exception {
        get(gateway.uri("web", "/hello"), Version.HTTP_1_1);
        assertThat(admin("/ready").statusCode()).isEqualTo(200);
        assertThat(admin("/healthz").body()).isEqualTo("ok\n");
        assertThat(admin("/startup").statusCode()).isEqualTo(200);
        assertThat(admin("/live").statusCode()).isEqualTo(200);
        assertThat(admin("/stats").body()).contains("requests total");
        assertThat(admin("/stats?format=json").body()).contains("\"requestsTotal\":1");
        assertThat(admin("/metrics").body())
                .contains("gateway_downstream_requests_total{")
                .contains("gateway_downstream_connections_total{");
        assertThat(admin("/").body()).contains("/metrics");
        assertThat(admin("/nothing").statusCode()).isEqualTo(404);
        assertThat(curl("--data", "x", "http://localhost:" + gateway.port("admin") + "/stats"))
                .endsWith("405");
    }

    @Test
    void aConnectionOfHttp2EndsWhenItsClientEndsIt() throws Exception {
        curl("--http2-prior-knowledge", gateway.uri("web", "/hello").toString());
        gateway.awaitNoConnection();
        assertThat(admin("/metrics").body())
                .containsPattern(
                        "gateway_downstream_connections_total\\{listener=\"web\",protocol=\"h2\",tls=\"false\"} 1")
                .containsPattern(
                        "gateway_downstream_connections_active\\{listener=\"web\",protocol=\"h2\",tls=\"false\"} 0");
    }

    @Test
    void aPortInUseStopsTheStartAndIsNamed() {
        LoadResult second = ConfigLoader.parse(
                """
                listeners:
                  - {name: free, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: taken, address: 127.0.0.1, port: %d, protocol: HTTP}
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 1}]}]
                """
                        .formatted(gateway.port("web")));
        assertThat(second).isInstanceOf(LoadResult.Valid.class);
        assertThatThrownBy(() -> Gateway.start(((LoadResult.Valid) second).config()))
                .isInstanceOf(StartException.class)
                .hasMessageContaining("taken")
                .hasMessageContaining("127.0.0.1:" + gateway.port("web"))
                .hasMessageContaining("in use");
    }
}
