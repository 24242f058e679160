package dev.gateway.overload.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CostTest {
    private static final long MIB = 1024 * 1024;

    @ParameterizedTest
    @CsvSource({"0, 0, 2", "10, 10, 2", "14, 10, 2", "16, 12, 3", "64, 44, 27", "1034, 1034, 512"})
    void clientsHaveHalfOfTheHeapBeyondWhatTheGatewayNeedsAndTwoMebibytesAtLeast(long heap, long old, long budget) {
        assertThat(Cost.budget(heap * MIB, old * MIB)).isEqualTo(budget * MIB);
    }

    @ParameterizedTest
    @CsvSource({"24, 8, 2", "24, 16, 7", "64, 32, 19", "64, 16, 7"})
    void aLargeYoungGenerationLeavesThemLess(long heap, long old, long budget) {
        assertThat(Cost.budget(heap * MIB, old * MIB)).isEqualTo(budget * MIB);
    }
}
