package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How fast counters grow between two readings. */
class TopRatesTest {
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
    private final TopRates rates = new TopRates(now, reading(1_000, 10));

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
        TopRates restarted = new TopRates(reading(3_000, 5), reading(1_000, 10));
        assertThat(restarted.ofTotal("totals", "requestsTotal")).isZero();
    }

    @Test
    void oneReadingAloneHasNoRates() {
        TopRates alone = new TopRates(now, null);
        assertThat(alone.areKnown()).isFalse();
        assertThat(alone.ofTotal("totals", "requestsTotal")).isZero();
        assertThat(alone.of(now.list("listeners").get(0), "listeners", "requests", "total"))
                .isZero();
        assertThat(alone.moreOfCause("connect_failed")).isZero();
    }

    @Test
    void twoReadingsOfOneMomentHaveNone() {
        TopRates same = new TopRates(reading(1_000, 30), reading(1_000, 10));
        assertThat(same.areKnown()).isFalse();
        assertThat(same.ofTotal("totals", "requestsTotal")).isZero();
    }
}
