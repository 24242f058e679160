package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.Gateway;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.files.StartException;
import dev.gateway.testing.HeldPort;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a gateway does when another configuration takes over. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class ReloadTest {
    private static final int PATIENCE_MILLIS = 20_000;

    @TempDir
    Path directory;

    private final List<HeldPort> held = new ArrayList<>();
    private @Nullable Gateway gateway;

    @AfterEach
    void stop() throws IOException {
        if (gateway != null) {
            gateway.close();
        }
        for (HeldPort port : held) {
            port.close();
        }
    }

    private GatewayConfig config(String yaml) {
        return config(yaml, "{format: off}");
    }

    private GatewayConfig config(String yaml, String accessLog) {
        byte[] text = (yaml + "accessLog: " + accessLog + "\nworkers: 2\n").getBytes(StandardCharsets.UTF_8);
        LoadResult result = ConfigLoader.parse("gateway.yaml", text, directory, System.getenv());
        assertThat(result).as("%s", result.problems()).isInstanceOf(LoadResult.Valid.class);
        return ((LoadResult.Valid) result).config();
    }

    private Gateway start(String yaml) throws StartException {
        Gateway started = Gateway.start(config(yaml));
        gateway = started;
        return started;
    }

    /** A listener that answers every request with a text. */
    private static String answering(String text, String... listeners) {
        StringBuilder yaml = new StringBuilder("listeners:\n");
        for (String listener : listeners) {
            yaml.append("  - {protocol: HTTP, address: 127.0.0.1, ")
                    .append(listener)
                    .append("}\n");
        }
        return yaml.append(
                        "routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {contentType: text/plain,"
                                + " body: " + text + "}}]}]}]\n")
                .toString();
    }

    private static Socket connect(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(PATIENCE_MILLIS);
        return socket;
    }

    private static String get(Socket socket) throws IOException {
        socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        InputStream in = socket.getInputStream();
        StringBuilder text = new StringBuilder();
        while (text.indexOf("\r\n\r\n") < 0) {
            int c = in.read();
            assertThat(c).as("the next byte after: %s", text).isGreaterThanOrEqualTo(0);
            text.append((char) c);
        }
        String length = text.toString().replaceAll("(?is).*Content-Length: (\\d+).*", "$1");
        return new String(in.readNBytes(Integer.parseInt(length)), StandardCharsets.UTF_8);
    }

    private static String get(int port) throws IOException {
        try (Socket socket = connect(port)) {
            return get(socket);
        }
    }

    private static void assertClosed(Socket socket) throws IOException {
        try {
            assertThat(socket.getInputStream().read()).isNegative();
        } catch (SocketException e) {
            assertThat(e).hasMessageContaining("reset");
        }
    }

    /** Returns a port for a listener, which nobody else gets before the test is over. */
    private int port() throws IOException {
        HeldPort port = new HeldPort();
        held.add(port);
        return port.number();
    }

    private static void awaitMetric(Gateway gateway, String line) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
        while (gateway.metrics().metricsText().lines().noneMatch(line::equals)) {
            assertThat(System.nanoTime()).as(line).isLessThan(deadline);
            LockSupport.parkNanos(5_000_000);
        }
    }

    @Test
    void theNextRequestOnAConnectionIsServedByTheNewConfiguration() throws Exception {
        Gateway running = start(answering("one", "name: web, port: 0"));
        int port = running.port("web");
        try (Socket socket = connect(port)) {
            assertThat(get(socket)).isEqualTo("one");
            running.reload(config(answering("two", "name: web, port: 0")));
            assertThat(get(socket)).isEqualTo("two");
        }
        assertThat(running.port("web")).isEqualTo(port);
        awaitMetric(running, "gateway_config_generation 2.0");
        awaitMetric(running, "gateway_config_generations_draining 0.0");
    }

    @Test
    void whatAnEarlierGenerationHoldsIsToldUntilItsLastExchangeEnds() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String yaml =
                    """
                    listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                    routes: [{rules: [{backendRefs: [{name: app}]}]}]
                    upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                    drain: {timeout: 0s}
                    """
                            .formatted(silent.getLocalPort());
            Gateway running = start(yaml);
            try (Socket client = connect(running.port("web"))) {
                client.getOutputStream().write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                try (Socket request = silent.accept()) {
                    assertThat(request.getInputStream().read()).isEqualTo('G');
                    running.reload(config(yaml.replace("rules: [", "rules: [{backendRefs: [{name: app}]}, ")));
                    awaitMetric(running, "gateway_config_generations_held_bytes 8192.0"); // itself, and one rule
                }
            }
            awaitMetric(running, "gateway_config_generations_held_bytes 0.0");
        }
    }

    @Test
    void aListenerCanBeAdded() throws Exception {
        Gateway running = start(answering("one", "name: web, port: 0"));
        int port = running.port("web");
        // First in the file: the positions of the others change, what they are does not.
        running.reload(config(answering("two", "name: more, port: 0", "name: web, port: 0")));
        assertThat(running.port("web")).isEqualTo(port);
        assertThat(get(running.port("more"))).isEqualTo("two");
        assertThat(get(port)).isEqualTo("two");
        assertThat(running.urls().keySet()).containsExactly("more", "web");
    }

    @Test
    void aRemovedListenerIsClosedAndItsConnectionsDrain() throws Exception {
        Gateway running = start(answering("one", "name: web, port: 0", "name: more, port: 0"));
        int port = running.port("more");
        try (Socket idle = connect(port);
                Socket kept = connect(running.port("web"))) {
            get(idle);
            get(kept);
            running.reload(config(answering("two", "name: web, port: 0")));
            assertClosed(idle);
            assertThatThrownBy(() -> connect(port)).isInstanceOf(ConnectException.class);
            assertThat(get(kept)).isEqualTo("two");
        }
        awaitMetric(running, "gateway_config_generations_draining 0.0");
        assertThat(running.urls().keySet()).containsExactly("web");
    }

    /** The index of a listener that has gone is used again, and must not lead to what it had. */
    @Test
    void aListenerThatComesInTheirPlaceIsServedByItsOwnConfiguration() throws Exception {
        Gateway running = start(answering("one", "name: web, port: 0", "name: more, port: 0"));
        running.reload(config(answering("two", "name: web, port: 0")));
        awaitMetric(running, "gateway_config_generations_draining 0.0");
        running.reload(config(answering("three", "name: another, port: 0", "name: web, port: 0")));
        assertThat(get(running.port("another"))).isEqualTo("three");
        assertThat(get(running.port("web"))).isEqualTo("three");
    }

    @Test
    void aRemovedListenerServesAFirstRequestThatIsOnItsWay() throws Exception {
        Gateway running = start(answering("one", "name: web, port: 0", "name: more, port: 0"));
        try (Socket fresh = connect(running.port("more"))) {
            while (running.activity().join().connections() == 0) {
                LockSupport.parkNanos(1_000_000);
            }
            running.reload(config(answering("two", "name: web, port: 0")));
            assertThat(get(fresh)).isEqualTo("one"); // the new configuration does not have this listener
            assertClosed(fresh);
        }
        awaitMetric(running, "gateway_config_generations_draining 0.0");
    }

    @Test
    void aListenerCanMoveToAnotherPort() throws Exception {
        int from = port();
        int to = port();
        Gateway running = start(answering("one", "name: web, port: " + from));
        try (Socket idle = connect(from)) {
            get(idle);
            running.reload(config(answering("two", "name: web, port: " + to)));
            assertThat(get(to)).isEqualTo("two");
            assertClosed(idle);
            assertThatThrownBy(() -> connect(from)).isInstanceOf(ConnectException.class);
        }
        running.reload(config(answering("three", "name: web, port: " + from)));
        assertThat(get(from)).isEqualTo("three");
    }

    @Test
    void aListenerCanGetAnotherName() throws Exception {
        int port = port();
        Gateway running = start(answering("one", "name: web, port: " + port));
        try (Socket idle = connect(port)) {
            get(idle);
            running.reload(config(answering("two", "name: http, port: " + port)));
            assertThat(get(port)).isEqualTo("two");
            assertThat(running.port("http")).isEqualTo(port);
            assertClosed(idle);
        }
        awaitMetric(running, "gateway_config_generations_draining 0.0");
    }

    @Test
    void listenersCanChangePlaces() throws Exception {
        int a = port();
        int b = port();
        String routes =
                """
                routes:
                  - parentRefs: [{name: one}]
                    rules: [{filters: [{type: DirectResponse, directResponse: {contentType: text/plain, body: one}}]}]
                  - parentRefs: [{name: two}]
                    rules: [{filters: [{type: DirectResponse, directResponse: {contentType: text/plain, body: two}}]}]
                """;
        String listeners =
                """
                listeners:
                  - {name: one, address: 127.0.0.1, port: %d, protocol: HTTP}
                  - {name: two, address: 127.0.0.1, port: %d, protocol: HTTP}
                """;
        Gateway running = start(listeners.formatted(a, b) + routes);
        assertThat(get(a)).isEqualTo("one");
        assertThat(get(b)).isEqualTo("two");
        running.reload(config(listeners.formatted(b, a) + routes));
        assertThat(get(a)).isEqualTo("two");
        assertThat(get(b)).isEqualTo("one");
        assertThat(running.port("one")).isEqualTo(b);
    }

    @Test
    void aPortThatIsTakenLeavesNoNewLogFile() throws Exception {
        Gateway running = start(answering("one", "name: web, port: 0"));
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            GatewayConfig next = config(
                    answering("two", "name: web, port: 0", "name: taken, port: " + taken.getLocalPort()),
                    "{path: access.log}");
            assertThatThrownBy(() -> running.reload(next))
                    .isInstanceOf(StartException.class)
                    .hasMessageContaining("listener taken cannot be bound");
        }
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void aPortThatIsTakenChangesNothing() throws Exception {
        Gateway running = start(answering("one", "name: web, port: 0", "name: old, port: 0"));
        int port = running.port("web");
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket kept = connect(running.port("old"))) {
            get(kept);
            GatewayConfig next = config(answering(
                    "two", "name: web, port: 0", "name: free, port: 0", "name: taken, port: " + taken.getLocalPort()));
            assertThatThrownBy(() -> running.reload(next))
                    .isInstanceOf(StartException.class)
                    .hasMessageStartingWith(
                            "gateway.yaml:4:5: listener taken cannot be bound to 127.0.0.1:" + taken.getLocalPort());
            assertThat(get(kept)).isEqualTo("one");
        }
        assertThat(get(port)).isEqualTo("one");
        assertThat(running.urls().keySet()).containsExactly("web", "old");
        awaitMetric(running, "gateway_config_generation 1.0");
    }

    @Test
    void aCertificateThatCannotBeReadChangesNothing() throws Exception {
        String secure =
                """
                listeners:
                  - {name: web, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                """;
        Gateway running = start(answering("one", "name: web, port: 0"));
        GatewayConfig next = config(secure);
        Files.writeString(directory.resolve("tls"), "not a directory");
        assertThatThrownBy(() -> running.reload(next))
                .isInstanceOf(StartException.class)
                .hasMessageStartingWith("gateway.yaml:2:");
        assertThat(get(running.port("web"))).isEqualTo("one");
        Files.delete(directory.resolve("tls"));
        running.reload(next);
        assertThat(running.urls().get("web")).startsWith("https://");
    }

    @Test
    void theAdminListenerCanComeMoveAndGo() throws Exception {
        String web = answering("one", "name: web, port: 0");
        Gateway running = start(web);
        assertThat(running.adminUrl()).isNull();
        int first = port();
        running.reload(config(web + "admin: {port: " + first + "}\n"));
        assertThat(running.port("admin")).isEqualTo(first);
        try (Socket kept = connect(first)) {
            assertThat(get(kept)).contains("Gateway");
            running.reload(config(web + "admin: {port: " + first + "}\ndrain: {timeout: 1m}\n"));
            assertThat(get(kept)).contains("Gateway");
            int second = port();
            running.reload(config(web + "admin: {port: " + second + "}\n"));
            assertThat(get(second)).contains("Gateway");
            assertClosed(kept);
            running.reload(config(web));
            assertThatThrownBy(() -> connect(second)).isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void aGatewayThatHasStoppedTakesNoOtherConfiguration() throws Exception {
        Gateway running = start(answering("one", "name: web, port: 0"));
        running.close();
        assertThatThrownBy(() -> running.reload(config(answering("two", "name: web, port: 0"))))
                .isInstanceOf(StartException.class)
                .hasMessageContaining("stopping");
    }
}
