package dev.gateway.overload;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What requests that wait for an upstream may hold together. */
class PortionTest {
    private static final long CAPACITY = 1024 * 1024;
    private static final long EACH = 4096;

    private final LoopBudget budget = new MemoryBudget(CAPACITY, 1).newLoop();
    private final LoopGate gate = new LoopGate(new Overload(), budget, null);
    private final List<Holding> holdings = new ArrayList<>();

    @AfterEach
    void nothingIsHeldAnyMore() {
        holdings.forEach(Holding::release);
        assertThat(budget.held()).isZero();
    }

    private boolean admit(Portion portion) {
        Holding holding = new Holding(budget.newAccount());
        holdings.add(holding);
        if (!holding.tryAdd(EACH) || !gate.admits(portion, holding.bytes())) {
            holding.release();
            return false;
        }
        holding.waitFor(portion);
        return true;
    }

    private long fill(Portion portion) {
        while (admit(portion)) {
            assertThat(portion.held()).isLessThanOrEqualTo(CAPACITY);
        }
        return portion.held();
    }

    @Test
    void oneUpstreamTakesHalfAndLeavesTheOtherHalf() {
        assertThat(fill(new Portion())).isBetween(CAPACITY * 2 / 5, CAPACITY * 6 / 10);
    }

    @Test
    void severalUpstreamsThatHangLeaveAsMuchAsEachOfThemHolds() {
        Portion first = new Portion();
        Portion second = new Portion();
        boolean admitted = true;
        while (admitted) {
            assertThat(budget.left()).isPositive();
            admitted = admit(first);
            admitted |= admit(second);
        }
        assertThat(first.held()).isBetween(CAPACITY / 4, CAPACITY * 2 / 5);
        assertThat(second.held()).isBetween(CAPACITY / 4, CAPACITY * 2 / 5);
        assertThat(admit(new Portion())).isTrue();
    }

    @Test
    void whileMemoryIsScarceForOtherReasonsAnUpstreamMayHoldAsMuchAsIsLeft() {
        Account clients = budget.newAccount();
        clients.charge(CAPACITY * 3 / 4);
        assertThat(fill(new Portion())).isBetween(CAPACITY / 10, CAPACITY / 7);
        clients.release(CAPACITY * 3 / 4);
    }

    @Test
    void whatIsAddedAndRemovedWhileItIsWaitedForCountsToo() {
        Portion portion = new Portion();
        Holding holding = new Holding(budget.newAccount());
        holding.tryAdd(EACH);
        holding.waitFor(portion);
        holding.tryAdd(1000);
        assertThat(portion.held()).isEqualTo(EACH + 1000);
        holding.remove(500);
        assertThat(portion.held()).isEqualTo(EACH + 500);
        holding.tryGrowTo(EACH + 700);
        assertThat(portion.held()).isEqualTo(EACH + 700);
        holding.waitsNoMore();
        assertThat(portion.held()).isZero();
        assertThat(holding.bytes()).isEqualTo(EACH + 700);
        holding.remove(100);
        holding.release();
        holding.release();
        assertThat(portion.held()).isZero();
    }

    @Test
    void theEndOfWaitingIsCountedOnce() {
        Portion portion = new Portion();
        Holding holding = new Holding(budget.newAccount());
        holding.tryAdd(EACH);
        holding.waitFor(portion);
        holding.release();
        assertThat(portion.held()).isZero();
        Portion next = new Portion();
        holding.tryAdd(EACH);
        holding.waitFor(portion);
        holding.waitFor(next);
        assertThat(portion.held()).isZero();
        assertThat(next.held()).isEqualTo(EACH);
        holding.release();
        assertThat(next.held()).isZero();
    }

    @Test
    void aGateThatCountsNothingAdmitsEverything() {
        Portion portion = new Portion();
        portion.add(Long.MAX_VALUE / 2);
        assertThat(LoopGate.OPEN.admits(portion, 1 << 30)).isTrue();
    }
}
