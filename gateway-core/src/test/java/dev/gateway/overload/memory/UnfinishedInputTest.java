package dev.gateway.overload.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What waits for its rest: it is charged, it has a share, and it may be cut. */
class UnfinishedInputTest {
    private static final long CAPACITY = 1024 * 1024;
    private static final int BLOCK = 16 * 1024;

    private final LoopBudget heap = new LoopBudget(new MemoryBudget(CAPACITY, 1));
    private final LoopBudget direct = new LoopBudget(new MemoryBudget(CAPACITY, 1));
    private final LoopGate gate = new LoopGate(new Overload(), heap, direct);
    private final List<UnfinishedInput> inputs = new ArrayList<>();
    private final List<String> cut = new ArrayList<>();

    @AfterEach
    void nothingIsCharged() {
        inputs.forEach(UnfinishedInput::release);
        assertThat(direct.held()).isZero();
        StalledPeers.ofThisLoop().cut(0, Long.MAX_VALUE, 0);
        assertThat(cut).doesNotContain("left");
    }

    private UnfinishedInput of(String client) {
        Account account = gate.newAccount();
        gate.admitClient(account, client);
        UnfinishedInput[] self = new UnfinishedInput[1];
        self[0] = new UnfinishedInput(account, "nobody", () -> {
            cut.add(self[0].held() > 0 ? client : "left");
            self[0].release();
        });
        inputs.add(self[0]);
        return self[0];
    }

    @Test
    void whatWaitsIsCharged() {
        UnfinishedInput input = of("one");
        assertThat(input.hold(BLOCK)).isTrue();
        assertThat(direct.held()).isEqualTo(BLOCK);
        assertThat(input.hold(BLOCK / 2)).isTrue();
        assertThat(direct.held()).isEqualTo(BLOCK / 2);
        input.release();
        assertThat(input.held()).isZero();
    }

    /** However many connections it has. */
    @Test
    void oneClientLeavesRoomForAnother() {
        int held = 0;
        while (of("greedy").hold(BLOCK)) {
            held++;
        }
        assertThat(held * BLOCK).isBetween((int) CAPACITY / 4, (int) CAPACITY / 2);
        for (int i = 0; i < 4; i++) {
            assertThat(of("other").hold(BLOCK)).isTrue();
        }
    }

    /** It is ended for what it adds, not for what it has. */
    @Test
    void aClientWithoutShareMayHoldLess() {
        UnfinishedInput input = of("greedy");
        assertThat(input.hold(CAPACITY)).isFalse();
        assertThat(input.hold(CAPACITY - 1)).isTrue();
    }

    @Test
    void theClientThatHoldsMostIsCutFirst() {
        UnfinishedInput other = of("other");
        assertThat(other.hold(BLOCK)).isTrue();
        for (int i = 0; i < 3; i++) {
            assertThat(of("greedy").hold(BLOCK)).isTrue();
        }
        StalledPeers.ofThisLoop().cut(2 * BLOCK, 2 * BLOCK, 0);
        assertThat(cut).containsExactly("greedy", "greedy");
        assertThat(direct.held()).isEqualTo(2 * BLOCK);
    }

    @Test
    void whoHoldsLittleIsNotCut() {
        UnfinishedInput input = of("one");
        assertThat(input.hold(BLOCK)).isTrue();
        assertThat(input.hold(100)).isTrue();
        StalledPeers.ofThisLoop().cut(0, Long.MAX_VALUE, 0);
        assertThat(cut).isEmpty();
    }
}
