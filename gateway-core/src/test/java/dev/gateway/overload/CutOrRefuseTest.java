package dev.gateway.overload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.OverloadConfig;
import dev.gateway.overload.memory.StalledPeers;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What comes first when clients hoard direct memory: to cut them, as the gateway does, or to refuse new work. Hoarders come
 * all the time, take nothing for a minute, and come again when they are cut. A neighbor connects ten times a second.
 */
class CutOrRefuseTest {
    private static final long MAX = 1_000_000;
    private static final long TICK = 100_000_000L;
    private static final int TICKS = 1_200; // two minutes
    private static final long PATIENCE = 60_000_000_000L; // what a client may take nothing for

    /** So much later does whatever comes second. */
    private static final double LATER = 0.15;

    private long now;
    private long held;
    private final StalledPeers stalled = new StalledPeers(() -> now);
    private final List<Hoarder> hoarders = new ArrayList<>();
    private int cuts;

    private final class Hoarder extends StalledPeers.Holder {
        private final long bytes;
        private final long began = now;

        Hoarder(long bytes) {
            this.bytes = bytes;
            held += bytes;
            hoarders.add(this);
            stalled.add(this);
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
            cuts++;
            end();
        }

        void end() {
            resume();
            hoarders.remove(this);
            held -= bytes;
        }
    }

    private record AsSeen(DoubleUnaryOperator seen, LongSupplier bytes) implements Pressure {
        @Override
        public Resource resource() {
            return Resource.DIRECT_MEMORY;
        }

        @Override
        public double level() {
            return seen.applyAsDouble((double) bytes.getAsLong() / MAX);
        }
    }

    /**
     * Returns how often the neighbor is refused.
     *
     * @param arrivals hoarders that come in each tenth of a second, each with a hundredth of the memory
     */
    private int refusals(int arrivals, boolean refuseFirst) {
        Overload overload = new Overload();
        overload.watch(new AsSeen(level -> refuseFirst ? level + LATER : level, () -> held));
        DirectMemoryGuard guard = new DirectMemoryGuard(
                () -> refuseFirst ? held - (long) (LATER * MAX) : held, MAX, List.of(Runnable::run), stalled::cut);
        int refusals = 0;
        for (int tick = 0; tick < TICKS; tick++) {
            now += TICK;
            List.copyOf(hoarders).stream()
                    .filter(each -> now - each.began > PATIENCE)
                    .forEach(Hoarder::end);
            for (int i = 0; i < arrivals && !overload.refusesConnections() && held + MAX / 100 <= MAX; i++) {
                new Hoarder(MAX / 100);
            }
            overload.review();
            guard.review();
            refusals += overload.refusesConnections() ? 1 : 0;
        }
        return refusals;
    }

    @Test
    void cuttingBeginsBeforeAnythingIsRefused() {
        assertThat(StallCutter.CUT).isLessThan(OverloadConfig.DEFAULT.directMemory() - Overload.CALM);
        assertThat(StallCutter.ENOUGH).isLessThan(StallCutter.CUT);
    }

    @Test
    void noNeighborIsRefusedWhereHoardersAreCutFirst() {
        assertThat(refusals(1, false)).isZero();
        assertThat(cuts).isPositive();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5, 20})
    void aNeighborIsRefusedMoreOftenWhereThatComesFirst(int arrivals) {
        int cutFirst = refusals(arrivals, false);
        List.copyOf(hoarders).forEach(Hoarder::end);
        int refuseFirst = refusals(arrivals, true);
        assertThat(cutFirst).as("refused %s times otherwise", refuseFirst).isLessThan(refuseFirst);
        assertThat(refuseFirst).as("most of the time").isGreaterThan(TICKS / 2);
    }
}
