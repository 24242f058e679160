package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TerminalSizeTest {
    @ParameterizedTest
    @CsvSource({"'50 132\n', 50, 132", "24 80, 24, 80", "1 1, 2, 2"})
    void theAnswerOfSttyIsUnderstood(String answer, int rows, int columns) {
        assertThat(TerminalSize.parse(answer)).isEqualTo(new TerminalSize(rows, columns));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "0 0\n", "24 0\n", "24\n", "stty: standard input: Inappropriate ioctl\n", "-1 80", "99999 80"
            })
    void whatSttyDoesNotKnowIsNoSize(String answer) {
        assertThat(TerminalSize.parse(answer)).isNull();
    }

    @Test
    void theEnvironmentSaysItWhereItCan() {
        assertThat(TerminalSize.of(Map.of("LINES", "50", "COLUMNS", "132"))).isEqualTo(new TerminalSize(50, 132));
        assertThat(TerminalSize.of(Map.of("COLUMNS", "200"))).isEqualTo(new TerminalSize(24, 200));
        assertThat(TerminalSize.of(Map.of("LINES", "many", "COLUMNS", "9"))).isEqualTo(new TerminalSize(24, 80));
        assertThat(TerminalSize.of(Map.of())).isEqualTo(new TerminalSize(24, 80));
    }
}
