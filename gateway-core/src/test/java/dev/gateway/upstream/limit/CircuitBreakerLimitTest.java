package dev.gateway.upstream.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.testing.Race;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class CircuitBreakerLimitTest {
    @Test
    void aLimitIsKeptAndWhatIsGivenBackCanBeTakenAgain() {
        CircuitBreakerLimit limit = new CircuitBreakerLimit(2);
        assertThat(limit.tryAcquire()).isTrue();
        assertThat(limit.hasRoom()).isTrue();
        assertThat(limit.tryAcquire()).isTrue();
        assertThat(limit.hasRoom()).isFalse();
        assertThat(limit.tryAcquire()).isFalse();
        assertThat(limit.taken()).isEqualTo(2);
        limit.release();
        assertThat(limit.taken()).isEqualTo(1);
        assertThat(limit.hasRoom()).isTrue();
        assertThat(limit.tryAcquire()).isTrue();
        assertThat(limit.taken()).isEqualTo(2);
    }

    @Test
    void theLastOneGoesToOneEventLoop() throws InterruptedException {
        CircuitBreakerLimit limit = new CircuitBreakerLimit(1);
        Race.assertOneWinner(limit::tryAcquire, limit::tryAcquire, limit::release);
        assertThat(limit.taken()).isZero();
    }

    @Test
    void whatTwoEventLoopsTakeAndGiveBackAtTheSameTimeIsCounted() throws InterruptedException {
        int each = 1_000_000;
        CircuitBreakerLimit limit = new CircuitBreakerLimit(2 * each);
        assertThat(bothAtOnce(each, limit::tryAcquire)).isEqualTo(2L * each);
        assertThat(limit.taken()).isEqualTo(2 * each);
        bothAtOnce(each, () -> {
            limit.release();
            return true;
        });
        assertThat(limit.taken()).isZero();
    }

    /** Two threads do the same many times, neither waiting for the other; returns how often it succeeded. */
    private static long bothAtOnce(int times, BooleanSupplier what) throws InterruptedException {
        LongAdder successes = new LongAdder();
        CountDownLatch start = new CountDownLatch(2);
        Runnable loop = () -> {
            start.countDown();
            while (start.getCount() > 0) {
                Thread.onSpinWait();
            }
            for (int i = 0; i < times; i++) {
                if (what.getAsBoolean()) {
                    successes.increment();
                }
            }
        };
        Thread other = new Thread(loop);
        other.start();
        loop.run();
        other.join();
        return successes.sum();
    }

    @Test
    void zeroMeansNoLimit() {
        CircuitBreakerLimit limit = new CircuitBreakerLimit(0);
        for (int i = 0; i < 100_000; i++) {
            assertThat(limit.tryAcquire()).isTrue();
        }
        assertThat(limit.hasRoom()).isTrue();
        assertThat(limit.isExceeded()).isFalse();
    }

    @Test
    void whoTakesOneBeyondTheLimitGivesItBackLikeAnyOther() {
        CircuitBreakerLimit limit = new CircuitBreakerLimit(1);
        assertThat(limit.tryAcquire()).isTrue();
        assertThat(limit.isExceeded()).isFalse();
        limit.acquireBeyond();
        assertThat(limit.isExceeded()).isTrue();
        assertThat(limit.hasRoom()).isFalse();
        limit.release();
        assertThat(limit.isExceeded()).isFalse();
        assertThat(limit.tryAcquire()).as("the limit is used up").isFalse();
        limit.release();
        assertThat(limit.tryAcquire()).isTrue();
    }

    @Test
    void aLimitThatShrinksLetsWhoHasMoreKeepThem() {
        CircuitBreakerLimit limit = new CircuitBreakerLimit(3);
        for (int i = 0; i < 3; i++) {
            assertThat(limit.tryAcquire()).isTrue();
        }
        limit.allow(1);
        assertThat(limit.taken()).isEqualTo(3);
        assertThat(limit.isExceeded()).isTrue();
        limit.release();
        limit.release();
        assertThat(limit.isExceeded()).isFalse();
        assertThat(limit.tryAcquire()).isFalse();
        limit.release();
        assertThat(limit.tryAcquire()).isTrue();
        limit.allow(0);
        limit.release();
        assertThat(limit.tryAcquire()).as("none at all").isFalse();
    }

    @Test
    void whatIsCountedForOthersIsTakenWhetherOrNotThereIsRoom() {
        CircuitBreakerLimit limit = new CircuitBreakerLimit(2);
        limit.add(3);
        assertThat(limit.taken()).isEqualTo(3);
        assertThat(limit.isExceeded()).isTrue();
        limit.add(0);
        limit.add(-2);
        assertThat(limit.taken()).isEqualTo(1);
        assertThat(limit.tryAcquire()).isTrue();
        assertThat(limit.tryAcquire()).isFalse();
    }
}
