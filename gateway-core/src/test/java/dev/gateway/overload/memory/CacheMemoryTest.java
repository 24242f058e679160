package dev.gateway.overload.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What caches may hold of the heap for clients. */
class CacheMemoryTest {
    private static final long CAPACITY = 1 << 20;

    private final MemoryBudget budget = new MemoryBudget(CAPACITY, 1);
    private final CacheMemory caches = new CacheMemory(budget);

    @Test
    void allCachesTogetherGetAQuarterOfTheBudget() {
        assertThat(caches.tryCharge(CAPACITY / 4)).isTrue();
        assertThat(caches.tryCharge(1)).isFalse();
        assertThat(budget.granted()).isEqualTo(CAPACITY / 4);
        caches.release(1);
        assertThat(caches.tryCharge(1)).isTrue();
        assertThat(caches.held()).isEqualTo(CAPACITY / 4);
        caches.release(CAPACITY / 4);
        assertThat(budget.granted()).isZero();
    }

    @Test
    void halfOfTheBudgetIsForClients() {
        budget.grant(CAPACITY / 2 - 10);
        assertThat(caches.tryCharge(11)).isFalse();
        assertThat(caches.tryCharge(10)).isTrue();
        assertThat(caches.isShort()).isFalse();
        budget.grant(CAPACITY / 4);
        assertThat(caches.isShort()).isFalse();
        budget.grant(1);
        assertThat(caches.isShort()).isTrue();
    }
}
