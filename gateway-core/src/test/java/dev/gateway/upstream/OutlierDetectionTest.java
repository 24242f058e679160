package dev.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.upstream.OutlierDetection.Counts;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which answers count is tested with {@link HealthTest}. */
class OutlierDetectionTest {
    @ParameterizedTest
    @CsvSource({
        "10, 0, 0",
        "0, 50, 0",
        "1, 1, 1",
        "2, 50, 1",
        "3, 50, 2",
        "10, 10, 1",
        "11, 10, 2",
        "100, 34, 34",
        "101, 34, 35",
        "7, 100, 7",
        "50000000, 100, 50000000",
    })
    void theShareThatMayBeEjectedIsRoundedUp(int endpoints, int percent, int most) {
        assertThat(new OutlierDetection(Counts.ABSENCE, 1, 1, 1, percent).most(endpoints))
                .isEqualTo(most);
    }
}
