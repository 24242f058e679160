package dev.gateway.overload.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What requests that wait for an upstream may hold together. */
class PendingRequestMemoryTest {
    private static final long CAPACITY = 1024 * 1024;
    private static final long EACH = 4096;

    private final LoopBudget budget = new LoopBudget(new MemoryBudget(CAPACITY, 1));
    private final LoopGate gate = new LoopGate(new Overload(), budget, null);
    private final List<Holding> holdings = new ArrayList<>();

    @AfterEach
    void nothingIsHeldAnyMore() {
        holdings.forEach(Holding::release);
        assertThat(budget.held()).isZero();
    }

    private boolean admit(PendingRequestMemory pending) {
        Holding holding = new Holding(new Account(budget));
        holdings.add(holding);
        if (!holding.tryAdd(EACH) || !gate.admits(pending, holding.bytes())) {
            holding.release();
            return false;
        }
        holding.waitFor(pending);
        return true;
    }

    private long fill(PendingRequestMemory pending) {
        while (admit(pending)) {
            assertThat(pending.held()).isLessThanOrEqualTo(CAPACITY);
        }
        return pending.held();
    }

    @Test
    void oneUpstreamTakesHalfAndLeavesTheOtherHalf() {
        assertThat(fill(new PendingRequestMemory())).isBetween(CAPACITY * 2 / 5, CAPACITY * 6 / 10);
    }

    @Test
    void severalUpstreamsThatHangLeaveAsMuchAsEachOfThemHolds() {
        PendingRequestMemory first = new PendingRequestMemory();
        PendingRequestMemory second = new PendingRequestMemory();
        boolean admitted = true;
        while (admitted) {
            assertThat(budget.left()).isPositive();
            admitted = admit(first);
            admitted |= admit(second);
        }
        assertThat(first.held()).isBetween(CAPACITY / 4, CAPACITY * 2 / 5);
        assertThat(second.held()).isBetween(CAPACITY / 4, CAPACITY * 2 / 5);
        assertThat(admit(new PendingRequestMemory())).isTrue();
    }

    @Test
    void whileMemoryIsScarceForOtherReasonsAnUpstreamMayHoldAsMuchAsIsLeft() {
        Account clients = new Account(budget);
        clients.charge(CAPACITY * 3 / 4);
        assertThat(fill(new PendingRequestMemory())).isBetween(CAPACITY / 10, CAPACITY / 7);
        clients.release(CAPACITY * 3 / 4);
    }

    @Test
    void whatIsAddedAndRemovedWhileItIsWaitedForCountsToo() {
        PendingRequestMemory pending = new PendingRequestMemory();
        Holding holding = new Holding(new Account(budget));
        holding.tryAdd(EACH);
        holding.waitFor(pending);
        holding.tryAdd(1000);
        assertThat(pending.held()).isEqualTo(EACH + 1000);
        holding.remove(500);
        assertThat(pending.held()).isEqualTo(EACH + 500);
        holding.tryGrowTo(EACH + 700);
        assertThat(pending.held()).isEqualTo(EACH + 700);
        holding.waitsNoMore();
        assertThat(pending.held()).isZero();
        assertThat(holding.bytes()).isEqualTo(EACH + 700);
        holding.remove(100);
        holding.release();
        holding.release();
        assertThat(pending.held()).isZero();
    }

    @Test
    void theEndOfWaitingIsCountedOnce() {
        PendingRequestMemory pending = new PendingRequestMemory();
        Holding holding = new Holding(new Account(budget));
        holding.tryAdd(EACH);
        holding.waitFor(pending);
        holding.release();
        assertThat(pending.held()).isZero();
        PendingRequestMemory next = new PendingRequestMemory();
        holding.tryAdd(EACH);
        holding.waitFor(pending);
        holding.waitFor(next);
        assertThat(pending.held()).isZero();
        assertThat(next.held()).isEqualTo(EACH);
        holding.release();
        assertThat(next.held()).isZero();
    }

    @Test
    void aGateThatCountsNothingAdmitsEverything() {
        PendingRequestMemory pending = new PendingRequestMemory();
        pending.add(Long.MAX_VALUE / 2);
        assertThat(LoopGate.OPEN.admits(pending, 1 << 30)).isTrue();
    }
}
