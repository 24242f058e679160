package dev.gateway.filter.auth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.format.HashNotations;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ArgonMemoryTest {
    @Test
    void checksThatDoNotFitTogetherRunOneAfterTheOther() throws InterruptedException {
        ArgonMemory memory = new ArgonMemory(100);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch begun = new CountDownLatch(4);
        Runnable check = () -> most.accumulateAndGet(running.incrementAndGet(), Math::max);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                begun.countDown();
                memory.run(60, () -> {
                    check.run();
                    for (int turn = 0; turn < 1_000; turn++) {
                        Thread.yield(); // so that others would come in
                    }
                    running.decrementAndGet();
                });
            });
            threads[i].start();
        }
        begun.await();
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(most).hasValue(1);
    }

    @Test
    void aHashThatTakesMoreThanThereIsIsNamed() {
        var hash = HashNotations.parse(
                "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$OCmYzATW28cZmpG0OzNl7yCC8yCdB8dlYHpHS4d56bo");

        assertThat(PasswordHash.problem(hash, new ArgonMemory(256))).isNull();
        assertThat(PasswordHash.problem(hash, new ArgonMemory(255))).contains("m=256", "m=255 at most");
    }
}
