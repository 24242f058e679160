package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.GatewayProcess;
import dev.gateway.tests.support.NotifyReceiver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A gateway that systemd starts, with {@code Type=notify}: each step of its life is told. */
@Timeout(120)
class NotifyIT {
    private static final String CONFIG =
            """
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
            drain: {timeout: 70s}
            """;

    @TempDir
    private Path directory;

    @Test
    void eachStepIsTold() throws Exception {
        Path config = Files.writeString(directory.resolve("gateway.yaml"), CONFIG);
        try (NotifyReceiver systemd =
                        new NotifyReceiver(directory.resolve("notify").toString());
                GatewayProcess gateway = GatewayProcess.start(config, Map.of("NOTIFY_SOCKET", systemd.address()))) {
            assertThat(systemd.await("")).isEqualTo("READY=1\nSTATUS=Serving generation 1\n");

            Files.writeString(config, CONFIG + "# another one\n");
            gateway.hangUp();
            // The file's change may be noticed before SIGHUP is heard; that would be one more reload.
            assertThat(systemd.await("RELOADING=1\n"))
                    .matches("RELOADING=1\nMONOTONIC_USEC=[0-9]+\nSTATUS=Reloading\n");
            assertThat(systemd.await("READY=1\n")).isEqualTo("READY=1\nSTATUS=Serving generation 2\n");

            Files.writeString(config, "nonsense: true\n");
            gateway.hangUp();
            assertThat(systemd.await(message -> message.contains("nonsense")))
                    .matches("READY=1\nSTATUS=Serving generation [23]; the reload at [^\n]* failed: [^\n]*\n");

            gateway.terminate();
            assertThat(systemd.await("STOPPING=1\n"))
                    .isEqualTo("STOPPING=1\nSTATUS=Draining\nEXTEND_TIMEOUT_USEC=80000000\n");
            assertThat(gateway.awaitExit()).isZero();
        }
    }

    @Test
    void theWatchdogHearsThatItLives() throws Exception {
        Path config = Files.writeString(directory.resolve("gateway.yaml"), CONFIG);
        try (NotifyReceiver systemd = new NotifyReceiver("@gateway-" + UUID.randomUUID());
                GatewayProcess gateway = GatewayProcess.start(
                        config, Map.of("NOTIFY_SOCKET", systemd.address(), "WATCHDOG_USEC", "150000"))) {
            systemd.await("READY=1\n");
            systemd.await("WATCHDOG=1\n");
            systemd.await("WATCHDOG=1\n");
            gateway.terminate();
            systemd.await("STOPPING=1\n");
            assertThat(gateway.awaitExit()).isZero();
        }
    }
}
