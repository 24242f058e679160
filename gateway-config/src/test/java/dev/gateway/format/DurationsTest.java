package dev.gateway.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {
    @ParameterizedTest
    @CsvSource({"30s,30000", "1m30s,90000", "500ms,500", "1h2m3s4ms,3723004", "0s,0"})
    void whatIsWrittenIsReadAndWrittenAgain(String text, long millis) {
        Duration duration = Durations.parse(text);
        assertThat(duration).isEqualTo(Duration.ofMillis(millis));
        assertThat(Durations.print(Duration.ofMillis(millis))).isEqualTo(text);
    }

    @Test
    void partsMayBeLargeAndInAnyOrder() {
        assertThat(Durations.parse("10ms90m")).isEqualTo(Duration.ofMinutes(90).plusMillis(10));
        assertThat(Durations.print(Duration.ofMinutes(90))).isEqualTo("1h30m");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "30", "s", "-1s", "1.5s", "1d", "1 s", "100000s", "1s1s1s1s1s"})
    void whatIsNoDurationIsNotRead(String text) {
        assertThat(Durations.parse(text)).isNull();
    }
}
