package dev.gateway.overload.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class MemoryBudgetTest {
    private static final long CAPACITY = 1024 * 1024;

    private final MemoryBudget budget = new MemoryBudget(CAPACITY, 2);
    private final LoopBudget loop = new LoopBudget(budget);
    private final LoopBudget other = new LoopBudget(budget);

    @Test
    void loopsHoldTogetherWhatThereIsAndNoMore() {
        assertThat(loop.tryCharge(CAPACITY / 2)).isTrue();
        long held = CAPACITY / 2;
        while (other.tryCharge(1000)) {
            held += 1000;
        }
        assertThat(held).isLessThanOrEqualTo(CAPACITY).isGreaterThan(CAPACITY * 7 / 8);
        assertThat(loop.held() + other.held()).isEqualTo(held);
        assertThat(budget.granted()).isLessThanOrEqualTo(CAPACITY);
    }

    @Test
    void refusesMoreThanThereIsWithoutChargingAnything() {
        assertThat(loop.tryCharge(CAPACITY + 1)).isFalse();
        assertThat(loop.held()).isZero();
        assertThat(budget.granted()).isZero();
        assertThat(loop.tryCharge(CAPACITY)).isTrue();
        assertThat(loop.tryCharge(1)).isFalse();
    }

    @Test
    void givesBackWhatIsReleasedButALittleToKeepReady() {
        loop.tryCharge(CAPACITY);
        loop.release(CAPACITY);
        assertThat(loop.held()).isZero();
        assertThat(budget.granted()).isEqualTo(budget.step());
        assertThat(other.tryCharge(CAPACITY * 3 / 4)).isTrue();
    }

    @Test
    void asksOthersSeldomForWhatIsHeldShortly() {
        loop.tryCharge(1000);
        long granted = budget.granted();
        for (int i = 0; i < 1000; i++) {
            loop.tryCharge(10_000);
            loop.release(10_000);
        }
        assertThat(budget.granted()).isEqualTo(granted);
    }

    @Test
    void countsWhatCannotBeRefusedBeyondTheCapacity() {
        loop.tryCharge(CAPACITY);
        loop.charge(500);
        assertThat(loop.held()).isEqualTo(CAPACITY + 500);
        assertThat(loop.left()).isZero();
        loop.release(500);
        assertThat(loop.tryCharge(501)).isFalse();
        assertThat(loop.tryCharge(500)).isTrue();
    }

    @Test
    void losesNothingWhenLoopsAreBusyAtTheSameTime() {
        List<LoopBudget> loops = new ArrayList<>();
        List<CompletableFuture<Void>> done = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            LoopBudget each = new LoopBudget(budget);
            loops.add(each);
            done.add(CompletableFuture.runAsync(() -> chargeAndRelease(each)));
        }
        done.forEach(CompletableFuture::join);
        assertThat(loops).allMatch(each -> each.held() == 0);
        assertThat(budget.granted()).isBetween(0L, 4 * 2 * budget.step());
    }

    private static void chargeAndRelease(LoopBudget loop) {
        for (int i = 1; i < 20_000; i++) {
            long bytes = i % 97 * 3_001L;
            if (loop.tryCharge(bytes)) {
                loop.release(bytes);
            }
        }
    }

    @Test
    void aConnectionMayHoldAnOrdinaryRequestAsLongAsAnythingIsLeft() {
        loop.tryCharge(CAPACITY - Account.ORDINARY);
        Account account = new Account(loop);
        assertThat(account.tryCharge(Account.ORDINARY + 1)).isFalse();
        assertThat(account.tryCharge(Account.ORDINARY)).isTrue();
        assertThat(account.held()).isEqualTo(Account.ORDINARY);
    }

    @Test
    void aGreedyConnectionLeavesRoomForOthers() {
        Account greedy = new Account(loop);
        while (greedy.tryCharge(1000)) {
            assertThat(greedy.held()).isLessThan(CAPACITY / 2);
        }
        assertThat(new Account(other).tryCharge(100_000)).isTrue();
    }

    @Test
    void manyGreedyConnectionsLeaveAReserveForOrdinaryOnes() {
        List<Account> greedy = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Account each = new Account(loop);
            greedy.add(each);
            while (each.tryCharge(30_000)) {
                assertThat(each.held()).isLessThan(CAPACITY);
            }
        }
        assertThat(loop.left()).isGreaterThan(CAPACITY / 8);
        assertThat(new Account(other).tryCharge(Account.ORDINARY)).isTrue();
        greedy.forEach(each -> each.release(each.held()));
        assertThat(loop.held()).isZero();
    }

    @Test
    void anUnlimitedAccountIsNeverFull() {
        assertThat(Account.UNLIMITED.tryCharge(Long.MAX_VALUE)).isTrue();
        assertThat(Account.UNLIMITED.held()).isZero();
    }
}
