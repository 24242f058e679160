package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Regular work goes on, though it has failed. */
class HousekeepingTest {
    private final Housekeeping housekeeping = new Housekeeping();
    private final CountDownLatch runs = new CountDownLatch(3);

    @AfterEach
    void stop() {
        housekeeping.shutdownNow();
    }

    private void fail() {
        runs.countDown();
        throw new OutOfMemoryError("for a test");
    }

    @Test
    void workThatFailsIsDoneAgainAfterItsDelay() throws Exception {
        housekeeping.scheduleWithFixedDelay(this::fail, 0, 1, TimeUnit.MILLISECONDS);
        assertThat(runs.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void workThatFailsIsDoneAgainAtItsRate() throws Exception {
        housekeeping.scheduleAtFixedRate(this::fail, 0, 1, TimeUnit.MILLISECONDS);
        assertThat(runs.await(10, TimeUnit.SECONDS)).isTrue();
    }
}
