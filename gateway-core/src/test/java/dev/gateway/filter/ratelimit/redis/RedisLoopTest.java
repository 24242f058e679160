package dev.gateway.filter.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.StoreConfig;
import dev.gateway.config.value.Position;
import dev.gateway.filter.ratelimit.StoreClient;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The circuit breaker, with a clock and connections that the test has in its hand. */
class RedisLoopTest {
    private static final long TIMEOUT_MILLIS = 50;
    private static final long RETRY_AT_LATEST = RedisLoop.RETRY_MILLIS * 12 / 10;
    private static final StoreClient.Question QUESTION = new StoreClient.Question("key", 1, 1, 1);

    private final EmbeddedChannel clock = new EmbeddedChannel();
    private long nanos;
    private final List<Connecting> connections = new ArrayList<>();
    private final List<String> health = new ArrayList<>();
    private final RedisLoop client = new RedisLoop(
            clock.eventLoop(),
            this::connect,
            new LoopHealth() {
                @Override
                public void onUp() {
                    health.add("up");
                }

                @Override
                public void onKeyError(String key, String error) {
                    health.add(key + ": " + error);
                }

                @Override
                public void onDown(String reason) {
                    health.add(reason);
                }
            },
            new StoreConfig(
                    Position.NOWHERE,
                    "shared",
                    new StoreConfig.Redis(false, "localhost", 6379, 0, null, null),
                    null,
                    null,
                    "",
                    Duration.ofMillis(TIMEOUT_MILLIS),
                    StoreConfig.OnError.LOCAL),
            () -> nanos);

    /** A connection that is being made, or is there. */
    private static final class Connecting implements RedisLink, RedisConnector.Attempt {
        private final RedisConnector.Listener listener;
        private final List<Reply> replies = new ArrayList<>(); // of all questions but probes
        private final List<Reply> probes = new ArrayList<>();
        private Runnable onClose = () -> {};
        private boolean closed;
        private boolean cancelled;

        Connecting(RedisConnector.Listener listener) {
            this.listener = listener;
        }

        @Override
        public void ask(StoreClient.Question question, Reply reply) {
            (question.key().equals("probe") ? probes : replies).add(reply);
        }

        @Override
        public void close() {
            closed = true;
            onClose.run();
        }

        @Override
        public void cancel() {
            cancelled = true;
        }
    }

    private Connecting connect(EventLoop loop, RedisConnector.Listener listener) {
        Connecting connecting = new Connecting(listener);
        connections.add(connecting);
        return connecting;
    }

    /** What became of a question. */
    private static final class Result implements StoreClient.Answer {
        private String text = "";

        @Override
        public void onTaken(int granted, long lacks) {
            text += "granted " + granted;
        }

        @Override
        public void onFailure() {
            text += "failed";
        }
    }

    @AfterEach
    void close() {
        client.close();
        clock.finishAndReleaseAll();
    }

    private void advance(long millis) {
        nanos += TimeUnit.MILLISECONDS.toNanos(millis);
        clock.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        clock.runScheduledPendingTasks();
    }

    /** Lets the time of an answer pass, and one more turn of the loop. */
    private void timeOut() {
        advance(TIMEOUT_MILLIS);
        advance(1);
    }

    private Result ask() {
        Result result = new Result();
        assertThat(client.ask(QUESTION, result)).isTrue();
        return result;
    }

    private boolean isRefused() {
        return !client.ask(QUESTION, new Result());
    }

    /** Returns a connection whose probe is not answered yet. */
    private Connecting probing() {
        client.start();
        Connecting last = connections.get(connections.size() - 1);
        last.listener.onConnected(last);
        return last;
    }

    private Connecting connected() {
        Connecting last = probing();
        last.probes.get(0).onTaken(-1, 0);
        return last;
    }

    @Test
    void questionsWaitForTheFirstConnection() {
        Result result = ask();
        assertThat(connections).hasSize(1);
        Connecting connection = connected();
        assertThat(connection.replies).hasSize(1);
        connection.replies.get(0).onTaken(1, 0);
        assertThat(result.text).isEqualTo("granted 1");
        assertThat(health).containsExactly("up");
    }

    @Test
    void aFirstConnectionThatTakesLongerIsStillWaitedForButNotByRequests() {
        Result result = ask();
        timeOut();
        assertThat(result.text).isEqualTo("failed");
        assertThat(isRefused()).isTrue();
        advance(10 * RETRY_AT_LATEST);
        assertThat(connections).hasSize(1);
        connected();
        ask();
        assertThat(health).containsExactly("no answer in 50 ms", "up");
    }

    @Test
    void oneLateAnswerFailsAllThatWaitAndThenNobodyAsks() {
        Connecting connection = connected();
        Result first = ask();
        advance(TIMEOUT_MILLIS - 1);
        Result second = ask();
        assertThat(first.text).isEmpty();
        advance(1);
        advance(1);
        assertThat(first.text).isEqualTo("failed");
        assertThat(second.text).isEqualTo("failed");
        assertThat(connection.closed).isTrue();
        assertThat(isRefused()).isTrue();
        connection.replies.get(0).onTaken(1, 0); // too late
        connection.listener.onClosed("closed");
        assertThat(first.text).isEqualTo("failed");
        assertThat(health).containsExactly("up", "no answer in 50 ms");

        advance(RETRY_AT_LATEST);
        assertThat(connections).hasSize(2);
        assertThat(isRefused()).isTrue();
        connected();
        ask();
        assertThat(connections.get(1).replies).hasSize(1);
    }

    @Test
    void anAnswerInTimeLetsTheNextQuestionHaveItsOwnTime() {
        Connecting connection = connected();
        Result first = ask();
        advance(TIMEOUT_MILLIS - 1);
        Result second = ask();
        connection.replies.get(0).onTaken(1, 0);
        advance(TIMEOUT_MILLIS - 1);
        assertThat(first.text).isEqualTo("granted 1");
        assertThat(second.text).isEmpty();
        advance(1);
        advance(1);
        assertThat(second.text).isEqualTo("failed");
    }

    @Test
    void howeverLongTheStoreIsAwayItIsTriedAgainSoon() {
        client.start();
        for (int i = 1; i <= 100; i++) {
            assertThat(connections).hasSize(i);
            connections.get(i - 1).listener.onClosed("refused");
            assertThat(isRefused()).isTrue();
            advance(RedisLoop.RETRY_MILLIS * 8 / 10 - 1);
            assertThat(connections).as("not at once").hasSize(i);
            advance(RedisLoop.RETRY_MILLIS * 4 / 10 + 1);
        }
    }

    @Test
    void aStoreThatEndsEachConnectionAtOnceIsTriedAgainAfterAPauseOnly() {
        for (int i = 1; i <= 10; i++) {
            connected().listener.onClosed("closed");
            assertThat(connections).hasSize(i);
            advance(RETRY_AT_LATEST);
            assertThat(connections).hasSize(i + 1);
        }
    }

    @Test
    void nobodyAsksBeforeAProbeIsAnswered() {
        Result waiting = ask();
        Connecting connection = probing();
        assertThat(connection.replies).isEmpty();
        connection.probes.get(0).onError("READONLY You can't write against a read only replica.");
        assertThat(waiting.text).isEqualTo("failed");
        assertThat(connection.closed).isTrue();
        assertThat(isRefused()).isTrue();
        advance(RETRY_AT_LATEST);
        Connecting next = probing();
        assertThat(isRefused()).isTrue();
        assertThat(next.replies).isEmpty();
        next.probes.get(0).onTaken(-1, 0);
        ask();
        assertThat(next.replies).hasSize(1);
        assertThat(health).containsExactly("it answers: READONLY You can't write against a read only replica.", "up");
    }

    @Test
    void aProbeThatIsLateFailsTheConnection() {
        Connecting connection = probing();
        timeOut();
        assertThat(connection.closed).isTrue();
        assertThat(health).containsExactly("no answer in 50 ms");
    }

    @Test
    void anErrorOfOneKeyFailsOnlyItsQuestion() {
        Connecting connection = connected();
        Result first = ask();
        Result second = ask();
        connection.replies.get(0).onError("WRONGTYPE Operation against a key");
        assertThat(first.text).isEqualTo("failed");
        connection.replies.get(1).onTaken(1, 0);
        assertThat(second.text).isEqualTo("granted 1");
        assertThat(connection.closed).isFalse();
        assertThat(client.failures()).isZero();
        assertThat(health).containsExactly("up", "key: WRONGTYPE Operation against a key");
    }

    @Test
    void theReasonIsNotThatTheConnectionWasClosedBecauseOfIt() {
        Connecting connection = connected();
        Result late = ask();
        connection.onClose = () -> {
            connection.replies.get(0).onEnded("the connection was closed");
            connection.listener.onClosed("the connection was closed");
        };
        timeOut();
        assertThat(late.text).isEqualTo("failed");
        assertThat(health).containsExactly("up", "no answer in 50 ms");
    }

    @Test
    void theTimeOfAnAnswerBeginsWhenTheQuestionHasLeft() {
        Connecting connection = connected();
        Result result = ask();
        advance(TIMEOUT_MILLIS - 1);
        connection.replies.get(0).onSent();
        advance(TIMEOUT_MILLIS - 1);
        assertThat(result.text).isEmpty();
        advance(1);
        advance(1);
        assertThat(result.text).isEqualTo("failed");
    }

    @Test
    void anAnswerThatTheLoopItselfReadsLateCounts() {
        Connecting connection = connected();
        Result result = ask();
        advance(100 * TIMEOUT_MILLIS); // the loop was busy
        connection.replies.get(0).onTaken(1, 0); // by its next turn
        advance(1);
        assertThat(result.text).isEqualTo("granted 1");
        assertThat(connection.closed).isFalse();
    }

    @Test
    void aConnectionThatEndsFailsWhatWaits() {
        Connecting connection = connected();
        Result result = ask();
        connection.listener.onClosed("the connection was closed");
        assertThat(result.text).isEqualTo("failed");
        assertThat(client.failures()).isOne();
        assertThat(isRefused()).isTrue();
    }

    @Test
    void aConnectionThatEndsWhileNobodyWaitsIsReplacedAtOnce() {
        Connecting connection = connected();
        Result before = ask();
        connection.replies.get(0).onTaken(1, 0);
        advance(RedisLoop.RETRY_MILLIS);
        int failures = client.failures();
        connection.listener.onClosed("closed");
        assertThat(connections).hasSize(2);
        assertThat(client.failures()).as("what was known is void").isEqualTo(failures + 1);
        Result after = ask();
        connected().replies.get(0).onTaken(1, 0);
        assertThat(before.text).isEqualTo("granted 1");
        assertThat(after.text).isEqualTo("granted 1");
        assertThat(health).containsOnly("up");
    }

    @Test
    void aConnectionThatEndsSoonIsNotReplacedAtOnce() {
        Connecting connection = connected();
        advance(RedisLoop.RETRY_MILLIS - 1);
        connection.listener.onClosed("closed");
        assertThat(connections).hasSize(1);
        assertThat(isRefused()).isTrue();
    }

    @Test
    void anErrorOfRedisCountsAsNoAnswer() {
        Connecting connection = connected();
        Result first = ask();
        Result second = ask();
        connection.replies.get(0).onError("OOM command not allowed");
        assertThat(first.text).isEqualTo("failed");
        assertThat(second.text).isEqualTo("failed");
        assertThat(health).containsExactly("up", "it answers: OOM command not allowed");
    }

    @Test
    void answersMayComeInAnotherOrder() {
        Connecting connection = connected();
        Result first = ask();
        Result second = ask();
        connection.replies.get(1).onTaken(2, 0);
        assertThat(second.text).isEqualTo("granted 2");
        connection.replies.get(0).onTaken(1, 0);
        assertThat(first.text).isEqualTo("granted 1");
        advance(10 * TIMEOUT_MILLIS);
        assertThat(connection.closed).isFalse();
    }

    @Test
    void onlySoManyQuestionsAreUnderWay() {
        Connecting connection = connected();
        for (int i = 0; i < RedisLoop.MOST_QUESTIONS; i++) {
            ask();
        }
        assertThat(isRefused()).isTrue();
        connection.replies.get(0).onTaken(1, 0);
        ask();
    }

    @Test
    void onceClosedItAsksNoMoreAndLeavesNoConnection() {
        Result waiting = ask();
        client.close();
        assertThat(waiting.text).isEqualTo("failed");
        assertThat(isRefused()).isTrue();
        Connecting late = connections.get(0);
        assertThat(late.cancelled).isTrue();
        late.listener.onConnected(late);
        assertThat(late.closed).isTrue();
        advance(10 * RETRY_AT_LATEST);
        assertThat(connections).hasSize(1);
        assertThat(health).isEmpty();
    }
}
