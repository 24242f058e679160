package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How numbers look in a narrow terminal. */
class TopUnitsTest {
    @ParameterizedTest
    @CsvSource({"0, 0.0", "0.04, 0.0", "99.94, 99.9", "100, 100", "123456.7, 123457"})
    void smallNumbersHaveADecimal(double value, String text) {
        assertThat(TopUnits.decimal(value)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 B",
        "1023, 1023 B",
        "1024, 1.0 KiB",
        "102400, 100 KiB",
        "1048575, 1024 KiB",
        "1048576, 1.0 MiB",
        "5368709120, 5.0 GiB",
        "1099511627776, 1.0 TiB",
        "2251799813685248, 2048 TiB"
    })
    void sizesHaveThreeDigitsAndAUnit(double bytes, String text) {
        assertThat(TopUnits.bytes(bytes)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"0, -", "-1, -", "0.00025, 250 µs", "0.001, 1.0 ms", "0.9994, 999.4 ms", "1, 1.0 s", "75.25, 75.3 s"})
    void timesAreInTheUnitThatSuits(double seconds, String text) {
        assertThat(TopUnits.time(seconds)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "0.9, 0s",
        "59.9, 59s",
        "60, 1m0s",
        "3599, 59m59s",
        "3600, 1h0m",
        "86399, 23h59m",
        "86400, 1d0h",
        "190000, 2d4h"
    })
    void durationsHaveTwoUnitsAtMost(double seconds, String text) {
        assertThat(TopUnits.duration(seconds)).isEqualTo(text);
    }
}
