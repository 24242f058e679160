package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.GatewayJar;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that are refused and ask again at once do not get all of an event loop's time. */
@Tag("jar")
@Timeout(120)
class RefusalIT {
    private static final int REFUSALS = 6_000;

    /** The pace is 2,000 a second on each event loop, after a start of 400. */
    private static final Duration SHORTEST = Duration.ofSeconds(2);

    private final List<Socket> sockets = new ArrayList<>();
    private ServerSocket origin; // takes one request and never answers
    private GatewayJar gateway;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        origin = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        gateway = GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams:
                          - name: app
                            endpoints: [{host: 127.0.0.1, port: %d}]
                            circuitBreaker: {maxConnections: 1, maxPendingRequests: 1}
                            timeouts: {poolAcquire: 2m, responseHeaders: 2m}
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(origin.getLocalPort()))
                .start();
        send(connect(), "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        Socket taken = origin.accept();
        sockets.add(taken);
        assertThat(taken.getInputStream().read()).isEqualTo('G'); // and is no longer pending
        send(connect(), "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        while (gateway.metric("gateway_upstream_pending_requests") < 1) {
            LockSupport.parkNanos(5_000_000);
        }
    }

    @AfterEach
    void stop() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        gateway.close();
        origin.close();
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port("web"));
        sockets.add(socket);
        socket.setSoTimeout(60_000);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static BufferedReader reader(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
    }

    /** A lower bound: a busy machine takes longer. */
    @Test
    void aClientThatAsksAgainAtOnceIsRefusedAtAPace() throws Exception {
        Socket socket = connect();
        String batch = "GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(REFUSALS / 20);
        Thread writer = new Thread(() -> {
            try {
                for (int i = 0; i < 20; i++) {
                    send(socket, batch);
                }
            } catch (IOException e) {
                // The reader finds out.
            }
        });
        long began = System.nanoTime();
        writer.start();
        BufferedReader answers = reader(socket);
        int refused = 0;
        while (refused < REFUSALS) {
            String line = answers.readLine();
            assertThat(line).isNotNull();
            refused += line.contains("HTTP/1.1 503 ") ? 1 : 0;
        }
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(SHORTEST);
        writer.join();
    }

    @Test
    void refusalsThatEndTheirConnectionsArriveWhole() throws Exception {
        List<Socket> clients = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            Socket socket = connect();
            clients.add(socket);
            send(socket, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        }
        for (Socket socket : clients) {
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            assertThat(answer).startsWith("HTTP/1.1 503 ").endsWith("}\n");
        }
        assertThat(gateway.metric("gateway_downstream_requests_total", "cause=\"pending_overflow\""))
                .isGreaterThanOrEqualTo(500);
    }
}
