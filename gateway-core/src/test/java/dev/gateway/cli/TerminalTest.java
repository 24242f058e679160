package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TerminalTest {
    @ParameterizedTest
    @CsvSource({"'50 132\n', 50, 132", "24 80, 24, 80", "1 1, 2, 2"})
    void theAnswerOfSttyIsUnderstood(String answer, int rows, int columns) {
        assertThat(Terminal.Size.parse(answer)).isEqualTo(new Terminal.Size(rows, columns));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "0 0\n", "24 0\n", "24\n", "stty: standard input: Inappropriate ioctl\n", "-1 80", "99999 80"
            })
    void whatSttyDoesNotKnowIsNoSize(String answer) {
        assertThat(Terminal.Size.parse(answer)).isNull();
    }

    @Test
    void theEnvironmentSaysItWhereItCan() {
        assertThat(Terminal.Size.of(Map.of("LINES", "50", "COLUMNS", "132"))).isEqualTo(new Terminal.Size(50, 132));
        assertThat(Terminal.Size.of(Map.of("COLUMNS", "200"))).isEqualTo(new Terminal.Size(24, 200));
        assertThat(Terminal.Size.of(Map.of("LINES", "many", "COLUMNS", "9"))).isEqualTo(new Terminal.Size(24, 80));
        assertThat(Terminal.Size.of(Map.of())).isEqualTo(new Terminal.Size(24, 80));
    }
}
