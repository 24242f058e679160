package dev.gateway.filter.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.StoreConfig.OnError;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.ratelimit.RateLimitConfig.Rate;
import dev.gateway.filter.ratelimit.RateLimitConfig.Unit;
import dev.gateway.message.Heads;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** How much two gateways of two event loops let pass while their store fails and comes back; the clock is the test's. */
class StoreFaultsTest {
    private static final int LIMIT = 1_000; // in a second, and as many at once
    private static final int SLACK = LIMIT / 50; // what loops have taken in advance
    private static final long STEP_NANOS = 500_000; // in which each loop gets a request: eight times the limit
    private static final long LATENCY_NANOS = 1_000_000;
    private static final long SECOND = 1_000_000_000;

    private final Store store = new Store();
    private final Gateway one = new Gateway();
    private final Gateway other = new Gateway();
    private final List<Loop> loops =
            Stream.of(one, other).flatMap(each -> each.loops.stream()).toList();
    private long nanos = SECOND;

    /** A bucket as the script in Redis keeps it. */
    private final class Store {
        private double lacks;
        private long since;

        void take(StoreClient.Question question, StoreClient.Answer answer) {
            lacks = Math.max(0, lacks - (nanos - since) / 1_000.0 * question.ticksPerMicro());
            since = nanos;
            long room = (long) Math.floor((question.capacity() - lacks) / StoreClient.REQUEST);
            long taken = Math.min(question.wanted(), Math.max(0, room));
            lacks = Math.max(0, lacks + taken * StoreClient.REQUEST);
            answer.onTaken((int) taken, (long) Math.ceil(lacks));
        }

        void loseData() {
            lacks = 0;
        }
    }

    /** A gateway's limit, and its event loops. */
    private final class Gateway {
        private final List<Loop> loops = List.of(new Loop(this), new Loop(this));
        private final LimitTables tables = new LimitTables(() -> nanos, 1 << 20);
        private final RateLimit filter = new RateLimit(
                tables,
                List.of(new RateLimit.Limited(
                        new SharedLimit(
                                tables,
                                new Rate(Unit.REQUESTS, LIMIT, Duration.ofSeconds(1), LIMIT),
                                "rule:limit",
                                new LimitStore("shared", new LimitStore.Place("gw:", OnError.LOCAL, this::client))),
                        new LimitKey(List.of()),
                        new LimitPolicy("limit", LIMIT, 1, null),
                        "limit")),
                false);

        private StoreClient client(Executor loop) {
            return loops.stream()
                    .filter(each -> each.executor == loop)
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** An event loop with its connection to the store. */
    private final class Loop implements StoreClient {
        private final Gateway gateway;
        private final Executor executor = new ArrayDeque<Runnable>()::add;
        private final Deque<Pending> pending = new ArrayDeque<>();
        private final List<FakeContext> waiting = new ArrayList<>();
        private boolean up = true;
        private int failures;

        private record Pending(Question question, Answer answer, long due) {}

        Loop(Gateway gateway) {
            this.gateway = gateway;
        }

        @Override
        public boolean mayAsk() {
            return up;
        }

        @Override
        public boolean ask(Question question, Answer answer) {
            return up && pending.add(new Pending(question, answer, nanos + LATENCY_NANOS));
        }

        @Override
        public int failures() {
            return failures;
        }

        /** An answer is late, or the connection breaks. */
        void fail() {
            up = false;
            failures++;
            List<Pending> failed = List.copyOf(pending);
            pending.clear();
            failed.forEach(each -> each.answer.onFailure());
        }

        void restore() {
            up = true;
        }

        /** Takes the answers that have come, and a request; returns how many requests pass. */
        int turn() {
            waiting.forEach(each -> each.nanos = nanos);
            while (!pending.isEmpty() && pending.peek().due <= nanos) {
                Pending answered = pending.remove();
                store.take(answered.question, answered.answer);
            }
            FakeContext context = FakeContext.from("192.0.2.1").on(executor);
            context.nanos = nanos;
            Verdict verdict = gateway.filter.onRequest(Heads.get("a", "/"), context);
            int passed = verdict == Verdict.PROCEED ? 1 : 0;
            if (verdict instanceof Verdict.Wait) {
                waiting.add(context);
            }
            for (FakeContext each : waiting) {
                passed += each.resumed.contains(Verdict.PROCEED) ? 1 : 0;
            }
            waiting.removeIf(each -> !each.resumed.isEmpty());
            return passed;
        }
    }

    /** Returns how many requests pass under load on all loops. */
    private int load(long millis) {
        long end = nanos + TimeUnit.MILLISECONDS.toNanos(millis);
        int passed = 0;
        while (nanos < end) {
            nanos += STEP_NANOS;
            for (Loop each : loops) {
                passed += each.turn();
            }
        }
        return passed;
    }

    @Test
    void asLongAsTheStoreAnswersItDecides() {
        int burst = load(1_000);
        assertThat(burst).isBetween(2 * LIMIT - SLACK, 2 * LIMIT + SLACK);
        int steady = load(10_000);
        assertThat(steady).isBetween(10 * LIMIT - SLACK, 10 * LIMIT + SLACK);
    }

    @Test
    void whenTheStoreFailsUnderLoadNoBucketIsFull() {
        load(3_000);
        loops.forEach(Loop::fail);
        for (int second = 0; second < 5; second++) {
            assertThat(load(1_000)).isBetween(2 * LIMIT - SLACK, 2 * LIMIT + SLACK);
        }
    }

    @Test
    void aLateAnswerOfOneLoopOpensNoBucket() {
        load(3_000);
        for (Loop each : loops) {
            each.fail();
            assertThat(load(1_000)).isLessThanOrEqualTo(2 * LIMIT + SLACK);
            each.restore();
            load(1_000);
        }
        assertThat(load(1_000)).isLessThanOrEqualTo(LIMIT + SLACK);
    }

    @Test
    void whileSomeLoopsReachAStoreThatHasLostItsDataNoMorePassesThanByAllGatewaysAlone() {
        load(3_000);
        loops.forEach(Loop::fail);
        load(3_000);
        store.loseData();
        for (Loop each : List.of(loops.get(0), loops.get(2), loops.get(1), loops.get(3))) {
            each.restore();
            for (int second = 0; second < 3; second++) {
                assertThat(load(1_000)).isBetween(LIMIT - SLACK, 2 * LIMIT + SLACK);
            }
        }
        assertThat(load(1_000)).as("the common count again").isBetween(LIMIT - SLACK, LIMIT + SLACK);
    }

    @Test
    void afterAPauseEachGatewayHasOneBurst() {
        load(3_000);
        nanos += 10 * SECOND;
        loops.forEach(Loop::fail);
        int passed = load(5_000);
        assertThat(passed).isBetween(2 * 6 * LIMIT - SLACK, 2 * 6 * LIMIT + SLACK);
        loops.forEach(Loop::restore); // its bucket is full
        passed += load(5_000);
        assertThat(passed).isLessThanOrEqualTo(2 * (10 + 1) * LIMIT + SLACK);
        assertThat(load(1_000)).isLessThanOrEqualTo(LIMIT + SLACK);
    }
}
