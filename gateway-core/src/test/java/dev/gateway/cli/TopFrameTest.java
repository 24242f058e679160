package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How fast counters grow between two readings, and how numbers look in a narrow terminal. */
class TopFrameTest {
    private static JsonView reading(int millis, int count) {
        return JsonView.parse(
                """
                {"time": %1$d, "totals": {"requestsTotal": %2$d}, "causes": {"connect_failed": %2$d},
                 "listeners": [{"name": "web", "requests": {"total": %2$d}}, {"name": "n%2$d", "requests": {"total": 9}}],
                 "routes": [{"listener": "web", "route": "shop", "requests": %2$d},
                            {"listener": "other", "route": "shop", "requests": 7}],
                 "upstreams": [{"name": "app", "endpoints": [{"address": "a:1", "requests": %2$d}]}]}
                """
                        .formatted(millis, count));
    }

    private final JsonView now = reading(3_000, 30);
    private final TopFrame.Rates rates = new TopFrame.Rates(now, reading(1_000, 10));

    @Test
    void aRateIsTheGrowthOfASecond() {
        assertThat(rates.areKnown()).isTrue();
        assertThat(rates.ofTotal("totals", "requestsTotal")).isEqualTo(10);
        assertThat(rates.of(now.list("listeners").get(0), "listeners", "requests", "total"))
                .isEqualTo(10);
        JsonView upstream = now.list("upstreams").get(0);
        assertThat(rates.ofEndpoint(upstream, upstream.list("endpoints").get(0), "requests"))
                .isEqualTo(10);
        assertThat(rates.moreOfCause("connect_failed")).isEqualTo(20);
    }

    @Test
    void whatIsNewHasNoRateYet() {
        assertThat(rates.of(now.list("listeners").get(1), "listeners", "requests", "total"))
                .isZero();
        JsonView other = JsonView.parse("{\"name\": \"other\"}");
        assertThat(rates.ofEndpoint(other, other, "requests")).isZero();
    }

    @Test
    void aGatewayThatWasRestartedHasNoNegativeRates() {
        TopFrame.Rates restarted = new TopFrame.Rates(reading(3_000, 5), reading(1_000, 10));
        assertThat(restarted.ofTotal("totals", "requestsTotal")).isZero();
    }

    @Test
    void oneReadingAloneHasNoRates() {
        TopFrame.Rates alone = new TopFrame.Rates(now, null);
        assertThat(alone.areKnown()).isFalse();
        assertThat(alone.ofTotal("totals", "requestsTotal")).isZero();
        assertThat(alone.of(now.list("listeners").get(0), "listeners", "requests", "total"))
                .isZero();
        assertThat(alone.moreOfCause("connect_failed")).isZero();
    }

    @Test
    void twoReadingsOfOneMomentHaveNone() {
        TopFrame.Rates same = new TopFrame.Rates(reading(1_000, 30), reading(1_000, 10));
        assertThat(same.areKnown()).isFalse();
        assertThat(same.ofTotal("totals", "requestsTotal")).isZero();
    }

    @ParameterizedTest
    @CsvSource({"0, 0.0", "0.04, 0.0", "99.94, 99.9", "100, 100", "123456.7, 123457"})
    void smallNumbersHaveADecimal(double value, String text) {
        assertThat(TopFrame.decimal(value)).isEqualTo(text);
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
        assertThat(TopFrame.bytes(bytes)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"0, -", "-1, -", "0.00025, 250 µs", "0.001, 1.0 ms", "0.9994, 999.4 ms", "1, 1.0 s", "75.25, 75.3 s"})
    void timesAreInTheUnitThatSuits(double seconds, String text) {
        assertThat(TopFrame.time(seconds)).isEqualTo(text);
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
        assertThat(TopFrame.duration(seconds)).isEqualTo(text);
    }
}
