package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Tools;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The gateway gives the recorded answers to cases that unit tests do not have: frames of HTTP/2 in both directions, handshakes
 * of TLS, paths, upgrades, and what ends a connection. {@code CompatibilityTest} compares them with those of other proxies.
 *
 * <p>The full form plays the others, in its part {@code suites}. Limits of time and ends on the way need a machine that is not
 * busy, because they wait for what does not happen. Unit tests have the messages of HTTP/1: {@code RawRequestsTest} and others.
 */
@Tag("jar")
@Timeout(120)
class CompatibilityIT {
    @Test
    void theGatewayGivesTheRecordedAnswers() throws Exception {
        Tools.find("openssl"); // makes the certificates
        ProcessBuilder command = new ProcessBuilder(
                        Tools.find("python3"),
                        "peers/run",
                        "--jar",
                        GatewayJar.file().toString(),
                        "--java",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--kinds",
                        "connections",
                        "http2-requests",
                        "http2-responses",
                        "paths",
                        "tls-clients",
                        "tls-hellos",
                        "tls-upstreams",
                        "upgrades")
                .redirectErrorStream(true);
        command.environment().put("JDK_JAVA_OPTIONS", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1");
        Process run = command.start();
        try {
            String said = new String(run.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(run.waitFor()).as(said).isZero();
        } finally {
            run.destroy(); // it ends what it started
            run.waitFor();
        }
    }
}
