package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Looks at files go on, whatever a look has thrown. */
class ReloadThreadTest {
    private final ReloadThread thread = new ReloadThread();

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
}
