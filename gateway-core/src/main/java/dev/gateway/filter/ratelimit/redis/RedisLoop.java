package dev.gateway.filter.ratelimit.redis;

import dev.gateway.config.StoreConfig;
import dev.gateway.filter.ratelimit.StoreClient;
import dev.gateway.observe.counts.Histogram;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A store's connection on one event loop, and the circuit breaker before it. When an answer is late or the connection ends,
 * all questions fail. None is asked until Redis has answered a probe on another connection: it may accept connections but
 * refuse to write. So a store that is gone costs each loop one timeout, and one more only after it has come back. A connection that
 * ends while nobody waits for an answer is replaced at once. Each other attempt follows a pause that does not grow: however
 * long the store was away, all loops use it again within three seconds. Confined to its event loop.
 */
final class RedisLoop implements StoreClient {
    /** A bucket that nobody counts by, as keys of limits have a colon: whether Redis lets the gateway write there. */
    private static final String PROBE = "probe";

    /** Pause before another attempt, with jitter. An attempt asks the network again after one second, and ends after two. */
    static final long RETRY_MILLIS = 1_000;

    /** The loop's next turn reads sockets before it runs what is due. */
    static final long NEXT_TURN_NANOS = 1_000_000;

    /** How many questions may be under way: as many as requests may wait, and as many to put something back. */
    static final int MOST_QUESTIONS = 20_000;

    private final EventLoop loop;
    private final RedisConnector connector;
    private final LoopHealth health;
    private final Question probe;
    private final long timeoutNanos;
    private final LongSupplier clock;
    private final Histogram durations = new Histogram(Histogram.Buckets.REQUEST);
    private final Deque<Pending> pending = new ArrayDeque<>(); // in the order in which they were asked
    private State state = State.NEW;
    private @Nullable Connection connection; // also one that is being made
    private @Nullable ScheduledFuture<?> check;
    private @Nullable ScheduledFuture<?> retry;
    private int failures;
    private long upNanos; // since when, if it is up

    private enum State {
        /** Nobody has asked. */
        NEW,
        /** Questions wait for the first connection, and the answer to its probe. */
        CONNECTING,
        UP,
        /** Questions are refused until a probe is answered. */
        DOWN,
        CLOSED
    }

    /** A question under way. */
    private final class Pending implements RedisLink.Reply {
        private final Question question;
        private final Answer answer;
        private long sinceNanos = clock.getAsLong(); // when it was asked, and as soon as it has left, when that was
        private boolean isLate;
        private boolean done;

        Pending(Question question, Answer answer) {
            this.question = question;
            this.answer = answer;
        }

        @SuppressWarnings("ReferenceEquality") // there is one
        private boolean isProbe() {
            return question == probe;
        }

        @Override
        public void onSent() {
            sinceNanos = clock.getAsLong();
        }

        @Override
        public void onTaken(int granted, long lacks) {
            if (!done) {
                done = true;
                if (!isProbe()) {
                    durations.record(clock.getAsLong() - sinceNanos);
                }
                forgetDone();
                answer.onTaken(granted, lacks);
            }
        }

        @Override
        public void onError(String error) {
            if (done) {
                return;
            }
            if (!isProbe() && TakeScript.isOfKey(error)) {
                done = true;
                forgetDone();
                health.onKeyError(question.key(), error);
                answer.onFailure();
            } else {
                fail("it answers: " + error);
            }
        }

        @Override
        public void onEnded(String reason) {
            if (!done) {
                fail(reason);
            }
        }
    }

    /** Lets requests ask as soon as Redis has written what it was asked to. */
    private final class Probe implements Answer {
        private final RedisLink link;

        Probe(RedisLink link) {
            this.link = link;
        }

        @Override
        public void onTaken(int granted, long lacks) {
            state = State.UP;
            upNanos = clock.getAsLong();
            health.onUp();
            pending.forEach(each -> link.ask(each.question, each));
        }

        @Override
        public void onFailure() {
            // nobody waits for it, and the loop knows why
        }
    }

    /** A connection that is being made, or is there. */
    private final class Connection implements RedisConnector.Listener {
        private @Nullable RedisLink link;
        private RedisConnector.@Nullable Attempt attempt;

        @Override
        public void onConnected(RedisLink opened) {
            link = opened;
            if (connection == this) {
                Pending first = new Pending(probe, new Probe(opened));
                pending.addFirst(first);
                opened.ask(probe, first);
                if (check == null) {
                    checkIn(timeoutNanos);
                }
            } else {
                opened.close();
            }
        }

        void end() {
            if (link != null) {
                link.close();
            } else if (attempt != null) {
                attempt.cancel();
            }
        }

        @Override
        public void onClosed(String reason) {
            if (connection == this) {
                connection = null;
                if (!replace()) {
                    fail(reason);
                }
            }
        }
    }

    RedisLoop(EventLoop loop, RedisConnector connector, LoopHealth health, StoreConfig config, LongSupplier clock) {
        this.loop = loop;
        this.connector = connector;
        this.health = health;
        this.probe = new Question(config.keyPrefix() + PROBE, REQUEST, 1, -1); // puts back, which always writes
        this.timeoutNanos = config.timeout().toNanos();
        this.clock = clock;
    }

    /** Returns how long answers took. */
    Histogram durations() {
        return durations;
    }

    /** Connects, unless it has. */
    void start() {
        if (state == State.NEW) {
            state = State.CONNECTING;
            connect();
        }
    }

    private void connect() {
        Connection next = new Connection();
        connection = next;
        next.attempt = connector.connect(loop, next);
    }

    @Override
    public boolean ask(Question question, Answer answer) {
        start();
        if (!mayAsk()) {
            return false;
        }
        Pending asked = new Pending(question, answer);
        pending.add(asked);
        if (state == State.UP && connection != null && connection.link != null) {
            connection.link.ask(question, asked);
        }
        if (check == null) {
            checkIn(timeoutNanos);
        }
        return true;
    }

    @Override
    public boolean mayAsk() {
        return state != State.DOWN && state != State.CLOSED && pending.size() < MOST_QUESTIONS;
    }

    @Override
    public int failures() {
        return failures;
    }

    private void checkIn(long nanos) {
        check = loop.schedule(this::check, nanos, TimeUnit.NANOSECONDS);
    }

    private void check() {
        check = null;
        forgetDone();
        Pending oldest = pending.peek();
        if (oldest != null) {
            long left = timeoutNanos - (clock.getAsLong() - oldest.sinceNanos);
            if (left > 0) {
                checkIn(left);
            } else if (!oldest.isLate) { // maybe it is this loop that is late: the answer may be in the socket
                oldest.isLate = true;
                checkIn(NEXT_TURN_NANOS);
            } else {
                fail("no answer in " + TimeUnit.NANOSECONDS.toMillis(timeoutNanos) + " ms");
            }
        }
    }

    /** Answers come in order, unless Redis had to be told the script first. */
    private void forgetDone() {
        while (!pending.isEmpty() && pending.peek().done) {
            pending.remove();
        }
    }

    /**
     * Connects again at once if nobody waits for what has ended: servers close what is idle.
     *
     * @return whether it does; not if the connection has ended soon
     */
    private boolean replace() {
        forgetDone();
        boolean isIdle = state == State.UP && pending.isEmpty();
        if (!isIdle || clock.getAsLong() - upNanos < TimeUnit.MILLISECONDS.toNanos(RETRY_MILLIS)) {
            return false;
        }
        failures++; // the server may have started again
        state = State.CONNECTING;
        connect();
        return true;
    }

    /** Asks no more until there is another connection. The first one may still be in the making. */
    private void fail(String reason) {
        if (state == State.CLOSED) {
            return;
        }
        Connection failed = connection;
        boolean stillConnecting = failed != null && failed.link == null;
        state = State.DOWN;
        failures++;
        List<Pending> ended = endAll();
        health.onDown(reason);
        if (!stillConnecting) {
            connection = null;
            retryLater();
            if (failed != null && failed.link != null) {
                failed.link.close(); // may report its end before it returns
            }
        }
        ended.forEach(each -> each.answer.onFailure());
    }

    /** Tries another connection after a pause. */
    private void retryLater() {
        if (retry == null) {
            long millis = RETRY_MILLIS * ThreadLocalRandom.current().nextInt(80, 120) / 100; // not all at once
            retry = loop.schedule(this::retry, millis, TimeUnit.MILLISECONDS);
        }
    }

    private void retry() {
        retry = null;
        if (state == State.DOWN && connection == null) {
            connect();
        }
    }

    /** Takes the questions under way, whose answers are not waited for any more. */
    private List<Pending> endAll() {
        List<Pending> ended = new ArrayList<>(pending);
        pending.clear();
        ended.removeIf(each -> each.done);
        ended.forEach(each -> each.done = true);
        return ended;
    }

    /** Closes the connection, and asks no more. */
    void close() {
        if (state == State.CLOSED) {
            return;
        }
        state = State.CLOSED;
        Connection last = connection;
        connection = null;
        List<Pending> ended = endAll();
        cancel(check);
        cancel(retry);
        if (last != null) {
            last.end();
        }
        ended.forEach(each -> each.answer.onFailure());
    }

    private static void cancel(@Nullable ScheduledFuture<?> task) {
        if (task != null) {
            task.cancel(false);
        }
    }
}
