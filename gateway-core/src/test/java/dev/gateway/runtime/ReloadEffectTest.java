package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.Gateway;
import dev.gateway.GatewayOptions;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.config.yaml.ConfigSchema;
import dev.gateway.testing.HeldPort;
import dev.gateway.testing.LoggedLines;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A reload does with keys of each kind what the schema says of them, and with it the reference of keys. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class ReloadEffectTest {
    private static final String ANSWER =
            "routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {body: hello}}]}]}]\n";

    @TempDir
    Path directory;

    private @Nullable Gateway gateway;

    @AfterEach
    void stop() {
        if (gateway != null) {
            gateway.close();
        }
    }

    /** Returns what the schema says of a key; what a key does not have it has from the object around it. */
    private static String effect(String... path) throws IOException {
        JsonNode root = new ObjectMapper().readTree(ConfigSchema.json());
        JsonNode object = root;
        String effect = "atOnce";
        for (String key : path) {
            JsonNode property = object.path("properties").path(key);
            assertThat(property.isMissingNode()).as(key).isFalse();
            effect = property.path("x-reload").asText(effect);
            JsonNode value = property.has("items") ? property.get("items") : property;
            object = root.at(value.path("$ref").asText("#").substring(1));
        }
        return effect;
    }

    private GatewayConfig config(String yaml) {
        byte[] text = (yaml + "accessLog: {format: off}\n").getBytes(StandardCharsets.UTF_8);
        LoadResult result = ConfigLoader.parse("gateway.yaml", text, directory, System.getenv());
        assertThat(result).as("%s", result.problems()).isInstanceOf(LoadResult.Valid.class);
        return ((LoadResult.Valid) result).config();
    }

    private static String listener(String settings) {
        return "listeners: [{name: web, protocol: HTTP, address: 127.0.0.1, " + settings + "}]\n";
    }

    private Gateway start(String yaml) throws Exception {
        Gateway started = Gateway.start(config(yaml));
        gateway = started;
        return started;
    }

    private static Socket connect(int port) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), port);
    }

    /** Sends a request, and returns the status of its answer. */
    private static int status(Socket socket, String headersAndBody) throws IOException {
        String request = "POST / HTTP/1.1\r\nHost: localhost\r\n" + headersAndBody;
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int c = socket.getInputStream().read();
            assertThat(c).as("the next byte after: %s", head).isGreaterThanOrEqualTo(0);
            head.append((char) c);
        }
        String length = head.toString().replaceAll("(?is).*Content-Length: (\\d+).*", "$1");
        socket.getInputStream().readNBytes(Integer.parseInt(length));
        return Integer.parseInt(head.substring(9, 12));
    }

    private static int status(int port, String headersAndBody) throws IOException {
        try (Socket socket = connect(port)) {
            return status(socket, headersAndBody);
        }
    }

    @Test
    void anAddressIsBoundInPlaceOfTheFormerOne() throws Exception {
        assertThat(effect("listeners", "port")).isEqualTo("rebind");
        assertThat(effect("listeners", "address")).isEqualTo("rebind");
        try (HeldPort one = new HeldPort();
                HeldPort two = new HeldPort()) {
            Gateway running = start(listener("port: " + one.number()) + ANSWER);
            running.reload(config(listener("port: " + two.number()) + ANSWER));
            assertThat(status(two.number(), "\r\n")).isEqualTo(200);
            assertThatThrownBy(() -> status(one.number(), "\r\n")).isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void aLimitOfConnectionsHoldsForNewOnes() throws Exception {
        assertThat(effect("listeners", "limits", "maxHeaders")).isEqualTo("newConnections");
        assertThat(effect("listeners", "timeouts", "idle")).isEqualTo("newConnections");
        Gateway running = start(listener("port: 0") + ANSWER);
        try (Socket open = connect(running.port("web"))) {
            assertThat(status(open, "A: b\r\nC: d\r\n\r\n")).isEqualTo(200);
            running.reload(config(listener("port: 0, limits: {maxHeaders: 2}") + ANSWER));
            assertThat(status(open, "A: b\r\nC: d\r\n\r\n")).isEqualTo(200);
        }
        assertThat(status(running.port("web"), "A: b\r\nC: d\r\n\r\n")).isEqualTo(431);
    }

    @Test
    void tlsHoldsForNewConnections() throws Exception {
        assertThat(effect("listeners", "tls", "maxVersion")).isEqualTo("newConnections");
        String tls =
                "listeners: [{name: web, port: 0, protocol: HTTPS, tls: {selfSigned: true, alpn: [http/1.1]%s}}]\n";
        Gateway running = start(tls.formatted("") + ANSWER);
        try (SSLSocket open = secured(running.port("web"))) {
            assertThat(status(open, "\r\n")).isEqualTo(200);
            assertThat(open.getSession().getProtocol()).isEqualTo("TLSv1.3");
            running.reload(config(tls.formatted(", maxVersion: TLSv1.2") + ANSWER));
            assertThat(status(open, "\r\n")).isEqualTo(200);
        }
        try (SSLSocket later = secured(running.port("web"))) {
            assertThat(status(later, "\r\n")).isEqualTo(200);
            assertThat(later.getSession().getProtocol()).isEqualTo("TLSv1.2");
        }
    }

    private static SSLSocket secured(int port) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new Anybody()}, null);
        return (SSLSocket) context.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port);
    }

    private static final class Anybody implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }

    @Test
    void aLimitOfRequestsHoldsAtOnce() throws Exception {
        assertThat(effect("listeners", "limits", "maxBody")).isEqualTo("atOnce");
        Gateway running = start(listener("port: 0") + ANSWER);
        try (Socket open = connect(running.port("web"))) {
            assertThat(status(open, "Content-Length: 4\r\n\r\nbody")).isEqualTo(200);
            running.reload(config(listener("port: 0, limits: {maxBody: 3}") + ANSWER));
            assertThat(status(open, "Content-Length: 4\r\n\r\nbody")).isEqualTo(413);
        }
    }

    @Test
    void aRouteHoldsAtOnce() throws Exception {
        assertThat(effect("routes", "rules", "filters")).isEqualTo("atOnce");
        Gateway running = start(listener("port: 0") + ANSWER);
        try (Socket open = connect(running.port("web"))) {
            assertThat(status(open, "\r\n")).isEqualTo(200);
            running.reload(config(listener("port: 0") + ANSWER.replace("body: hello", "statusCode: 503")));
            assertThat(status(open, "\r\n")).isEqualTo(503);
        }
    }

    @Test
    void anUpstreamThatChangesGetsNewConnections() throws Exception {
        assertThat(effect("upstreams", "timeouts", "responseHeaders")).isEqualTo("reconnect");
        assertThat(effect("upstreams", "endpoints", "weight")).isEqualTo("reconnect");
        try (Origin origin = new Origin()) {
            String app = "routes: [{rules: [{backendRefs: [{name: app}]}]}]\n"
                    + "upstreams: [{name: app, protocol: http1, endpoints: [{host: 127.0.0.1, port: " + origin.port()
                    + "}]%s}]\nworkers: 1\n";
            Gateway running = start(listener("port: 0") + app.formatted(""));
            int port = running.port("web");
            assertThat(status(port, "\r\n")).isEqualTo(200);
            running.reload(config(listener("port: 0, limits: {maxHeaders: 50}") + app.formatted("")));
            assertThat(status(port, "\r\n")).isEqualTo(200);
            assertThat(origin.connections()).as("the upstream is the same").isEqualTo(1);
            running.reload(config(listener("port: 0") + app.formatted(", timeouts: {responseHeaders: 9s}")));
            assertThat(status(port, "\r\n")).isEqualTo(200);
            assertThat(origin.connections()).isEqualTo(2);
        }
    }

    @Test
    void whatNeedsARestartIsNamed() throws Exception {
        String[][] keys = {
            {"workers"}, {"transport"}, {"resolver", "nameServers"}, {"listeners", "reusePort"}, {"admin", "reusePort"}
        };
        for (String[] key : keys) {
            assertThat(effect(key)).as(String.join(".", key)).isEqualTo("restart");
        }
        Path file = directory.resolve("gateway.yaml");
        Files.writeString(file, listener("port: 0") + ANSWER + "workers: 1\ntransport: nio\nadmin: {port: 0}\n");
        ConfigFile source = new ConfigFile(file);
        gateway = Gateway.start(
                ((LoadResult.Valid) source.load()).config(),
                GatewayOptions.defaults().withFile(source));
        Files.writeString(
                file,
                listener("port: 0, reusePort: true") + ANSWER + "workers: 2\ntransport: auto\n"
                        + "admin: {port: 0, reusePort: true}\nresolver: {nameServers: [192.0.2.53]}\n");
        assertThat(gateway.reload("a test").get().text().lines())
                .filteredOn(line -> line.contains(": warning: "))
                .allMatch(line -> line.endsWith(" has changed: the gateway keeps the former value until it restarts"))
                .extracting(line -> line.replaceAll(".*: warning: (.*) has changed.*", "$1"))
                .containsExactly(
                        "workers",
                        "transport",
                        "resolver",
                        "reusePort of the listener web",
                        "reusePort of the admin listener");
    }

    /** What the start has told already, such as that an admin listener is open to others, is no news at each reload. */
    @Test
    void theLogHasAWarningOfTheFileOnlyWhenItIsNew() throws Exception {
        String admin = "admin: {address: 0.0.0.0, port: 0}\n";
        Path file = directory.resolve("gateway.yaml");
        Files.writeString(file, listener("port: 0") + ANSWER + admin);
        ConfigFile source = new ConfigFile(file);
        gateway = Gateway.start(
                ((LoadResult.Valid) source.load()).config(),
                GatewayOptions.defaults().withFile(source));
        assertThat(warnings(listener("port: 0") + ANSWER + "\n" + admin))
                .as("on another line")
                .isEmpty();
        String one = "upstreams: [{name: one, endpoints: [{host: 127.0.0.1, port: 9}], tls: {verify: false}}]\n";
        assertThat(warnings(listener("port: 0") + ANSWER + admin + one))
                .hasSize(2)
                .allMatch(line -> line.contains("no route uses") || line.contains("verify: false"));
        assertThat(warnings(listener("port: 0") + ANSWER + admin + "workers: none\n"))
                .isEmpty();
        assertThat(warnings(listener("port: 0") + ANSWER + admin + one))
                .as("after an error")
                .isEmpty();
        String two = one.replace("name: one", "name: two")
                .replace("upstreams: [", "")
                .replace("]\n", "");
        assertThat(warnings(listener("port: 0") + ANSWER + admin + one.replace("}]\n", "}, " + two + "]\n")))
                .filteredOn(line -> line.contains("verify: false"))
                .as("the same of another upstream")
                .isNotEmpty();
    }

    /** Reloads with this file, whose warnings the answer has whether or not they are new; returns what the log warns of. */
    private List<String> warnings(String yaml) throws Exception {
        Files.writeString(directory.resolve("gateway.yaml"), yaml);
        try (LoggedLines log = LoggedLines.of(Reloads.class)) {
            String told = Objects.requireNonNull(gateway).reload("a test").get().text();
            assertThat(told.contains("no authentication")).isEqualTo(yaml.contains("0.0.0.0"));
            return log.warnings();
        }
    }

    /** A server of HTTP/1.1 that counts its connections and keeps them. */
    private static final class Origin implements AutoCloseable {
        private final ServerSocket server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        private final AtomicInteger connections = new AtomicInteger();

        Origin() throws IOException {
            Thread accepting = new Thread(this::accept, "origin");
            accepting.setDaemon(true);
            accepting.start();
        }

        int port() {
            return server.getLocalPort();
        }

        int connections() {
            return connections.get();
        }

        private void accept() {
            try {
                while (true) {
                    Socket socket = server.accept();
                    connections.incrementAndGet();
                    Thread serving = new Thread(() -> serve(socket), "origin-connection");
                    serving.setDaemon(true);
                    serving.start();
                }
            } catch (IOException e) {
                assertThat(server.isClosed()).as("%s", e).isTrue();
            }
        }

        private static void serve(Socket socket) {
            try (socket) {
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.isEmpty()) {
                        socket.getOutputStream()
                                .write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                                        .getBytes(StandardCharsets.US_ASCII));
                    }
                }
            } catch (IOException e) {
                assertThat(e).hasMessageContaining("reset"); // by the gateway, which ends
            }
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }
}
