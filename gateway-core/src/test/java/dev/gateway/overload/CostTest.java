package dev.gateway.overload;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CostTest {
    private static final long MIB = 1024 * 1024;

    @ParameterizedTest
    @CsvSource({"0, 2", "10, 2", "14, 2", "16, 3", "64, 27", "1034, 512"})
    void clientsHaveHalfOfTheHeapBeyondWhatTheGatewayNeedsAndTwoMebibytesAtLeast(long heap, long budget) {
        assertThat(Cost.budget(heap * MIB)).isEqualTo(budget * MIB);
    }
}
