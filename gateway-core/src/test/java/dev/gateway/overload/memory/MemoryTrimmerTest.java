package dev.gateway.overload.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MemoryTrimmerTest {
    private static final long MIB = 1 << 20;

    private int gathered;
    private int given;
    private boolean possible = true;
    private final MemoryTrimmer left = new MemoryTrimmer(() -> gathered++, () -> {
        assertThat(gathered).as("event loops let go first").isGreaterThan(given);
        given++;
        return possible;
    });

    private void review(int times, long used) {
        for (int i = 0; i < times; i++) {
            left.review(used);
        }
    }

    @Test
    void givesBackOnceWhenBuffersHaveTakenMuchLessForSomeSeconds() {
        review(10, 100 * MIB);
        review(MemoryTrimmer.CALM - 1, 5 * MIB);
        assertThat(gathered).isZero();
        review(1, 5 * MIB);
        assertThat(gathered).isOne();
        assertThat(given).isZero();
        review(1, 5 * MIB);
        assertThat(given).isOne();
        review(100, 5 * MIB);
        assertThat(given).isOne();
        review(1, 50 * MIB);
        review(100, 4 * MIB);
        assertThat(gathered).isEqualTo(2);
        assertThat(given).isEqualTo(2);
    }

    @Test
    void doesNothingWhileBuffersComeAndGo() {
        for (int i = 0; i < 100; i++) {
            review(1, 100 * MIB);
            review(MemoryTrimmer.CALM - 1, 5 * MIB);
        }
        review(100, 60 * MIB);
        assertThat(gathered).isZero();
        assertThat(given).isZero();
    }

    @Test
    void doesNothingForLittle() {
        review(1, 9 * MIB);
        review(100, 2 * MIB);
        assertThat(gathered).isZero();
        assertThat(given).isZero();
    }

    @Test
    void doesNotTryAgainWhereItCannotBeDone() {
        possible = false;
        for (int i = 0; i < 3; i++) {
            review(1, 100 * MIB);
            review(100, MIB);
        }
        assertThat(given).isOne();
    }
}
