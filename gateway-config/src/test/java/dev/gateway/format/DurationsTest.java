package dev.gateway.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
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
    @CsvSource(
            delimiter = '|',
            value = {
                "5000 | 5000ms 5000s",
                "600000 | 10m 166h40m",
                "999999999 | 277h46m39s999ms",
                "0 | 0s",
                "off | 0s",
                "1h30 | 1h30m",
                "1h30m15 | 1h30m15s",
                "30d | 720h",
                "1d12h | 36h",
                "2 weeks | 336h",
                "1min | 1m",
                "1.5 sec | 1s500ms",
                "30S | 30s",
                "250 msec | 250ms",
                "100000s | 27h46m40s"
            })
    void aHintIsADuration(String text, String meant) {
        List<String> texts = List.of(meant.split(" "));
        assertThat(Durations.hint(text)).isEqualTo(": did you mean '" + String.join("' or '", texts) + "'?");
        assertThat(texts).allSatisfy(each -> assertThat(Durations.parse(each)).isNotNull());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "soon", "250us", "0.5ms", "-5", "9999999999", "99999w", "1y", "5 m s"})
    void whatNobodyCanGuessHasNoHint(String text) {
        assertThat(Durations.hint(text)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "30", "s", "-1s", "1.5s", "1d", "1 s", "100000s", "1s1s1s1s1s"})
    void whatIsNoDurationIsNotRead(String text) {
        assertThat(Durations.parse(text)).isNull();
    }
}
