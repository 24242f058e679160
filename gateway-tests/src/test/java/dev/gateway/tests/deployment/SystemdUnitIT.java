package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The units, as systemd itself reads them. */
class SystemdUnitIT {
    /** Of ten; what remains is mostly that a gateway talks to the network. Services that nobody looked after have 9.6. */
    private static final String MAX_EXPOSURE = "20";

    @TempDir
    private Path directory;

    private Path unit;

    @BeforeEach
    void pointItToTheLauncherOfThisClone() throws IOException {
        String text = Files.readString(Path.of("../deploy/systemd/gateway.service"));
        unit = Files.writeString(
                directory.resolve("gateway.service"),
                text.replace(
                        "/opt/gateway/bin/gateway",
                        Path.of("../bin/gateway").toRealPath().toString()));
    }

    @Test
    void everyDirectiveIsKnown() throws Exception {
        Tools.Result result = Tools.run(Tools.find("systemd-analyze"), "verify", unit.toString());
        assertThat(result.output()).isEmpty();
        assertThat(result.exit()).isZero();
    }

    @Test
    void theSocketsAreThoseOfTheService() throws Exception {
        Path sockets = Files.copy(Path.of("../deploy/systemd/gateway.socket"), directory.resolve("gateway.socket"));
        Tools.Result result = Tools.run(Tools.find("systemd-analyze"), "verify", sockets.toString());
        assertThat(result.output()).isEmpty();
        assertThat(result.exit()).isZero();
    }

    /** RestartPreventExitStatus= is about ExecStart= alone. */
    @Test
    void anInvalidConfigurationIsNotTriedAgain() throws IOException {
        assertThat(Files.readAllLines(unit))
                .contains("RestartPreventExitStatus=1 2")
                .noneMatch(line -> line.startsWith("ExecStartPre="));
    }

    @Test
    void itIsConfined() throws Exception {
        Tools.Result result = Tools.run(
                60,
                List.of(
                        Tools.find("systemd-analyze"),
                        "security",
                        "--offline=true",
                        "--no-pager",
                        "--threshold=" + MAX_EXPOSURE,
                        unit.toString()));
        assertThat(result.exit()).as(result.output()).isZero();
    }
}
