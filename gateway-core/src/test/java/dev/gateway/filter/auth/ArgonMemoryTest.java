package dev.gateway.filter.auth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.format.HashNotations;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ArgonMemoryTest {
    @Test
    void aCheckThatDoesNotFitWaitsForOthersToEnd() throws InterruptedException {
        ArgonMemory memory = new ArgonMemory(100);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        Queue<String> ended = new ConcurrentLinkedQueue<>();
        Thread first = start(memory, () -> {
            begun.countDown();
            awaitUninterruptibly(mayEnd);
            ended.add("first");
        });
        begun.await();
        Thread second = start(memory, () -> ended.add("second"));
        while (second.getState() != Thread.State.WAITING) {
            LockSupport.parkNanos(1_000_000);
        }
        mayEnd.countDown();
        first.join();
        second.join();
        assertThat(ended).containsExactly("first", "second");
    }

    private static Thread start(ArgonMemory memory, Runnable check) {
        Thread thread = new Thread(() -> memory.run(60, check));
        thread.start();
        return thread;
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aHashThatTakesMoreThanThereIsIsNamed() {
        var hash = HashNotations.parse(
                "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$OCmYzATW28cZmpG0OzNl7yCC8yCdB8dlYHpHS4d56bo");

        assertThat(PasswordHash.problem(hash, new ArgonMemory(256))).isNull();
        assertThat(PasswordHash.problem(hash, new ArgonMemory(255))).contains("m=256", "m=255 at most");
    }
}
