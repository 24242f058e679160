package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What is learned of how many requests an endpoint takes on a connection. */
class KeepAliveRequestsTest {
    private final KeepAliveRequests learned = new KeepAliveRequests();
    private long now = TimeUnit.DAYS.toNanos(1);

    /** A connection is opened, carries so many requests, and is closed; returns whether that shows something. */
    private boolean closedAfter(int requests) {
        long opened = ++now;
        for (int i = 1; i <= requests; i++) {
            learned.onServed(i);
        }
        return learned.onClosed(requests, opened, ++now);
    }

    @Test
    void threeClosesAfterAsManyRequestsAreEnough() {
        assertThat(closedAfter(20)).isFalse();
        assertThat(closedAfter(20)).isFalse();
        assertThat(learned.most(now)).isEqualTo(Integer.MAX_VALUE);
        assertThat(closedAfter(20)).isTrue();
        assertThat(learned.most(now)).isEqualTo(20);
    }

    @Test
    void aConnectionThatCarriesMoreAfterwardsRevokesIt() {
        for (int i = 0; i < 3; i++) {
            closedAfter(1);
        }
        assertThat(learned.most(now)).isEqualTo(1);
        learned.onServed(2);
        assertThat(learned.most(now)).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void closesAfterDifferentNumbersTellNothing() {
        for (int requests : new int[] {3, 2, 3, 2, 1, 1, 3}) {
            assertThat(closedAfter(requests)).isFalse();
        }
        assertThat(learned.most(now)).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void aConnectionThatCarriesMoreSaysThatItWasChance() {
        closedAfter(1);
        closedAfter(1);
        learned.onServed(2);
        assertThat(closedAfter(1)).isFalse();
        assertThat(closedAfter(1)).isFalse();
        assertThat(closedAfter(1)).isTrue();
    }

    @Test
    void manyClosedAtOnceCountOnce() {
        long opened = now;
        now++;
        for (int i = 0; i < 10; i++) {
            assertThat(learned.onClosed(5, opened, now)).isFalse();
        }
        assertThat(closedAfter(5)).isFalse();
        assertThat(closedAfter(5)).isTrue();
    }

    @Test
    void oneCloseMakesConnectionsOfThatAgeDoubtfulUntilOneCarriesMore() {
        assertThat(learned.isDoubtful(20)).isFalse();
        closedAfter(20);
        assertThat(learned.isDoubtful(20)).isTrue();
        assertThat(learned.isDoubtful(19)).isFalse();
        learned.onServed(21);
        assertThat(learned.isDoubtful(20)).isFalse();
    }

    @Test
    void whatWasLearnedEndsAfterTenMinutesAndOneMoreCloseConfirmsIt() {
        closedAfter(1);
        closedAfter(1);
        closedAfter(1);
        now += TimeUnit.MINUTES.toNanos(10);
        assertThat(learned.most(now)).isEqualTo(1);
        assertThat(learned.most(++now)).isEqualTo(Integer.MAX_VALUE);
        assertThat(closedAfter(1)).isTrue();
        assertThat(learned.most(now)).isEqualTo(1);
    }

    @Test
    void onlyACloseRightAfterAResponseCounts() {
        assertThat(KeepAliveRequests.isSoon(TimeUnit.MILLISECONDS.toNanos(249))).isTrue();
        assertThat(KeepAliveRequests.isSoon(TimeUnit.MILLISECONDS.toNanos(250))).isFalse();
    }
}
