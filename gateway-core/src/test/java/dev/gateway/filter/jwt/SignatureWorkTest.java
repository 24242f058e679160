package dev.gateway.filter.jwt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.auth.HashingTask;
import dev.gateway.filter.jwt.SignatureWork.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Whose signatures are verified first, and who makes room for whom. */
class SignatureWorkTest {
    private final Queue<Runnable> threads = new ArrayDeque<>();
    private final List<String> done = new ArrayList<>();
    private long now;
    private final SignatureWork work = new SignatureWork(threads::add, 4, () -> now);

    private record Noted(String name, List<String> done) implements HashingTask {
        @Override
        public void run() {
            done.add(name);
        }

        @Override
        public void evicted() {
            done.add(name + " evicted");
        }
    }

    private Outcome add(Object client, String name) {
        return work.add(client, new Noted(name, done));
    }

    private void runAll() {
        for (Runnable task = threads.poll(); task != null; task = threads.poll()) {
            task.run();
        }
    }

    @Test
    void clientsTakeTurns() {
        add("a", "a0");
        add("a", "a1");
        add("b", "b0");
        runAll();
        assertThat(done).containsExactly("a0", "b0", "a1");
    }

    @Test
    void whoHasShownWrongTokensComesLastAndMakesRoom() {
        work.failed("stranger");
        assertThat(add("stranger", "s0")).isEqualTo(Outcome.WAITS);
        assertThat(add("stranger", "s1")).isEqualTo(Outcome.WAITS);
        assertThat(add("stranger", "s2")).isEqualTo(Outcome.CLIENT_HAS_TOO_MANY);
        add("a", "a0");
        add("b", "b0");
        assertThat(add("c", "c0")).isEqualTo(Outcome.WAITS);
        assertThat(done).containsExactly("s1 evicted");
        work.failed("other");
        assertThat(add("other", "o0")).isEqualTo(Outcome.TOO_MANY);
        assertThat(threads).hasSize(4);
        runAll();
        assertThat(done).containsExactly("s1 evicted", "a0", "b0", "c0", "s0");
        assertThat(add("stranger", "s3")).isEqualTo(Outcome.WAITS);
    }

    @Test
    void nobodyElseMakesRoom() {
        for (String client : List.of("a", "b", "c", "d")) {
            assertThat(add(client, client)).isEqualTo(Outcome.WAITS);
        }
        assertThat(add("e", "e")).isEqualTo(Outcome.TOO_MANY);
        runAll();
        assertThat(add("e", "e")).isEqualTo(Outcome.WAITS);
        runAll();
        assertThat(done).containsExactly("a", "b", "c", "d", "e");
    }

    @Test
    void aSiteIsSuspectedForAMinute() {
        work.failed(FakeContext.from("2001:db8:1:1::1").client().network());
        add(FakeContext.from("2001:db8:1:2::1").client().network(), "site");
        add(FakeContext.from("2001:db8:2::1").client().network(), "other");
        runAll();
        assertThat(done).containsExactly("other", "site");
        now = TimeUnit.SECONDS.toNanos(61);
        add(FakeContext.from("2001:db8:1:2::1").client().network(), "site");
        add(FakeContext.from("2001:db8:2::1").client().network(), "other");
        runAll();
        assertThat(done).endsWith("site", "other");
    }

    @Test
    void itIsDoneOnThreadsOfItsOwn() throws Exception {
        SignatureWork shared = new SignatureWork(1);
        CountDownLatch ran = new CountDownLatch(SignatureWork.WAITING_PER_THREAD);
        for (int i = 0; i < SignatureWork.WAITING_PER_THREAD; i++) {
            Outcome outcome = shared.add(i, () -> {
                synchronized (done) {
                    done.add(Thread.currentThread().getName());
                }
                ran.countDown();
            });
            assertThat(outcome).isEqualTo(Outcome.WAITS);
        }
        assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
        synchronized (done) {
            assertThat(done).allMatch(name -> name.equals("auth-jwt-1"));
        }
    }
}
