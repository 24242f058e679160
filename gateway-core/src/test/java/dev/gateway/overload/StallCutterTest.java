package dev.gateway.overload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.ClientShares;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.overload.memory.StalledPeers;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Who is cut when the heap that is for clients runs low, by what they are charged. */
class StallCutterTest {
    private static final int CAPACITY = 1 << 20;
    private static final long SECOND = 1_000_000_000L;

    private final MemoryBudget budget = new MemoryBudget(CAPACITY, 1);
    private final LoopBudget loop = new LoopBudget(budget);
    private final ClientShares clients = new ClientShares();
    private final List<Stream> cut = new ArrayList<>();
    private long now = 17;
    private final StalledPeers stalled = new StalledPeers(() -> now);
    private int counted;
    private final StallCutter cutter = new StallCutter(
            "The heap of the test",
            () -> (double) budget.granted() / CAPACITY,
            CAPACITY,
            List.of(Runnable::run),
            (least, wanted, nanos) -> stalled.cut(StalledPeers.Memory.HEAP, least, wanted, nanos, () -> counted++));

    /** A stream that its client does not read. */
    private final class Stream extends StalledPeers.Holder {
        private final Account account = new Account(loop);
        private final long bytes;
        private final long direct;

        Stream(String client, long bytes, long direct) {
            this.bytes = bytes;
            this.direct = direct;
            account.countFor(clients, client);
            account.charge(bytes);
            stalled.add(this);
            now++;
        }

        @Override
        protected long held() {
            return direct;
        }

        @Override
        protected long heldHeap() {
            return bytes;
        }

        @Override
        protected Object culprit() {
            return Objects.requireNonNull(account.client());
        }

        @Override
        protected void cut() {
            cut.add(this);
            resume();
            account.release(bytes);
        }
    }

    /** However much direct memory another one holds, for that is another budget. */
    @Test
    void theClientThatHoldsMostOfTheHeapIsCutAndItsOldestStreamFirst() {
        new Stream("modest", CAPACITY / 8, CAPACITY);
        Stream oldest = new Stream("greedy", CAPACITY / 4, 0);
        new Stream("greedy", CAPACITY / 4, 0);
        new Stream("greedy", CAPACITY / 4, 0);
        cutter.review();
        assertThat(cut).as("none has stalled for a while").isEmpty();
        now += SECOND;
        cutter.review();
        assertThat(cut).containsExactly(oldest);
        assertThat(counted).isEqualTo(1);
        cutter.review();
        assertThat(cut).as("enough is free").containsExactly(oldest);
    }
}
