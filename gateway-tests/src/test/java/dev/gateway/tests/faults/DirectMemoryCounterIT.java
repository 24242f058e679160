package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.GatewayJar;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Netty counts direct memory, not the JDK, which stops an event loop when there is none left. */
@Tag("jar")
@Timeout(120)
@Tag("platform")
class DirectMemoryCounterIT {
    private static final String CONFIG =
            """
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
            admin: {address: 127.0.0.1, port: 0}
            """;

    @Test
    void theJarByItselfLetsNettyCount() throws Exception {
        try (GatewayJar gateway = GatewayJar.of(CONFIG).heap("64m").start()) {
            assertThat(gateway.log()).contains("counted by Netty").doesNotContain("WARN");
            assertThat(gateway.metric("gateway_direct_memory_used_bytes")).isPositive();
            assertThat(gateway.metric("gateway_direct_memory_max_bytes")).isBetween(50e6, 64.0 * (1 << 20));
        }
    }

    /** As bin/gateway starts it where there is sun.misc.Unsafe only on request. */
    @Test
    void soItDoesWithoutUnsafe() throws Exception {
        try (GatewayJar gateway = GatewayJar.of(CONFIG)
                .heap("64m")
                .jvm("-XX:+IgnoreUnrecognizedVMOptions")
                .jvm("--sun-misc-unsafe-memory-access=allow")
                .start()) {
            assertThat(gateway.log()).contains("counted by Netty");
        }
    }

    /** Somebody's own JVM, which opens nothing to Netty: the gateway starts, and says what that means. */
    @Test
    void whereTheJdkCountsTheGatewayStartsAndSaysSo() throws Exception {
        try (GatewayJar gateway = GatewayJar.of(CONFIG)
                .heap("64m")
                .jvm("-XX:+IgnoreUnrecognizedVMOptions")
                .jvm("--sun-misc-unsafe-memory-access=allow") // else Java 25 has another way that does not wait
                .jvm("-Dio.netty.noUnsafe=false")
                .jvm("-Dio.netty.tryReflectionSetAccessible=false")
                .start()) {
            assertThat(gateway.log()).contains("counted by the JDK").contains("--add-opens=java.base/java.nio");
        }
    }
}
