package dev.gateway.overload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.memory.StalledPeers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When cutting begins, whom it reaches, and when it ends. */
class DirectMemoryGuardTest {
    private static final long MAX = 1_000_000;
    private static final StallCutter.Cutter CUTTER =
            (least, wanted, nanos) -> StalledPeers.ofThisLoop().cut(least, wanted, nanos);

    private final List<Runnable> tasks = new ArrayList<>();
    private final Executor loop = tasks::add;
    private long held;
    private final DirectMemoryGuard guard = new DirectMemoryGuard(() -> held, MAX, List.of(loop), CUTTER);
    private final List<Hoarder> hoarders = new ArrayList<>();

    @AfterEach
    void forget() {
        hoarders.forEach(StalledPeers.Holder::resume);
    }

    private final class Hoarder extends StalledPeers.Holder {
        private final long bytes;
        private boolean isCut;

        Hoarder(long bytes) {
            this.bytes = bytes;
            hoarders.add(this);
            stall();
        }

        @Override
        protected long held() {
            return bytes;
        }

        @Override
        protected long heldHeap() {
            return 0;
        }

        @Override
        protected Object culprit() {
            return this;
        }

        @Override
        protected void cut() {
            isCut = true;
            held -= bytes;
        }
    }

    private void review() {
        guard.review();
        List<Runnable> now = List.copyOf(tasks);
        tasks.clear();
        now.forEach(Runnable::run);
    }

    @Test
    void nobodyIsAskedWhileThereIsEnough() {
        held = MAX * 3 / 4;
        review();
        assertThat(guard.level()).isEqualTo(0.75);
        guard.review();
        assertThat(tasks).isEmpty();
    }

    @Test
    void theLargestGoFirstAndThenSmallerOnesUntilThereIsRoom() throws Exception {
        Hoarder large = new Hoarder(MAX / 8);
        Hoarder small = new Hoarder(MAX / 50);
        held = MAX;
        Thread.sleep(110); // so long a stall lasts that counts when it is urgent, by the loop's own clock
        review();
        assertThat(large.isCut).isTrue();
        assertThat(small.isCut).isFalse();

        held = MAX;
        for (int i = 0; i < 10 && !small.isCut; i++) {
            review();
        }
        assertThat(small.isCut).isTrue();

        held = MAX * 71 / 100;
        guard.review();
        assertThat(tasks).as("between enough and too much it goes on").hasSize(1);
        tasks.remove(0).run();
        held = MAX * 70 / 100;
        guard.review();
        held = MAX * 74 / 100;
        guard.review();
        assertThat(tasks).as("it has ended").isEmpty();
    }

    @Test
    void aLoopThatIsLateIsNotAskedAgain() {
        held = MAX;
        guard.review();
        guard.review();
        assertThat(tasks).hasSize(1);
        tasks.remove(0).run();
        guard.review();
        assertThat(tasks).hasSize(1);
    }

    @Test
    void aLoopThatHasEndedDoesNotKeepTheOthersFromBeingAsked() {
        Executor ended = task -> {
            throw new RejectedExecutionException("event executor terminated");
        };
        DirectMemoryGuard both = new DirectMemoryGuard(() -> held, MAX, List.of(ended, loop), CUTTER);
        held = MAX;
        both.review();
        assertThat(tasks).hasSize(1);
        tasks.remove(0).run();
        both.review();
        assertThat(tasks).hasSize(1);
    }
}
