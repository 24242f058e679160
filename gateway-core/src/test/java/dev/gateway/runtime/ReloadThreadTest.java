package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The thread that looks at files goes on, whatever a look has thrown; and its end does not wait forever. */
class ReloadThreadTest {
    private static final long PATIENCE_MILLIS = 100;

    private final ReloadThread thread = new ReloadThread(PATIENCE_MILLIS);

    @AfterEach
    void stop() {
        thread.stop();
    }

    @Test
    void aLookThatFindsNoMemoryIsRepeated() throws Exception {
        CountDownLatch looks = new CountDownLatch(2);
        thread.look(() -> {
            looks.countDown();
            throw new OutOfMemoryError("made by the test");
        });
        assertThat(looks.await(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void theEndDoesNotWaitForATaskThatHangs() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        CountDownLatch last = new CountDownLatch(1);
        thread.executor().execute(() -> {
            try {
                answer.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        thread.finish();
        thread.runLast(last::countDown);
        assertThat(last.getCount()).isOne();
        assertThat(thread.isOver()).isTrue();
        answer.countDown();
        assertThat(last.await(30, TimeUnit.SECONDS)).isTrue();
        assertThatThrownBy(() -> thread.run(() -> {})).hasMessage("the gateway is stopping");
    }

    @Test
    void theEndWaitsForTheTaskThatRuns() {
        CountDownLatch ended = new CountDownLatch(1);
        thread.executor().execute(ended::countDown);
        thread.finish();
        assertThat(ended.getCount()).isZero();
        assertThat(thread.isOver()).isTrue();
    }
}
