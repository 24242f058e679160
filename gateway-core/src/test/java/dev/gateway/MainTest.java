package dev.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class MainTest {
    private static final String QUICKSTART = "../config/quickstart.yaml";

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int gateway(String... args) {
        CommandLine commandLine = Main.commandLine();
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.setErr(new PrintWriter(err, true));
        return commandLine.execute(args);
    }

    @Test
    void aValidConfigurationIsOk() {
        assertThat(gateway("validate", QUICKSTART)).isZero();
        assertThat(out.toString()).isEqualTo(QUICKSTART + " is valid" + System.lineSeparator());
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void everyMistakeIsALineOnStandardErrorAndTheExitCodeIsOne(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(
                directory.resolve("gateway.yaml"), "listeners: [{name: web, prt: 80, protocol: HTTP}]\nroute: []\n");
        assertThat(gateway("validate", file.toString())).isEqualTo(1);
        assertThat(out.toString()).isEmpty();
        assertThat(err.toString().lines())
                .contains(
                        file + ":1:25: unknown key 'prt' in a listener: did you mean 'port'?",
                        file + ":2:1: unknown key 'route' in a configuration: did you mean 'routes'?");
    }

    @Test
    void anInvalidConfigurationIsNotRun(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("gateway.yaml"), "listeners: []\n");
        assertThat(gateway("run", "--config", file.toString())).isEqualTo(1);
        assertThat(gateway("demo", "--config", file.toString())).isEqualTo(1);
        assertThat(gateway("print-config", file.toString())).isEqualTo(1);
        assertThat(out.toString()).isEmpty();
        assertThat(err.toString().lines().filter(line -> !line.contains("warning:")))
                .hasSize(3)
                .allMatch(line -> line.contains(":1:12: listeners needs"));
    }

    @Test
    void aPortThatIsTakenIsSaidInOneLineAndTheExitCodeIsThree(@TempDir Path directory) throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            Path file = Files.writeString(
                    directory.resolve("gateway.yaml"),
                    "listeners: [{name: web, address: 127.0.0.1, port: " + taken.getLocalPort()
                            + ", protocol: HTTP}]\nroutes: [{rules: [{filters: [{type: DirectResponse, directResponse:"
                            + " {}}]}]}]\n");
            assertThat(gateway("run", "--config", file.toString())).isEqualTo(3);
            assertThat(err.toString().lines()).hasSize(1).allMatch(line -> line.startsWith("cannot start: "));
            assertThat(err.toString()).contains(String.valueOf(taken.getLocalPort()));
        }
    }

    @Test
    void whatIsPrintedCanBeLoadedAgain(@TempDir Path directory) throws IOException {
        assertThat(gateway("print-config", QUICKSTART)).isZero();
        Path copy = Files.writeString(directory.resolve("copy.yaml"), out.toString());
        assertThat(gateway("validate", copy.toString())).isZero();
    }

    @Test
    void theSchemaIsJson() {
        assertThat(gateway("schema")).isZero();
        assertThat(out.toString()).startsWith("{").contains("https://json-schema.org/draft/2020-12/schema");
    }

    @Test
    void theVersionSaysWhatItRunsOn() {
        assertThat(gateway("version")).isZero();
        assertThat(out.toString()).startsWith("gateway ").contains("netty 4.").contains("java ");
    }

    @Test
    void aWrongCommandLineIsExitCodeTwo() {
        assertThat(gateway()).isEqualTo(2);
        assertThat(gateway("serve")).isEqualTo(2);
        assertThat(gateway("run")).isEqualTo(2);
        assertThat(gateway("run", "--config")).isEqualTo(2);
        assertThat(gateway("validate", QUICKSTART, "--colour")).isEqualTo(2);
        assertThat(out.toString()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"run", "demo", "validate", "print-config", "schema", "version"})
    void everyCommandExplainsItselfWithAnExample(String command) {
        assertThat(gateway(command, "--help")).isZero();
        assertThat(out.toString())
                .contains("Usage: gateway " + command)
                .contains("Example")
                .contains("  gateway " + command);
    }
}
