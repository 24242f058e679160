package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.Gateway;
import dev.gateway.config.GatewayConfig;
import dev.gateway.testing.JarMaker;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
    void allPortsThatAreTakenAreNamedAtOnce(@TempDir Path directory) throws IOException {
        try (ServerSocket first = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
                ServerSocket second = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
                ServerSocket admin = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            Path file = Files.writeString(
                    directory.resolve("gateway.yaml"),
                    """
                    listeners:
                      - {name: one, address: 127.0.0.1, port: %d, protocol: HTTP}
                      - {name: two, address: 127.0.0.1, port: %d, protocol: HTTP}
                    routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                    admin: {address: 127.0.0.1, port: %d}
                    """
                            .formatted(first.getLocalPort(), second.getLocalPort(), admin.getLocalPort()));
            assertThat(gateway("run", "--config", file.toString())).isEqualTo(3);
            assertThat(err.toString().lines())
                    .singleElement()
                    .asString()
                    .contains(
                            ":2:5: listener one cannot be bound to 127.0.0.1:" + first.getLocalPort(),
                            ":3:5: listener two cannot be bound to 127.0.0.1:" + second.getLocalPort(),
                            "127.0.0.1:" + admin.getLocalPort(),
                            "Address already in use")
                    .doesNotContain("failed with error");
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
    void commandsKnowTheFiltersOfPlugins(@TempDir Path directory) throws IOException {
        JarMaker.plugin(
                Files.createDirectory(directory.resolve("plugins")).resolve("greet.jar"),
                "Greet",
                """
                public class Greet implements dev.gateway.filter.FilterPlugin {
                    static {
                        String ran = System.getProperty("greet.ran");
                        try {
                            if (ran != null) java.nio.file.Files.createFile(java.nio.file.Path.of(ran));
                        } catch (java.io.IOException e) {
                            throw new IllegalStateException(e);
                        }
                    }
                    public String type() { return "Greet"; }
                    public String description() { return "Greets the client."; }
                    public dev.gateway.filter.Filter create(dev.gateway.plugin.Settings s) {
                        return new dev.gateway.filter.Filter() {};
                    }
                }
                """);
        String file = Files.writeString(
                        directory.resolve("gateway.yaml"),
                        """
                        listeners: [{name: web, port: 0, protocol: HTTP}]
                        routes: [{rules: [{filters: [{type: Greet, greet: {}}, {type: DirectResponse, directResponse: {}}]}]}]
                        admin: {port: 1}
                        """)
                .toString();
        String plugins = directory.resolve("plugins").toString();
        Path ran = directory.resolve("ran");
        System.setProperty("greet.ran", ran.toString());
        try {
            assertThat(gateway("validate", file)).isEqualTo(4);
            assertThat(err.toString())
                    .contains(":2:37: warning: type: the gateway has no filter 'Greet'", "--plugins DIR");
            assertThat(gateway("explain", "--config", file, "--host", "localhost"))
                    .isEqualTo(4);
            assertThat(out.toString()).contains("Greet (of a plugin, which is not loaded)");
            assertThat(gateway("print-config", file)).isEqualTo(4);
            assertThat(out.toString()).containsPattern("- type: Greet\\s+greet: \\{\\}");
            err.getBuffer().setLength(0);
            for (String[] command : new String[][] {{"stats"}, {"top", "--once"}}) {
                String name = command[0];
                String[] asked = Stream.concat(Stream.of(command), Stream.of("--config", file))
                        .toArray(String[]::new);
                assertThat(gateway(asked)).as(name).isEqualTo(1); // no gateway is there
                assertThat(err.toString()).doesNotContain("Greet");
                assertThat(gateway(name, "--config", file, "--plugins", plugins))
                        .as(name)
                        .isEqualTo(2);
            }
            assertThat(ran).doesNotExist();
            assertThat(gateway("validate", "--plugins", plugins, file))
                    .as(err.toString())
                    .isZero();
            assertThat(ran).exists();
        } finally {
            System.clearProperty("greet.ran");
        }
        assertThat(gateway("explain", "--config", file, "--plugins", plugins, "--host", "localhost"))
                .as(err.toString())
                .isZero();
        assertThat(gateway("print-config", "--plugins", plugins, file)).isZero();
        assertThat(gateway("schema", "--plugins", directory.resolve("plugins").toString()))
                .isZero();
        assertThat(out.toString()).contains("type: Greet", "Greets the client.");
        assertThat(gateway("validate", "--plugins", directory.toString(), file)).isEqualTo(1);
        assertThat(err.toString()).contains("unknown value 'Greet'");
        assertThat(gateway("schema", "--plugins", file)).isEqualTo(1);
        assertThat(err.toString()).contains("cannot be read as a directory of plugins");
    }

    /** Where no jar lies, a type that the gateway does not have is a mistake. */
    @Test
    void anUnknownFilterIsAnErrorUnlessThereIsAPlugin(@TempDir Path directory) throws IOException {
        String file = Files.writeString(
                        directory.resolve("gateway.yaml"),
                        """
                        listeners: [{name: web, port: 0, protocol: HTTP}]
                        routes: [{rules: [{filters: [{type: CROS, cros: {allowOrigins: ["*"]}}]}]}]
                        """)
                .toString();
        Path plugins = Files.createDirectory(directory.resolve("plugins"));
        assertThat(gateway("validate", file)).isEqualTo(1);
        assertThat(err.toString()).contains("unknown value 'CROS': did you mean 'CORS'?");
        err.getBuffer().setLength(0);
        Files.createFile(plugins.resolve("greet.jar"));
        assertThat(gateway("validate", file)).isEqualTo(4);
        assertThat(err.toString()).contains("warning: type: the gateway has no filter 'CROS'", "did you mean 'CORS'?");
        assertThat(out.toString()).contains("is valid, except for what was not checked");
        assertThat(gateway("validate", "--plugins", plugins.toString(), file)).isEqualTo(1);
        assertThat(gateway("run", "--config", file)).isEqualTo(1);
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
        assertThat(gateway("validate", QUICKSTART, "--color")).isEqualTo(2);
        assertThat(gateway("nonsense", "--help")).isEqualTo(2);
        assertThat(gateway("validate", QUICKSTART, "-c", QUICKSTART)).isEqualTo(2);
        assertThat(gateway("demo", "--upstream-port", "99999")).isEqualTo(2);
        assertThat(out.toString()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "rn|Unmatched argument at index 0: 'rn'|run",
                "serve|Unmatched argument at index 0: 'serve'|",
                "foo|Unmatched argument at index 0: 'foo'|",
                "tpo|Unmatched argument at index 0: 'tpo'|top",
                "top -x|Unknown option: '-x'|",
                "hepl|Unmatched argument at index 0: 'hepl'|help",
                "nonsense --help|Unmatched argument at index 0: 'nonsense'|",
                "run --confg x|Unknown option: '--confg'|--config",
                "top --onse|Unknown option: '--onse'|--once"
            })
    void aMistakeIsToldInThreeLinesAtMost(String commandLine, String message, @Nullable String meant) {
        assertThat(gateway(commandLine.split(" "))).isEqualTo(2);
        List<String> lines = err.toString().lines().toList();
        assertThat(lines).hasSize(meant == null ? 2 : 3);
        assertThat(lines.get(0)).isEqualTo(message);
        if (meant != null) {
            assertThat(lines.get(1)).isEqualTo("Did you mean '" + meant + "'?");
        }
        assertThat(lines.get(lines.size() - 1)).startsWith("Try 'gateway").endsWith(" --help'.");
    }

    @Test
    void theFileMayBeWrittenWithAndWithoutTheOption() {
        assertThat(gateway("validate", "--config", QUICKSTART)).isZero();
        assertThat(gateway("print-config", "-c", QUICKSTART)).isZero();
        assertThat(Main.plain(new String[] {"run", "gateway.yaml", "--log-format", "json"}))
                .isNotNull();
        assertThat(Main.plain(new String[] {"run", "gateway.yaml", "-c", "gateway.yaml"}))
                .isNull();
    }

    @Test
    void helpTellsOfACommand() {
        assertThat(gateway("help", "run")).isZero();
        assertThat(out.toString()).contains("Usage: gateway run").contains("--log-format");
    }

    @Test
    void shellsCanCompleteWhatIsTyped() {
        assertThat(gateway("generate-completion")).isZero();
        assertThat(out.toString()).contains("complete ").contains("print-config");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "run",
                "demo",
                "healthcheck",
                "validate",
                "print-config",
                "schema",
                "version",
                "stats",
                "top",
                "explain",
                "reload",
                "drain",
                "undrain"
            })
    void everyCommandExplainsItselfWithAnExample(String command) {
        assertThat(gateway(command, "--help")).isZero();
        assertThat(out.toString())
                .contains("Usage: gateway " + command)
                .contains("Example")
                .contains("  gateway " + command);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "run --config gateway.yaml",
                "run -c gateway.yaml --log-level WARN",
                "run --log-level debug --config gateway.yaml",
                "healthcheck",
                "healthcheck --url http://127.0.0.1:9902/live"
            })
    void plainCommandsStartWithoutTheCommandLineParser(String commandLine) {
        assertThat(Main.plain(commandLine.split(" "))).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "run",
                "run --config",
                "run --config --help",
                "run --config=gateway.yaml",
                "run -c gateway.yaml --log-level loud",
                "run -c gateway.yaml --help",
                "healthcheck --help",
                "healthcheck --url",
                "validate gateway.yaml",
                "--help"
            })
    void whatIsNotPlainIsLeftToTheCommandLineParser(String commandLine) {
        assertThat(Main.plain(commandLine.split(" "))).isNull();
    }

    @Test
    void aHealthCheckTellsWhetherAGatewayIsReady(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(
                directory.resolve("gateway.yaml"),
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                admin: {port: 0}
                accessLog: {format: "off"}
                """);
        GatewayConfig config = Objects.requireNonNull(CommandSupport.load(file, null, new PrintWriter(err, true)));
        String url;
        try (Gateway gateway = Gateway.start(config)) {
            url = gateway.adminUrl();
            assertThat(gateway("healthcheck", "--url", url + "ready")).isZero();
            assertThat(gateway("healthcheck", "--url", url + "nowhere")).isEqualTo(1);
            assertThat(err.toString()).contains("nowhere: 404 ");
        }
        assertThat(gateway("healthcheck", "--url", url + "ready")).isEqualTo(1);
        assertThat(gateway("healthcheck", "--url", "ftp://here/")).isEqualTo(1);
        assertThat(out.toString()).isEmpty();
    }
}
