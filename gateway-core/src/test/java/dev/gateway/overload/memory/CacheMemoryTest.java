package dev.gateway.overload.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What caches may hold of the heap for clients. */
class CacheMemoryTest {
    private static final long CAPACITY = 1 << 20;

    private final MemoryBudget budget = new MemoryBudget(CAPACITY, 1);
    private final CacheMemory caches = new CacheMemory(budget);

    @Test
    void allCachesTogetherGetAnEighthOfTheBudget() {
        assertThat(caches.tryCharge(CAPACITY / 8)).isTrue();
        assertThat(caches.tryCharge(1)).isFalse();
        assertThat(budget.granted()).isEqualTo(CAPACITY / 8);
        caches.release(1);
        assertThat(caches.tryCharge(1)).isTrue();
        assertThat(caches.held()).isEqualTo(CAPACITY / 8);
        caches.release(CAPACITY / 8);
        assertThat(budget.granted()).isZero();
    }

    @Test
    void cachesTakeASixteenthOfTheBudgetWhateverClientsHold() {
        budget.grant(CAPACITY / 2);
        assertThat(caches.tryCharge(CAPACITY / 16 + 1)).isFalse();
        assertThat(caches.tryCharge(CAPACITY / 16)).isTrue();
        assertThat(caches.tryCharge(1)).isFalse();
        budget.grant(CAPACITY / 4);
        assertThat(caches.isShort()).isFalse();
    }

    @Test
    void beyondThatHalfOfTheBudgetIsForClients() {
        assertThat(caches.tryCharge(CAPACITY / 16)).isTrue();
        budget.grant(CAPACITY / 2 - CAPACITY / 16 - 10);
        assertThat(caches.tryCharge(11)).isFalse();
        assertThat(caches.tryCharge(10)).isTrue();
        caches.release(11);
        assertThat(caches.tryCharge(12)).isFalse();
        assertThat(caches.tryChargeAgain(11)).isTrue();
        assertThat(caches.isShort()).isFalse();
        budget.grant(CAPACITY / 4);
        assertThat(caches.isShort()).isFalse();
        budget.grant(1);
        assertThat(caches.isShort()).isTrue();
    }
}
