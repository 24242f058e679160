package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.support.GatewayJar;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients that never get as far as a request leave a line for each reason, and expired certificates one when they are read. */
@Tag("jar")
@Timeout(60)
class RefusedClientsIT {
    @TempDir
    Path directory;

    private void certify(Instant end) throws Exception {
        X509Bundle bundle = new CertificateBuilder()
                .ecp256()
                .subject("CN=localhost")
                .addSanDnsName("localhost")
                .setIsCertificateAuthority(true)
                .notBefore(Instant.now().minus(Duration.ofDays(100)))
                .notAfter(end)
                .buildSelfSigned();
        Files.writeString(directory.resolve("a.key"), bundle.getPrivateKeyPEM());
        Files.writeString(directory.resolve("a.crt"), bundle.getCertificatePathPEM());
    }

    private GatewayJar start() throws IOException {
        return GatewayJar.of(
                        """
                        listeners:
                          - {name: small, address: 127.0.0.1, port: 0, protocol: HTTP, limits: {maxConnections: 1}}
                          - name: secure
                            address: 127.0.0.1
                            port: 0
                            protocol: HTTPS
                            tls: {certificateRefs: [{certFile: %s, keyFile: %s}]}
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 1}]}]
                        admin: {address: 127.0.0.1, port: 0}
                        """
                                .formatted(directory.resolve("a.crt"), directory.resolve("a.key")))
                .start();
    }

    private static void shakeHands(GatewayJar gateway) throws Exception {
        SSLContext distrustful = SSLContext.getInstance("TLS");
        distrustful.init(null, null, null); // knows none but public authorities
        try (SSLSocket socket = (SSLSocket)
                distrustful.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), gateway.port("secure"))) {
            socket.startHandshake();
            throw new AssertionError("the client trusts anybody");
        } catch (SSLException expected) {
            assertThat(expected).hasMessageContaining("PKIX");
        }
    }

    private static List<String> warnings(GatewayJar gateway, String text) {
        return gateway.log()
                .lines()
                .filter(line -> line.contains("WARN") && line.contains(text))
                .toList();
    }

    @Test
    void eachReasonIsToldOnceWithACountAndACertificateThatHasExpiredWhenItIsRead() throws Exception {
        certify(Instant.now().plus(Duration.ofDays(100)));
        try (GatewayJar gateway = start()) {
            for (int i = 0; i < 3; i++) {
                shakeHands(gateway);
            }
            try (Socket plain = new Socket(InetAddress.getLoopbackAddress(), gateway.port("secure"))) {
                plain.setSoTimeout(Peer.PATIENCE_MILLIS);
                plain.getOutputStream().write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                assertThat(plain.getInputStream().readAllBytes()).isNotEmpty();
            }
            gateway.await("all handshakes to be counted", () -> failed(gateway, "") == 4);
            assertThat(failed(gateway, "reason=\"certificate_refused\"")).isEqualTo(3);
            assertThat(failed(gateway, "reason=\"cleartext\"")).isEqualTo(1);
            gateway.awaitLog("cleartext");
            assertThat(warnings(gateway, "certificate_refused"))
                    .singleElement()
                    .asString()
                    .contains("listener secure", "127.0.0.1:", "the client does not accept the certificate");
            assertThat(warnings(gateway, "cleartext")).hasSize(1);

            try (Socket one = new Socket(InetAddress.getLoopbackAddress(), gateway.port("small"))) {
                one.getOutputStream().write('G');
                gateway.await(
                        "the first client to be accepted", () -> connections(gateway) == 1); // else it may come second
                for (int i = 0; i < 3; i++) {
                    try (Socket more = new Socket(InetAddress.getLoopbackAddress(), gateway.port("small"))) {
                        more.setSoTimeout(Peer.PATIENCE_MILLIS);
                        assertThat(more.getInputStream().read()).isNegative();
                    } catch (IOException reset) {
                        assertThat(reset).hasMessageContaining("reset");
                    }
                }
            }
            gateway.awaitLog("limits.maxConnections");
            assertThat(warnings(gateway, "limits.maxConnections"))
                    .singleElement()
                    .asString()
                    .contains("listener small", "127.0.0.1:");

            certify(Instant.now().minus(Duration.ofDays(1)));
            gateway.awaitLog("expired at");
            assertThat(warnings(gateway, "The certificate localhost of listener secure expired at"))
                    .hasSize(1);
        }
    }

    private static double connections(GatewayJar gateway) {
        try {
            return gateway.metric("gateway_downstream_connections_active", "listener=\"small\"");
        } catch (IOException | InterruptedException e) {
            return -1;
        }
    }

    private static double failed(GatewayJar gateway, String label) {
        try {
            return gateway.metric("gateway_downstream_handshakes_failed_total", "listener=\"secure\"", label);
        } catch (IOException | InterruptedException e) {
            return -1;
        }
    }
}
