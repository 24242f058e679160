package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.ManyTunnels;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many tunnels through a gateway in a process of its own, at a time. With {@code -Dtunnels=long} there are 9,500, which
 * take 19,000 descriptors in either process: as many as a limit of 20,000 allows.
 */
@Tag("jar")
@Timeout(180)
class ManyTunnelsIT {
    private static final int COUNT = "long".equals(System.getProperty("tunnels")) ? 9_500 : 1_000;

    /** Enough that half of the memory for clients, which is what one client may hold, suffices for all of them. */
    private static final String HEAP = COUNT > 5_000 ? "512m" : "256m";

    /** What a tunnel at rest may take. */
    private static final int KIB_PER_TUNNEL = 24;

    @Test
    void allAreOpenAtATimeAndLeaveNothingBehind() throws Exception {
        try (ManyTunnels tunnels = new ManyTunnels();
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners:
                                  - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP, limits: {maxConnections: %2$d}}
                                connect:
                                  - parentRefs: [{name: web}]
                                    allowedPorts: [%1$d]
                                    allow: [127.0.0.1]
                                    trustedDestinations: [127.0.0.1]
                                    limits: {maxTunnels: %2$d, maxTunnelsPerClient: %2$d}
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: "off"}
                                """
                                        .formatted(tunnels.port(), COUNT))
                        .heap(HEAP)
                        .start()) {
            long memory = gateway.residentKiB();
            int files = gateway.openFiles();
            tunnels.openTunnels(gateway.port("web"), COUNT, null);
            tunnels.assertAllEcho();
            tunnels.assertAllEcho();
            assertThat(gateway.metric("gateway_tunnels_active")).isEqualTo(COUNT);
            assertThat(gateway.openFiles() - files).isGreaterThanOrEqualTo(2 * COUNT);
            assertThat(gateway.residentKiB() - memory)
                    .as("KiB for %d tunnels", COUNT)
                    .isLessThan(64 * 1024 + (long) COUNT * KIB_PER_TUNNEL); // and what the JVM takes to begin with
            assertThat(gateway.admin("/healthz", Duration.ofSeconds(5)).statusCode())
                    .isEqualTo(200);
            tunnels.hangUp();
            gateway.await("the end of all tunnels", () -> isAtRest(gateway));
            assertThat(gateway.openFiles() - files).isLessThan(20); // connections of the admin listener
            assertThat(gateway.log()).doesNotContain("Exception", "ERROR");
        }
    }

    private static boolean isAtRest(GatewayJar gateway) {
        try {
            return gateway.metric("gateway_tunnels_active") == 0
                    && gateway.metric("gateway_downstream_connections_active") == 0;
        } catch (IOException | InterruptedException e) {
            return false;
        }
    }
}
