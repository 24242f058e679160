package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.Gateway;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The metrics tell how many connections there were and are, each counted once, and what they carried. */
@Timeout(60)
@SuppressWarnings({"NullAway.Init", "StringConcatToTextBlock"}) // each test's start sets fields; line ends matter
class ConnectionCountsTest {
    private static final String UPGRADE = "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade, HTTP2-Settings\r\n"
            + "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n";

    @TempDir
    Path directory;

    private AcceptingServer origin;
    private Gateway gateway;

    @BeforeEach
    void start() throws Exception {
        origin = new AcceptingServer();
        String yaml =
                """
                listeners:
                  - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP, h2cUpgrade: true}
                  - {name: small, address: 127.0.0.1, port: 0, protocol: HTTP, limits: {maxConnections: 1}}
                  - name: secure
                    address: 127.0.0.1
                    port: 0
                    protocol: HTTPS
                    tls: {selfSigned: true, selfSignedDirectory: "%s"}
                routes:
                  - rules: [{backendRefs: [{name: app}]}]
                upstreams:
                  - {name: app, endpoints: [{host: 127.0.0.1, port: %d}]}
                workers: 1
                accessLog: {format: off}
                """
                        .formatted(directory, origin.port());
        LoadResult result = ConfigLoader.parse(yaml);
        assertThat(result.problems()).isEmpty();
        gateway = Gateway.start(((LoadResult.Valid) result).config());
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
        origin.close();
    }

    private Socket connect(String listener) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port(listener));
        socket.setSoTimeout(ListenerRig.PATIENCE_MILLIS);
        return socket;
    }

    /** Sums a metric over all its series with these labels, given as they are written. */
    private double metric(String name, String... labels) {
        double sum = 0;
        for (String line : gateway.metrics().metricsText().split("\n")) {
            if (line.startsWith(name + "{") && Arrays.stream(labels).allMatch(line::contains)) {
                sum += Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
            }
        }
        return sum;
    }

    private void await(double wanted, String name, String... labels) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ListenerRig.PATIENCE_MILLIS);
        for (double now = metric(name, labels); now != wanted; now = metric(name, labels)) {
            assertThat(System.nanoTime())
                    .as("%s%s is %s, not %s", name, Arrays.toString(labels), now, wanted)
                    .isLessThan(deadline);
            LockSupport.parkNanos(5_000_000);
        }
    }

    private void assertDownstream(String listener, String protocol, boolean tls) {
        String[] all = {"listener=\"" + listener + "\""};
        String[] mine = {all[0], "protocol=\"" + protocol + "\"", "tls=\"" + tls + "\""};
        await(0, "gateway_downstream_connections_active", all);
        assertThat(metric("gateway_downstream_connections_total", all)).isEqualTo(1);
        assertThat(metric("gateway_downstream_connections_total", mine)).isEqualTo(1);
        assertThat(metric("gateway_downstream_received_bytes_total", all)).isPositive();
        assertThat(metric("gateway_downstream_sent_bytes_total", all)).isPositive();
    }

    @Test
    void http1IsCountedToTheByte() throws Exception {
        try (Socket socket = connect("web")) {
            String response = Clients.exchange(socket, "/");
            Clients.exchange(socket, "/");
            await(1, "gateway_downstream_connections_active", "listener=\"web\"", "protocol=\"http1\"");
            assertThat(metric("gateway_downstream_received_bytes_total", "listener=\"web\""))
                    .isEqualTo(2 * Clients.get("/").length());
            assertThat(metric("gateway_downstream_sent_bytes_total", "listener=\"web\""))
                    .isEqualTo(2 * response.length());
        }
        assertDownstream("web", "http1", false);
    }

    @Test
    void http2WithPriorKnowledgeIsCountedOnce() throws Exception {
        try (Socket socket = connect("web")) {
            Clients.preface(socket);
            Clients.h2Get(socket, 1);
            Clients.frames(socket, Clients.DATA);
        }
        assertDownstream("web", "h2", false);
    }

    @Test
    void anUpgradedConnectionIsCountedOnceAsWhatItBeganWith() throws Exception {
        try (Socket socket = connect("web")) {
            Clients.send(socket, UPGRADE);
            assertThat(Clients.head(socket.getInputStream())).startsWith("HTTP/1.1 101 ");
            Clients.preface(socket);
            assertThat(Clients.frames(socket, Clients.DATA)).isEqualTo("hello");
            await(1, "gateway_downstream_connections_active", "listener=\"web\"");
        }
        assertDownstream("web", "http1", false);
    }

    @Test
    void tlsIsCountedByWhatAlpnSettledOn() throws Exception {
        try (SSLSocket socket = Clients.tls(connect("secure"), directory, "h2")) {
            Clients.preface(socket);
            Clients.h2Get(socket, 1);
            Clients.frames(socket, Clients.DATA);
        }
        assertDownstream("secure", "h2", true);
    }

    @Test
    void http1OverTlsIsCountedOnce() throws Exception {
        try (SSLSocket socket = Clients.tls(connect("secure"), directory, "http/1.1")) {
            assertThat(Clients.exchange(socket, "/")).endsWith("hello");
        }
        assertDownstream("secure", "http1", true);
    }

    @Test
    void aFailedHandshakeIsNoConnectionButIsCounted() throws Exception {
        try (Socket socket = connect("secure")) {
            Clients.send(socket, Clients.get("/"));
            String said = Clients.rest(socket);
            await(1, "gateway_downstream_handshakes_failed_total", "listener=\"secure\"");
            // What came is counted after all else that its coming made happen.
            await(Clients.get("/").length(), "gateway_downstream_received_bytes_total", "listener=\"secure\"");
            await(said.length(), "gateway_downstream_sent_bytes_total", "listener=\"secure\"");
        }
        assertThat(metric("gateway_downstream_connections_total", "listener=\"secure\""))
                .isZero();
        assertThat(metric("gateway_downstream_connections_active", "listener=\"secure\""))
                .isZero();
    }

    @Test
    void aRefusedConnectionIsCountedAsRefusedOnly() throws Exception {
        try (Socket first = connect("small")) {
            Clients.exchange(first, "/");
            try (Socket second = connect("small")) {
                assertThat(Clients.rest(second)).isEmpty();
            }
            await(1, "gateway_downstream_connections_refused_total", "listener=\"small\"");
            assertThat(metric("gateway_downstream_connections_active", "listener=\"small\""))
                    .isEqualTo(1);
        }
        assertDownstream("small", "http1", false);
    }

    @Test
    void upstreamConnectionsAndTheirBytesAreCounted() throws Exception {
        try (Socket socket = connect("web")) {
            Clients.exchange(socket, "/");
            Clients.exchange(socket, "/");
        }
        await(1, "gateway_upstream_connections_active", "upstream=\"app\"");
        assertThat(metric("gateway_upstream_connections_total", "upstream=\"app\""))
                .isEqualTo(1);
        assertThat(metric("gateway_upstream_received_bytes_total", "upstream=\"app\""))
                .isEqualTo(2 * AcceptingServer.RESPONSE.length());
        assertThat(metric("gateway_upstream_sent_bytes_total", "upstream=\"app\""))
                .isEqualTo((double) origin.received());

        origin.closeConnections();
        await(0, "gateway_upstream_connections_active", "upstream=\"app\"");
        assertThat(metric("gateway_upstream_connection_closed_total", "cause=\"endpoint\"", "upstream=\"app\""))
                .isEqualTo(1);
        try (Socket socket = connect("web")) {
            Clients.exchange(socket, "/");
        }
        await(1, "gateway_upstream_connections_active", "upstream=\"app\"");
        assertThat(metric("gateway_upstream_connections_total", "upstream=\"app\""))
                .isEqualTo(2);
    }

    /** Answers each request, which must have no body, and counts what came. */
    private static final class AcceptingServer implements AutoCloseable {
        static final String RESPONSE = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

        private final ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        private final List<Socket> connections = new ArrayList<>();
        private long received;

        AcceptingServer() throws IOException {
            new Thread(this::accept, "origin").start();
        }

        int port() {
            return server.getLocalPort();
        }

        synchronized long received() {
            return received;
        }

        private void accept() {
            try {
                while (true) {
                    Socket socket = server.accept();
                    synchronized (this) {
                        connections.add(socket);
                    }
                    new Thread(() -> serve(socket), "origin connection").start();
                }
            } catch (IOException e) {
                assertThat(server.isClosed()).isTrue();
            }
        }

        private void serve(Socket socket) {
            try {
                while (true) {
                    int length = Clients.head(socket.getInputStream()).length();
                    synchronized (this) {
                        received += length;
                    }
                    socket.getOutputStream().write(RESPONSE.getBytes(StandardCharsets.US_ASCII));
                }
            } catch (IOException | AssertionError e) {
                // The connection has ended, by either side.
            }
        }

        synchronized void closeConnections() throws IOException {
            for (Socket each : connections) {
                each.close();
            }
        }

        @Override
        public void close() throws IOException {
            server.close();
            closeConnections();
        }
    }
}
