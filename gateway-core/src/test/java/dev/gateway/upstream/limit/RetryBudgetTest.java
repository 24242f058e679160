package dev.gateway.upstream.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RetryBudgetTest {
    private final RetryBudget budget = new RetryBudget();
    private long now = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(5); // it wraps round in the middle

    private void requests(int count) {
        for (int i = 0; i < count; i++) {
            budget.onRequest(now);
        }
    }

    private int taken(int percent, int minPerSecond) {
        int taken = 0;
        while (taken < 100_000 && budget.tryTake(now, percent, minPerSecond)) {
            taken++;
        }
        return taken;
    }

    private void pass(int seconds) {
        now += TimeUnit.SECONDS.toNanos(seconds);
    }

    @Test
    void retriesAreAShareOfRequests() {
        requests(1000);
        assertThat(taken(20, 0)).isEqualTo(200);
        requests(10);
        assertThat(taken(20, 0)).isEqualTo(2);
    }

    @Test
    void theFirstRetryFindsNoMoreThanTheLastTenSeconds() {
        for (int i = 0; i < 1000; i++) {
            requests(100);
            pass(1);
        }
        assertThat(taken(20, 10)).isBetween(180, 200);
        for (int i = 0; i < 5; i++) {
            requests(100);
            pass(1);
            assertThat(taken(20, 10)).as("after %d s more", i + 1).isLessThanOrEqualTo(20);
        }
    }

    @Test
    void someArePossibleInEachSecond() {
        assertThat(taken(20, 10)).isEqualTo(10);
        pass(1);
        assertThat(taken(20, 10)).isEqualTo(10);
        assertThat(taken(20, 0)).isZero();
    }

    @Test
    void requestsCountForTenSeconds() {
        requests(100);
        assertThat(taken(20, 0)).isEqualTo(20);
        for (int i = 0; i < 9; i++) {
            pass(1);
            assertThat(taken(20, 0)).as("after %d s", i + 1).isZero();
        }
        requests(50);
        pass(1);
        assertThat(taken(20, 0)).as("of the later ones only").isEqualTo(10);
    }

    @Test
    void underSteadyLoadTheShareIsKept() {
        int all = 0;
        for (int i = 0; i < 100; i++) {
            requests(1000);
            all += taken(20, 0);
            pass(1);
        }
        assertThat(all).isBetween(18_000, 20_000);
    }

    @Test
    void ofAPauseTheLastTenSecondsCount() {
        requests(10);
        assertThat(taken(20, 0)).isEqualTo(2);
        requests(6000);
        pass(60);
        assertThat(taken(20, 0)).as("a tenth of a minute's, and some").isBetween(150, 200);
        pass(1000);
        assertThat(taken(20, 0)).isZero();
    }

    @Test
    void noneIsTakenTwice() throws Exception {
        requests(5000);
        int threads = 4;
        AtomicInteger taken = new AtomicInteger();
        CountDownLatch begin = new CountDownLatch(threads);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        for (int i = 0; i < threads; i++) {
            pool.execute(() -> {
                begin.countDown();
                while (budget.tryTake(now, 20, 10)) {
                    taken.incrementAndGet();
                }
            });
        }
        pool.shutdown();
        assertThat(pool.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        assertThat(taken.get()).isEqualTo(1000);
    }
}
