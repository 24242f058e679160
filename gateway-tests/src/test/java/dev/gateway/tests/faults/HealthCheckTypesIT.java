package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.Rig;
import io.grpc.Server;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Endpoints are asked by gRPC's health protocol, or by no more than a connection. */
class HealthCheckTypesIT {
    private static final String OFTEN = "interval: 100ms, timeout: 2s, healthyThreshold: 1, unhealthyThreshold: 1";

    private static String yaml(String upstream, int... ports) {
        StringBuilder endpoints = new StringBuilder();
        for (int port : ports) {
            endpoints.append("{host: localhost, port: ").append(port).append("}, ");
        }
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                routes:
                  - {name: all, rules: [{backendRefs: [{name: app}]}]}
                upstreams:
                  - name: app
                    endpoints: [%s]
                    %s
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                drain: {timeout: 2s}
                """
                .formatted(endpoints, upstream);
    }

    private static String check(Rig rig, int endpoint) throws Exception {
        return rig.endpoint(endpoint).at("/failedCheck").asText();
    }

    // gRPC

    @ParameterizedTest
    @ValueSource(strings = {"protocol: h2c", "protocol: h2\n    tls: {verify: false}", "tls: {verify: false}"})
    void aServerIsWellWhileItSaysThatItServes(String upstream) throws Exception {
        HealthStatusManager health = new HealthStatusManager();
        Server server = grpc(health, upstream.contains("tls"));
        try (Rig rig = Rig.start(
                yaml(upstream + "\n    healthChecks: {active: {type: GRPC, " + OFTEN + "}}", server.getPort()))) {
            rig.awaitMetric(1, "gateway_upstream_connections_active", "protocol=\"h2\"");
            rig.awaitStates("healthy");
            health.setStatus(HealthStatusManager.SERVICE_NAME_ALL_SERVICES, ServingStatus.NOT_SERVING);
            rig.awaitStates("unhealthy");
            assertThat(check(rig, 0)).isEqualTo("answered NOT_SERVING");
            health.setStatus(HealthStatusManager.SERVICE_NAME_ALL_SERVICES, ServingStatus.SERVING);
            rig.awaitStates("healthy");
        } finally {
            server.shutdownNow().awaitTermination();
        }
    }

    @Test
    void aServiceIsAskedAboutByItsName() throws Exception {
        HealthStatusManager health = new HealthStatusManager();
        Server server = grpc(health, false);
        Server other = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
                .build()
                .start();
        try (Origin http = Origin.start();
                ServerSocket silent = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
                Rig rig = Rig.start(yaml(
                        "protocol: h2c\n    healthChecks: {active: {type: GRPC, service: shop.Orders, " + OFTEN + "}}",
                        server.getPort(),
                        other.getPort(),
                        http.port(),
                        silent.getLocalPort()))) {
            rig.awaitStates("unhealthy", "unhealthy", "unhealthy", "unhealthy");
            assertThat(check(rig, 0)).contains("grpc-status 5 (NOT_FOUND): it does not know the service 'shop.Orders'");
            assertThat(check(rig, 1)).contains("grpc-status 12 (UNIMPLEMENTED)");
            assertThat(check(rig, 2)).isEqualTo("answered 404");
            assertThat(check(rig, 3)).isEqualTo("no answer in 2000 ms");
            health.setStatus("shop.Orders", ServingStatus.SERVING);
            rig.awaitStates("healthy", "unhealthy", "unhealthy", "unhealthy");
        } finally {
            server.shutdownNow().awaitTermination();
            other.shutdownNow().awaitTermination();
        }
    }

    private static Server grpc(HealthStatusManager health, boolean tls) throws Exception {
        NettyServerBuilder builder = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
                .addService(health.getHealthService());
        if (tls) {
            X509Bundle bundle = new CertificateBuilder()
                    .subject("CN=localhost")
                    .setIsCertificateAuthority(true)
                    .buildSelfSigned();
            builder.sslContext(GrpcSslContexts.forServer(bundle.toTempCertChainPem(), bundle.toTempPrivateKeyPem())
                    .build());
        }
        return builder.build().start();
    }

    // TCP

    @Test
    void aConnectionIsEnoughAndIsClosedAgain() throws Exception {
        try (Socket holder = ClosedPort.hold();
                Closing server = new Closing(holder.getLocalPort());
                Rig rig = Rig.start(yaml("healthChecks: {active: {type: TCP, " + OFTEN + "}}", server.port()))) {
            server.await(3);
            rig.awaitStates("healthy");
            assertThat(server.failure).as("the end of a connection is no reset").isNull();
            assertThat(server.received).as("bytes").isFalse();
            server.stop();
            rig.awaitStates("unhealthy");
            assertThat(check(rig, 0)).contains("refused");
            assertThat(rig.metric("gateway_upstream_connection_closed_total", "cause=\"health_check\""))
                    .isGreaterThanOrEqualTo(3);
            assertThat(rig.metric("gateway_upstream_health_checks_total", "result=\"success\""))
                    .isGreaterThanOrEqualTo(3);
            rig.awaitMetric(0, "gateway_upstream_connections_active", "protocol=\"tcp\"");
            try (Closing again = new Closing(holder.getLocalPort())) {
                rig.awaitStates("healthy");
                again.await(1);
            }
        }
    }

    @Test
    void ofTlsTheHandshakeIsPartOfTheConnection() throws Exception {
        try (Origin secure = Origin.startTls();
                ServerSocket silent = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
                Closing clear = new Closing(0);
                Rig rig = Rig.start(yaml(
                        "tls: {verify: false}\n    healthChecks: {active: {type: TCP, " + OFTEN + "}}",
                        secure.port(),
                        silent.getLocalPort(),
                        clear.port()))) {
            rig.awaitStates("healthy", "unhealthy", "unhealthy");
            assertThat(check(rig, 1)).isEqualTo("no answer in 2000 ms");
            assertThat(check(rig, 2)).contains("closed the connection during the handshake");
        }
    }

    /** A server that reads to the end of each connection, one after the other. */
    private static final class Closing implements AutoCloseable {
        private final ServerSocket listening;
        private int accepted;
        private volatile boolean received;
        private volatile @Nullable IOException failure;

        Closing(int port) throws IOException {
            listening = new ServerSocket(port, 50, InetAddress.getByName("127.0.0.1"));
            new Thread(this::run, "closing").start();
        }

        int port() {
            return listening.getLocalPort();
        }

        private void run() {
            while (!listening.isClosed()) {
                try (Socket socket = listening.accept()) {
                    read(socket);
                } catch (IOException e) {
                    return; // closed
                }
            }
        }

        private void read(Socket socket) {
            try {
                if (socket.getInputStream().read() >= 0) {
                    received = true;
                }
            } catch (IOException e) {
                failure = e;
            }
            synchronized (this) {
                accepted++;
                notifyAll();
            }
        }

        synchronized void await(int connections) throws InterruptedException {
            while (accepted < connections) {
                wait();
            }
        }

        /** Listens no more. */
        void stop() throws IOException {
            listening.close();
        }

        @Override
        public void close() throws IOException {
            stop();
        }
    }
}
