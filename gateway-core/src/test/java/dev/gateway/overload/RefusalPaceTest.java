package dev.gateway.overload;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RefusalPaceTest {
    private static final long SECOND = 1_000_000_000;

    private final RefusalPace pace = new RefusalPace(500_000);
    private long now = -SECOND; // as System.nanoTime may have it

    @Test
    void aFewRefusalsKeepNobodyWaiting() {
        for (int i = 0; i < 400; i++) {
            assertThat(pace.refuse(now, 1)).isZero();
        }
        now += SECOND;
        for (int i = 0; i < 100; i++) {
            assertThat(pace.refuse(now, 4)).isZero();
        }
    }

    @Test
    void manyClientsThatAskAgainAtOnceAreRefusedSoOften() {
        int clients = 1_500;
        long[] readyNanos = new long[clients];
        int refusals = 0;
        for (long end = now + 10 * SECOND; now < end; now += 1_000_000) {
            for (int i = 0; i < clients; i++) {
                if (readyNanos[i] <= now) {
                    refusals++;
                    readyNanos[i] = now + pace.refuse(now, 1) * 1_000_000;
                }
            }
        }
        assertThat(refusals / 10).isBetween(1_900, 2_200);
    }

    @Test
    void nobodyWaitsForLongHoweverManyThereAre() {
        long millis = 0;
        for (int i = 0; i < 1_000_000; i++) {
            millis = Math.max(millis, pace.refuse(now, 4));
        }
        assertThat(millis).isEqualTo(1_000);
        now += SECOND;
        assertThat(pace.refuse(now, 1)).isZero();
    }

    @Test
    void theGateOfNobodyHasNoPace() {
        for (int i = 0; i < 10_000; i++) {
            assertThat(LoopGate.OPEN.refuse(now, true)).isZero();
        }
    }
}
