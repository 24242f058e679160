package dev.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import dev.gateway.Gateway;
import dev.gateway.GatewayOptions;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.files.StartException;
import dev.gateway.runtime.process.ProcessEnvironment;
import dev.gateway.runtime.process.Systemd;
import dev.gateway.runtime.process.log.Logging;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** A gateway with something of everything, for tests of what is shown of it: routes, tunnels, TLS, secrets. */
final class AdminRig implements AutoCloseable {
    /** What no page may show. */
    static final String SECRET = "planted-secret-9f2c";

    private static final int PATIENCE_MILLIS = 20_000;
    private static final String YAML =
            """
            listeners:
              - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP}
              - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
              - {name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}
            routes:
              - name: internal
                parentRefs: [{name: web}]
                rules:
                  - matches: [{path: {type: PathPrefix, value: /internal}, headers: [{name: authorization, value: "${TOKEN}"}]}]
                    filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-api-key, value: "${TOKEN}"}]}}]
                    backendRefs: [{name: app}]
              - name: app
                parentRefs: [{name: web}, {name: secure}]
                hostnames: ["localhost", "127.0.0.1"]
                rules: [{backendRefs: [{name: app}]}]
              - name: chat
                parentRefs: [{name: web}]
                rules:
                  - matches: [{path: {type: Exact, value: /chat}}]
                    backendRefs: [{name: chat}]
                    upgrades: [websocket]
            upstreams:
              - {name: chat, endpoints: [{file: chat.json}]}
              - name: app
                loadBalancer: RoundRobin
                endpoints: [{host: 127.0.0.1, port: %d}, {host: 127.0.0.1, port: %d}]
                %s
            connect:
              - name: out
                parentRefs: [{name: egress}]
                allowedPorts: [1-65535]
                allow: ["127.0.0.1"]
                trustedDestinations: ["127.0.0.1"]
                auth: {basic: {usersFile: users}}
            admin: {address: 127.0.0.1, port: 0%s}
            accessLog: {format: off}
            workers: 2
            %s
            """;

    final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    final HttpServer one = origin("one");
    final HttpServer two = origin("two");
    final ServerSocket bytes = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    final Gateway gateway;
    private final Path directory;
    private final String admin;

    AdminRig(Path directory, String admin) throws Exception {
        this.directory = directory;
        this.admin = admin;
        // The hash of SECRET.
        Files.writeString(directory.resolve("users"), "alice:$apr1$abcdefgh$Ae.mbcuD9xZh7WW/nO9Ww/\n");
        Files.writeString(
                directory.resolve("chat.json"),
                "[{\"host\": \"127.0.0.1\", \"port\": " + bytes.getLocalPort() + "}]\n");
        gateway = Gateway.start(
                config("", ""),
                GatewayOptions.defaults()
                        .withEnvironment(new ProcessEnvironment(Systemd.NONE, System.out, Logging.own())));
    }

    private GatewayConfig config(String more, String ofUpstream) {
        String yaml =
                YAML.formatted(one.getAddress().getPort(), two.getAddress().getPort(), ofUpstream, admin, more);
        LoadResult result = ConfigLoader.parse(
                "gateway.yaml", yaml.getBytes(StandardCharsets.UTF_8), directory, Map.of("TOKEN", SECRET));
        assertThat(result).as("%s", result.problems()).isInstanceOf(LoadResult.Valid.class);
        return ((LoadResult.Valid) result).config();
    }

    void reload(String more) throws StartException {
        reload(more, "");
    }

    /** Lets a configuration take over that says more, and more of the upstream. */
    void reload(String more, String ofUpstream) throws StartException {
        gateway.reload(config(more, ofUpstream));
    }

    private static HttpServer origin(String name) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        byte[] body = name.getBytes(StandardCharsets.US_ASCII);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        return server;
    }

    HttpRequest.Builder to(String listener, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + gateway.port(listener) + path))
                .timeout(Duration.ofMillis(PATIENCE_MILLIS));
    }

    HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.build(), BodyHandlers.ofString());
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(to("admin", path));
    }

    JsonNode json(String path) throws IOException, InterruptedException {
        HttpResponse<String> response = get(path);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return new ObjectMapper().readTree(response.body());
    }

    HttpResponse<String> post(String path) throws IOException, InterruptedException {
        return send(to("admin", path).header("X-Requested-By", "a test").POST(BodyPublishers.noBody()));
    }

    String fetch() throws IOException, InterruptedException {
        HttpResponse<String> response = send(to("web", "/"));
        return response.statusCode() + " " + (response.statusCode() == 200 ? response.body() : "");
    }

    /** Opens a connection to a listener. */
    Socket connect(String listener) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port(listener));
        socket.setSoTimeout(PATIENCE_MILLIS);
        return socket;
    }

    static String head(Socket socket) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int c = socket.getInputStream().read();
            assertThat(c).as("what follows: %s", head).isNotNegative();
            head.append((char) c);
        }
        return head.toString();
    }

    static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public void close() throws IOException {
        gateway.close();
        one.stop(0);
        two.stop(0);
        bytes.close();
    }
}
