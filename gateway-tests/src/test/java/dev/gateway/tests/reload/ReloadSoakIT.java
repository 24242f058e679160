package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.CertificateAuthority.Issued;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.ManyTunnels;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.SteadyLoad;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Reloads under thousands of open tunnels and constant load cut none, fail no request, and leave nothing behind.
 * {@code -Dreloads=1000} reloads ten times as often.
 */
@Tag("alone")
@Timeout(300)
class ReloadSoakIT {
    private static final int RELOADS = Integer.getInteger("reloads", 100);
    private static final int WEB_SOCKETS = 1000;
    private static final int TUNNELS = 1000;
    private static final long SLACK = 8L << 20; // of memory; a hundredth of it for each reload would show

    @TempDir
    private Path directory;

    private CertificateAuthority authority;
    private Path certFile;
    private Path keyFile;

    @BeforeAll
    static void countFiles() {
        // Each tunnel has four sockets in this process.
        assumeTrue(
                !(ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system)
                        || system.getMaxFileDescriptorCount() > 5 * (WEB_SOCKETS + TUNNELS),
                "not enough files may be open");
    }

    @BeforeEach
    void makeCertificate() throws Exception {
        authority = new CertificateAuthority("Servers", directory);
        certFile = directory.resolve("tls.crt");
        keyFile = directory.resolve("tls.key");
        renewCertificate();
    }

    private void renewCertificate() throws Exception {
        Issued next = authority.issue("localhost");
        Files.copy(next.certFile(), certFile, StandardCopyOption.REPLACE_EXISTING);
        Files.copy(next.keyFile(), keyFile, StandardCopyOption.REPLACE_EXISTING);
    }

    /** One of many configurations: whatever serves something changes each time. */
    private String yaml(Origin origin, ManyTunnels tunnels, int variant) {
        return """
                listeners:
                  %1$s
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP, timeouts: {requestHeaders: %2$ds}}
                  - name: secure
                    address: 127.0.0.1
                    port: 0
                    protocol: HTTPS
                    tls: {certificateRefs: [{certFile: %3$s, keyFile: %4$s}]}
                routes:
                  - name: load
                    parentRefs: [{name: clear}, {name: secure}]
                    rules: [{matches: [{path: {type: Exact, value: /load}}], backendRefs: [{name: app}]}]
                  - name: webSockets
                    parentRefs: [{name: clear}, {name: secure}]
                    rules: [{backendRefs: [{name: tunnels}], webSocket: {idle: %5$dm}}]
                upstreams:
                  - {name: app, endpoints: [{host: 127.0.0.1, port: %6$d}], protocol: %7$s}
                  - name: tunnels
                    endpoints: [{host: 127.0.0.1, port: %8$d}]
                    circuitBreaker: {maxConnections: %9$d}
                connect:
                  - parentRefs: [{name: clear}, {name: secure}]
                    allowedPorts: [%8$d]
                    allow: [127.0.0.1]
                    trustedDestinations: [127.0.0.1]
                    limits: {maxTunnels: %9$d, maxTunnelsPerClient: %9$d}
                transport: epoll
                admin: {port: 0}
                accessLog: {format: "off"}
                drain: {timeout: 1s}
                """
                .formatted(
                        variant % 3 == 1 ? "- {name: passing, address: 127.0.0.1, port: 0, protocol: HTTP}" : "",
                        20 + variant % 2,
                        certFile,
                        keyFile,
                        5 + variant,
                        origin.port(),
                        variant % 2 == 0 ? "http1" : "h2c",
                        tunnels.port(),
                        5000 + variant);
    }

    @Test
    void thousandsOfTunnelsOutliveAHundredReloads() throws Exception {
        soak(null);
    }

    @Test
    void soDoThoseOverTlsWhoseCertificatesAreReplacedMeanwhile() throws Exception {
        soak(SslContextBuilder.forClient()
                .trustManager(InsecureTrustManagerFactory.INSTANCE)
                .build());
    }

    private void soak(@Nullable SslContext tls) throws Exception {
        try (Origin origin = Origin.start().on("/load", Behaviors.text("ok"));
                ManyTunnels tunnels = new ManyTunnels();
                Rig rig = Rig.start(yaml(origin, tunnels, 0))) {
            int port = rig.port(tls == null ? "clear" : "secure");
            tunnels.openWebSockets(port, WEB_SOCKETS, tls);
            tunnels.openTunnels(port, TUNNELS, tls);
            tunnels.assertAllEcho();
            long heap;
            double direct;
            int served;
            try (SteadyLoad load = new SteadyLoad(rig)) {
                load.goOnFor(200);
                for (int i = 1; i <= 6; i++) { // what is made once has been made by then
                    rig.reload(yaml(origin, tunnels, i));
                }
                heap = usedHeap();
                direct = rig.metric("gateway_direct_memory_used_bytes");
                for (int i = 1; i <= RELOADS; i++) {
                    if (tls != null) {
                        renewCertificate();
                    }
                    rig.reload(yaml(origin, tunnels, i));
                    if (i % 20 == 0) {
                        tunnels.assertAllEcho();
                    }
                }
                load.goOnFor(200);
                load.stop();
                served = load.served();
            }
            tunnels.assertAllEcho();
            rig.awaitMetric(1, "gateway_config_generations_draining"); // the one that all tunnels began with
            assertThat(rig.metric("gateway_websockets_active")).isEqualTo(WEB_SOCKETS);
            assertThat(rig.metric("gateway_tunnels_active")).isEqualTo(TUNNELS);
            rig.awaitMetric(served, "gateway_downstream_requests_total", "route=\"load\"", "code=\"200\"");
            assertThat(rig.metric("gateway_downstream_requests_total", "route=\"load\""))
                    .isEqualTo(served);
            origin.forget();
            assertThat(usedHeap() - heap).as("growth of the heap").isLessThan(SLACK);
            assertThat(rig.metric("gateway_direct_memory_used_bytes") - direct)
                    .as("growth of direct memory")
                    .isLessThan(SLACK);

            tunnels.hangUp();
            rig.awaitIdle();
            rig.awaitMetric(0, "gateway_config_generations_draining");
            rig.awaitMetric(0, "gateway_websockets_active");
            rig.awaitMetric(0, "gateway_tunnels_active");
        }
    }

    private static long usedHeap() {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            memory.gc();
            least = Math.min(least, memory.getHeapMemoryUsage().getUsed());
        }
        return least;
    }
}
