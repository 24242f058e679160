package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AcceptRateTest {
    private long now = Long.MAX_VALUE - TimeUnit.MILLISECONDS.toNanos(500); // it wraps round meanwhile
    private final AcceptRate rate = new AcceptRate(now);

    @Test
    void withoutALimitNobodyWaits() {
        for (int i = 0; i < 10_000; i++) {
            assertThat(rate.accepted(now, 0)).isZero();
        }
        assertThat(rate.pause(now, 0)).isZero();
    }

    @Test
    void asManyAsInASecondMayComeAtOnceThenOneAfterTheOther() {
        for (int i = 0; i < 10; i++) {
            assertThat(rate.accepted(now, 10)).isZero();
        }
        assertThat(rate.accepted(now, 10)).isEqualTo(100);
        assertThat(rate.pause(now, 10)).isEqualTo(100);
        now += TimeUnit.MILLISECONDS.toNanos(40);
        assertThat(rate.pause(now, 10)).isEqualTo(60);
        now += TimeUnit.MILLISECONDS.toNanos(60);
        assertThat(rate.pause(now, 10)).isZero();
        assertThat(rate.accepted(now, 10)).isEqualTo(100);
    }

    @Test
    void noMoreThanASecondsWorthIsSavedUp() {
        now += TimeUnit.HOURS.toNanos(1);
        for (int i = 0; i < 10; i++) {
            assertThat(rate.accepted(now, 10)).isZero();
        }
        assertThat(rate.accepted(now, 10)).isPositive();
    }

    /** In no stretch of time are more accepted than the rate allows, and one second's worth besides. */
    @Test
    void theRateHoldsOverAnyTime() {
        Random random = new Random(27);
        long began = now;
        int accepted = 0;
        for (int i = 0; i < 100_000; i++) {
            now += random.nextInt(3_000_000);
            if (rate.pause(now, 500) == 0) {
                rate.accepted(now, 500);
                accepted++;
            }
        }
        double seconds = (now - began) / 1e9;
        assertThat(accepted).isBetween((int) (500 * seconds * 0.99), (int) (500 * seconds) + 501);
    }
}
