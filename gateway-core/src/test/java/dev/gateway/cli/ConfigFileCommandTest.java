package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.gateway.runtime.plugins.PluginSource;
import dev.gateway.testing.JarMaker;
import dev.gateway.testing.LoggedLines;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@link ConfigFileCommand}: what {@link ValidateCommand}, {@link PrintConfigCommand} and {@link ExplainCommand} say of a
 * file. {@link SchemaCommand} and {@link VersionCommand} need none.
 */
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class ConfigFileCommandTest {
    private static final String GOOD =
            """
            listeners: [{name: web, port: 8080, protocol: HTTP}]
            routes: [{rules: [{name: everything, backendRefs: [{name: app}]}]}]
            upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]
            """;

    @TempDir
    Path directory;

    private final CommandRun run = new CommandRun();

    private String config(String yaml) throws IOException {
        return Files.writeString(directory.resolve("gateway.yaml"), yaml).toString();
    }

    @Test
    void aRuleMayHaveAName() throws Exception {
        String file = config(GOOD);
        assertThat(run.gateway("validate", file)).isZero();
        assertThat(run.out()).isEqualTo(file + " is valid" + System.lineSeparator());
        assertThat(run.err()).isEmpty();
    }

    @Test
    void aDirectoryMayStandForAFile() throws Exception {
        Files.writeString(
                directory.resolve("a.yaml"), GOOD.lines().findFirst().orElseThrow() + "\nadmin: {port: 9911}\n");
        Path routes = Files.writeString(
                directory.resolve("b.yaml"), GOOD.lines().skip(1).collect(Collectors.joining("\n")));
        assertThat(run.gateway("validate", directory.toString())).isZero();
        assertThat(run.out()).isEqualTo(directory + " is valid" + System.lineSeparator());
        assertThat(run.gateway("print-config", directory.toString())).isZero();
        assertThat(run.out()).contains("name: everything").contains("port: 9911");
        assertThat(run.gateway("explain", "--config", directory.toString())).isZero();
        assertThat(run.out()).contains(routes + ":1:");
        assertThat(run.err()).isEmpty();
    }

    @Test
    void theCauseOfAMistakeIsSaidAloneNotWhatFollowsFromIt() throws Exception {
        String file = config(
                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes: [{rules: [{backendRefs: [{name: app}, {name: other}]}]}]
                upstream: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]
                """);
        assertThat(run.gateway("validate", file)).isEqualTo(1);
        assertThat(run.err().lines())
                .containsExactly(file + ":3:1: unknown key 'upstream' in a configuration: did you mean 'upstreams'?");
        assertThat(run.out()).isEmpty();
    }

    @Test
    void aFileThatDecidesWhoMayDoWhatMustNotBeWritableForAll() throws Exception {
        Path token = Files.writeString(directory.resolve("token"), "0123456789abcdef0123456789abcdef\n");
        String file = config(
                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                admin: {tokenFile: token}
                """);
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(run.gateway("validate", file)).isZero();
        assertThat(run.err()).isEmpty();
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertThat(run.gateway("validate", file)).isZero();
        assertThat(run.err())
                .contains(":3:20: warning: tokenFile: every user of this machine may write " + token)
                .doesNotContain("0123456789abcdef");
    }

    @Test
    void aFilterOfAPluginThatIsNotThereIsExplained() throws Exception {
        String file = config(
                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: AddGreeting}, {type: DirectResponse, directResponse: {}}]}]}]
                """);
        assertThat(run.gateway("validate", file)).isEqualTo(1);
        assertThat(run.err().lines())
                .containsExactly(file + ":2:37: type: unknown value 'AddGreeting': the gateway has no such filter, and"
                        + " there are no plugins: " + directory.resolve("plugins") + " is no directory");
    }

    /** Lines of a log between the mistakes would look like some of them. */
    @ParameterizedTest
    @ValueSource(strings = {"validate", "print-config", "explain"})
    void pluginsThatLoadAreNotLogged(String command) throws Exception {
        Path plugins = Files.createDirectory(directory.resolve("plugins"));
        JarMaker.plugin(
                plugins.resolve("greet.jar"),
                "Greet",
                """
                public class Greet implements dev.gateway.filter.FilterPlugin {
                    public String type() { return "Greet"; }
                    public String description() { return "Greets the client."; }
                    public dev.gateway.filter.Filter create(dev.gateway.plugin.Settings s) {
                        return new dev.gateway.filter.Filter() {};
                    }
                }
                """);
        String file = config(GOOD.replace("backendRefs", "filters: [{type: Greet, greet: {}}], backendRefs"));
        try (LoggedLines log =
                LoggedLines.of("dev.gateway.runtime.plugins").unseen().from(Level.DEBUG)) {
            assertThat(run.gateway(command, "--config", file, "--plugins", plugins.toString()))
                    .as(run.err())
                    .isZero();
            assertThat(PluginSource.awaitClosed(10_000)).isTrue();
            assertThat(log.all()).isNotEmpty().allMatch(line -> line.getLevel() == Level.DEBUG);
        }
        assertThat(run.err()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"validate", "print-config"})
    void withoutAFileThereIsNothingToDo(String command) {
        assertThat(run.gateway(command)).isEqualTo(2);
        assertThat(run.err().lines()).containsExactly("no configuration file: write 'gateway " + command + " FILE'");
        assertThat(run.out()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"validate", "print-config", "explain --config"})
    void aFileThatIsNotThereIsNamed(String command) {
        String file = directory.resolve("nowhere.yaml").toString();
        assertThat(run.gateway((command + " " + file).split(" "))).isEqualTo(1);
        assertThat(run.err().lines()).singleElement().asString().contains("there is no file", file);
    }

    @Test
    void defaultsArePrintedAndSecretsAreNot() throws Exception {
        String file = config(GOOD.replace(
                "backendRefs: [{name: app}]",
                "filters: [{type: RequestHeaderModifier, requestHeaderModifier:"
                        + " {set: [{name: authorization, value: open-sesame}]}}], backendRefs: [{name: app}]"));
        assertThat(run.gateway("print-config", file)).as(run.err()).isZero();
        assertThat(run.out())
                .contains("name: everything", "maxConnections:", "name: authorization")
                .doesNotContain("open-sesame");
    }

    @Test
    void aQuestionThatCannotBeMeantIsAnErrorOfTheCommandLine() throws Exception {
        String file = config(GOOD);
        assertThat(run.gateway("explain", "--config", file, "--path", "nowhere"))
                .isEqualTo(2);
        assertThat(run.err()).contains("path: expected a path");
        assertThat(run.gateway("explain", "--config", file, "--header", "no colon"))
                .isEqualTo(2);
        assertThat(run.gateway("explain", "--config", file, "--listener", "none"))
                .isEqualTo(2);
        assertThat(run.out()).isEmpty();
    }

    @Test
    void onlyTheListenerThatWasAskedForIsExplained() throws Exception {
        String file =
                config(GOOD.replace("protocol: HTTP}]", "protocol: HTTP}, {name: other, port: 8081, protocol: HTTP}]"));
        assertThat(run.gateway("explain", "--config", file, "--listener", "other", "--path", "/a"))
                .isZero();
        assertThat(run.out()).contains("listener other (").doesNotContain("listener web (");
    }

    @Test
    void schemaAndVersionNeedNoFile() {
        assertThat(run.gateway("schema", "gateway.yaml")).isEqualTo(2);
        assertThat(run.gateway("version", "gateway.yaml")).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.gateway("version")).isZero();
        assertThat(run.out().lines()).containsExactly(new VersionCommand().getVersion());
        assertThat(run.out().lines().toList()).hasSize(4).satisfies(lines -> assertThat(lines.get(3))
                .isEqualTo(System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch")));
        CommandRun option = new CommandRun();
        assertThat(option.gateway("--version")).isZero();
        assertThat(option.out()).isEqualTo(run.out());
    }
}
