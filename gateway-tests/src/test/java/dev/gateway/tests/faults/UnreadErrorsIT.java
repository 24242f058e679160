package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Standard error that nobody reads any more, as a log driver that hangs leaves it. */
@Tag("jar")
@Timeout(90)
@Tag("platform")
class UnreadErrorsIT {
    private static final String CONFIG =
            """
            listeners:
              - name: web
                address: 127.0.0.1
                port: 0
                protocol: HTTP
                timeouts: {requestHeaders: 500ms}
              - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true}}
            routes: [{rules: [{backendRefs: [{name: app}]}]}]
            upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
            admin: {address: 127.0.0.1, port: 0}
            accessLog: {format: off}
            """;

    /** A line of each is more than the pipe and the lines that may wait. */
    private static final int FAILED_HANDSHAKES = 6000;

    private static void failHandshakes(GatewayJar gateway, int count) throws Exception {
        ExecutorService clients = Executors.newFixedThreadPool(8);
        try {
            List<Callable<Object>> all = Collections.nCopies(count, () -> {
                failHandshake(gateway);
                return "failed";
            });
            for (Future<Object> each : clients.invokeAll(all)) {
                each.get();
            }
        } finally {
            clients.shutdownNow();
        }
    }

    private static void failHandshake(GatewayJar gateway) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port("secure"))) {
            socket.setSoTimeout(Peer.PATIENCE_MILLIS);
            socket.getOutputStream().write("no TLS\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            socket.getInputStream().readAllBytes(); // ends when the event loop has logged and closed it
        }
    }

    private static void get(GatewayJar gateway) throws IOException {
        try (Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
        }
    }

    private static void timersRun(GatewayJar gateway) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port("web"))) {
            socket.setSoTimeout(Peer.PATIENCE_MILLIS);
            socket.getOutputStream().write("GET / HT".getBytes(StandardCharsets.US_ASCII));
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                    .startsWith("HTTP/1.1 408 ");
        }
    }

    @Test
    void nothingWaitsForWhoeverReadsStandardError() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = GatewayJar.of(CONFIG.formatted(origin.port()))
                        .leaveOutputUnread()
                        .start()) {
            assertThat(gateway.post("/log-level?logger=dev.gateway.listener&level=debug")
                            .statusCode())
                    .isEqualTo(200);
            failHandshakes(gateway, FAILED_HANDSHAKES);
            get(gateway);
            timersRun(gateway);
            assertThat(gateway.admin("/ready", Duration.ofSeconds(20)).statusCode())
                    .isEqualTo(200);
            double dropped = gateway.metric("gateway_log_dropped_total");
            assertThat(dropped).isPositive();

            gateway.readOutputAgain();
            gateway.await("the log to tell what it has lost", () -> gateway.log()
                    .contains((long) dropped + " lines of this log were dropped"));
            assertThat(gateway.post("/quit").statusCode()).isEqualTo(202);
            assertThat(gateway.awaitExit(Duration.ofSeconds(20))).isZero();
            gateway.awaitLog("Stopped");
        }
    }

    @Test
    void theProcessEndsThoughNobodyReadsItsLastWords() throws Exception {
        try (GatewayJar gateway =
                GatewayJar.of(CONFIG.formatted(1)).leaveOutputUnread().start()) {
            gateway.post("/log-level?logger=dev.gateway.listener&level=debug");
            failHandshakes(gateway, FAILED_HANDSHAKES / 4);
            gateway.signal("TERM");
            assertThat(gateway.awaitExit(Duration.ofSeconds(20))).isZero();
        }
    }
}
