package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that want more file descriptors than the process may open wait; nothing else suffers from them. */
@Tag("alone")
@Tag("jar")
@Timeout(120)
@Tag("platform")
class FewDescriptorsIT {
    private static final int LIMIT = 160;

    private final List<Socket> clients = new ArrayList<>();

    @AfterEach
    void closeClients() throws IOException {
        for (Socket each : clients) {
            each.close();
        }
    }

    private static GatewayJar start(String healthChecks, int... ports) throws IOException {
        StringBuilder endpoints = new StringBuilder();
        for (int port : ports) {
            endpoints.append("{host: 127.0.0.1, port: ").append(port).append("},");
        }
        return GatewayJar.of(
                        """
                        listeners:
                          - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP, timeouts: {idle: 1s}}
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams:
                          - name: app
                            endpoints: [%s]
                            timeouts: {idle: 1s}
                            %s
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        workers: 2
                        """
                                .formatted(endpoints, healthChecks))
                .openFiles(LIMIT)
                .start();
    }

    private Socket connect(GatewayJar gateway) throws IOException {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), gateway.port("web"));
        client.setSoTimeout(30_000);
        clients.add(client);
        return client;
    }

    private static void ask(Socket client) throws IOException {
        client.getOutputStream()
                .write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    }

    /** Returns what comes until the end. */
    private static String answer(Socket client) throws IOException {
        try (client) {
            String all = new String(client.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            return all;
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Test
    void everyRequestIsServedInItsTurnAndEveryCounterReturns() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = start("", origin.port())) {
            for (int round = 0; round < 5; round++) {
                List<Socket> wave = new ArrayList<>();
                for (int i = 0; i < 300; i++) {
                    wave.add(connect(gateway));
                }
                for (Socket each : wave) {
                    ask(each);
                }
                for (Socket each : wave) {
                    assertThat(answer(each)).startsWith("HTTP/1.1 200").endsWith("ok");
                }
            }
            gateway.await("no connection and no request left", () -> isAtRest(gateway));
            for (int i = 0; i < 20; i++) {
                Socket client = connect(gateway);
                ask(client);
                assertThat(answer(client)).startsWith("HTTP/1.1 200").endsWith("ok");
            }
            assertThat(gateway.log()).doesNotContain("Exception", "globalEventExecutor");
            assertThat(gateway.metric("gateway_upstream_connect_failures_total"))
                    .isZero();
            assertThat(gateway.metric("gateway_downstream_accept_pauses_total")).isPositive();
        }
    }

    /** The counters of requests, connections and those who wait, none of which may have gone wrong for good. */
    private static boolean isAtRest(GatewayJar gateway) {
        try {
            return gateway.metric("gateway_downstream_requests_active") == 0
                    && gateway.metric("gateway_upstream_pending_requests") == 0
                    && gateway.metric("gateway_upstream_requests_active") == 0
                    && gateway.metric("gateway_upstream_connections_active") == 0
                    && gateway.metric("gateway_upstream_connections_idle") == 0
                    && gateway.metric("gateway_downstream_connections_active") == 0;
        } catch (IOException | InterruptedException e) {
            return false;
        }
    }

    /** An operator who reads of memory would give the process more of it, and not raise its limit of open files. */
    @Test
    void theLogSaysWhatIsShortWhenIdleConnectionsGiveWay() throws Exception {
        try (GatewayJar gateway = GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                        admin: {address: 127.0.0.1, port: 0}
                        workers: 2
                        """)
                .openFiles(LIMIT)
                .start()) {
            for (int i = 0; i < LIMIT; i++) {
                connect(gateway); // says nothing, so it has to give way
            }
            Socket client = connect(gateway);
            ask(client);
            assertThat(answer(client)).startsWith("HTTP/1.1 200");
            gateway.awaitLog("closes idle connections");
            assertThat(gateway.log())
                    .contains("because clients have taken all file descriptors for them: raise the limit of open files")
                    .doesNotContain("memory for clients is short");
        }
    }

    @Test
    void theAdminListenerAnswersWhileClientsWait() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = start("", origin.port())) {
            for (int i = 0; i < 2 * LIMIT; i++) {
                connect(gateway).getOutputStream().write('G'); // a request that does not end
            }
            gateway.await("more clients than there can be", () -> gateway.log().contains("WARN"));
            for (int i = 0; i < 5; i++) {
                try (Socket probe = new Socket(InetAddress.getLoopbackAddress(), gateway.adminPort())) {
                    probe.setSoTimeout(5_000);
                    probe.getOutputStream()
                            .write("GET /healthz HTTP/1.0\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                    assertThat(new String(probe.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                            .startsWith("HTTP/1.1 200");
                }
            }
            assertThat(gateway.openFiles()).isLessThan(LIMIT);
            assertThat(gateway.log()
                            .lines()
                            .filter(line -> line.contains("WARN"))
                            .count())
                    .isLessThanOrEqualTo(2);
            closeClients();
            Socket client = connect(gateway);
            ask(client);
            assertThat(answer(client)).startsWith("HTTP/1.1 200");
        }
    }

    @Test
    void noEndpointIsBlamed() throws Exception {
        try (ServerSocket first = silent();
                ServerSocket second = silent();
                GatewayJar gateway = start(
                        "healthChecks: {outlierDetection: {consecutive5xx: 2}}",
                        first.getLocalPort(),
                        second.getLocalPort())) {
            for (int i = 0; i < 2 * LIMIT; i++) {
                ask(connect(gateway));
            }
            gateway.await("all connections to upstreams that there can be", () -> hasDialed(gateway));
            assertThat(gateway.admin("/healthz", Duration.ofSeconds(5)).statusCode())
                    .isEqualTo(200);
            assertThat(gateway.metric("gateway_upstream_ejections_total")).isZero();
            assertThat(gateway.metric("gateway_upstream_connect_failures_total", "connect_failed"))
                    .isZero();
            assertThat(gateway.log()).doesNotContain("ejected");
        }
    }

    private static boolean hasDialed(GatewayJar gateway) {
        try {
            return gateway.metric("gateway_upstream_connections_active") > 20;
        } catch (IOException | InterruptedException e) {
            return false;
        }
    }

    /** Lets everybody connect, and answers nobody. */
    private static ServerSocket silent() throws IOException {
        return new ServerSocket(0, 1024, InetAddress.getLoopbackAddress());
    }
}
