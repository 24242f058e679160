package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link RunCommand} and {@link PrepareCommand}: what is said if they cannot start. */
class RunCommandTest {
    private final CommandRun run = new CommandRun();

    @ParameterizedTest
    @ValueSource(strings = {"run /nowhere.yaml", "run --config /nowhere.yaml"})
    void aFileThatIsNotThereIsNamedWithoutAPosition(String commandLine) {
        assertThat(run.gateway(commandLine.split(" "))).isEqualTo(1);
        assertThat(run.err()).contains("there is no file").doesNotContain("/nowhere.yaml:1:1", "\tat ");
        assertThat(run.err().lines()).hasSize(1);
        assertThat(run.out()).isEmpty();
    }

    @Test
    void theFileHasToBeNamedOnce() {
        assertThat(run.gateway("run")).isEqualTo(2);
        assertThat(run.gateway("run", "a.yaml", "--config", "b.yaml")).isEqualTo(2);
        assertThat(run.err().lines())
                .containsExactly(
                        "no configuration file: write 'gateway run FILE'",
                        "two configuration files: write either FILE or --config FILE");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "run a.yaml --log-level loud|Invalid value for option '--log-level'",
                "run a.yaml --log-format xml|Invalid value for option '--log-format'",
                "run a.yaml b.yaml|Unmatched argument at index 2: 'b.yaml'",
                "run --config|Missing required parameter for option '--config' (FILE)"
            })
    void whatAnOptionCannotBeIsSaidInTwoLines(String commandLine, String message) {
        assertThat(run.gateway(commandLine.split(" "))).isEqualTo(2);
        assertThat(run.err().lines()).hasSize(2);
        assertThat(run.err().lines().findFirst().orElse("")).startsWith(message);
        assertThat(run.err()).endsWith("Try 'gateway run --help'." + System.lineSeparator());
    }

    /** Two files, an option twice with other words, or a value that looks like an option are left to the parser. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "run a.yaml b.yaml",
                "run a.yaml --log-format xml",
                "run a.yaml --log-level",
                "run a.yaml --plugin dir",
                "run --config -x"
            })
    void whatIsNotWrittenPlainlyIsNotGuessed(String commandLine) {
        assertThat(RunCommand.plain(commandLine.split(" "))).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "run a.yaml --plugins dir",
                "run --log-format json -c a.yaml",
                "run --log-format text --log-level Error a.yaml"
            })
    void optionsMayStandBeforeAndBehindTheFile(String commandLine) {
        assertThat(RunCommand.plain(commandLine.split(" "))).isNotNull();
    }

    @Test
    void aFileThatIsNotThereEndsThePlainCommandToo() {
        assertThat(Objects.requireNonNull(RunCommand.plain(new String[] {"run", "/nowhere.yaml"}))
                        .call())
                .isEqualTo(1);
    }

    @Test
    void preparingTakesNoArguments() {
        assertThat(PrepareCommand.plain(new String[] {"prepare"})).isNotNull();
        assertThat(PrepareCommand.plain(new String[] {"prepare", "--help"})).isNull();
        assertThat(run.gateway("prepare", "now")).isEqualTo(2);
        assertThat(run.err()).startsWith("Unmatched argument at index 1: 'now'");
    }
}
