package dev.gateway.overload.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.memory.DirectMemory.Supply;
import org.junit.jupiter.api.Test;

/** What is ample, scarce and a reserve, in a small process and in a large one. */
class DirectMemoryTest {
    private static final long MIB = 1 << 20;

    @Test
    void aSmallProcessIsDividedIntoParts() {
        assertThat(DirectMemory.supply(6 * MIB, 24 * MIB)).isEqualTo(Supply.AMPLE);
        assertThat(DirectMemory.supply(6 * MIB + 1, 24 * MIB)).isEqualTo(Supply.MODERATE);
        assertThat(DirectMemory.supply(12 * MIB + 1, 24 * MIB)).isEqualTo(Supply.SCARCE);
        assertThat(DirectMemory.supply(21 * MIB + 1, 24 * MIB)).isEqualTo(Supply.RESERVE);
    }

    @Test
    void whatIsAmpleDoesNotGrowWithoutBound() {
        assertThat(DirectMemory.supply(64 * MIB, 8192 * MIB)).isEqualTo(Supply.AMPLE);
        assertThat(DirectMemory.supply(64 * MIB + 1, 8192 * MIB)).isEqualTo(Supply.MODERATE);
    }

    @Test
    void whatIsTakenAndGivenBackIsCounted() {
        assertThat(DirectMemory.used()).isNotNegative().isLessThanOrEqualTo(DirectMemory.max());
        assertThat(DirectMemory.counter()).isNotNull();
    }
}
