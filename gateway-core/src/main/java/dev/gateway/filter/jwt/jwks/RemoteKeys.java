package dev.gateway.filter.jwt.jwks;

import dev.gateway.format.crypto.JwkSet;
import dev.gateway.stream.Failure;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.SourceStatus;
import dev.gateway.upstream.health.Probe;
import dev.gateway.upstream.stream.StreamOpener;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A set of keys that is fetched in the background: when it is started, before it is too old, and early when a token names a
 * key that it lacks. While its server fails, the last keys stay for a day. It works on one event loop; any thread may call the
 * public methods, none of which waits.
 */
public final class RemoteKeys implements Supplier<JwkSet> {
    /** How long an answer may take, from the name's resolution to its last byte. */
    static final long TIMEOUT_MILLIS = 5_000;

    static final long FIRST_RETRY_MILLIS = 1_000;
    static final long MOST_RETRY_MILLIS = 30_000;

    /** A server that is out of reach cannot say which keys it has withdrawn. */
    static final long MOST_AGE_NANOS = TimeUnit.DAYS.toNanos(1);

    private static final Logger log = LoggerFactory.getLogger(RemoteKeys.class);
    private static final String NO_TIME = "the gateway has no time to read the answer";

    private final KeyLocation location;
    private final StreamOpener opener;
    private final TimerWheel wheel;
    private final Executor parsing;
    private final LongSupplier nanoClock;
    private final AtomicLong succeeded = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private volatile JwkSet keys = JwkSet.NONE;
    private final SourceStatus.Freshness freshness;
    // The rest is confined to the event loop.
    private final EarlyFetches early = new EarlyFetches();
    private final NextFetch next = new NextFetch();
    private final KeyWaiters waiters = new KeyWaiters();
    private State state = State.NEW;
    private @Nullable Fetch fetch; // the request in progress
    private int failuresInARow;
    private boolean isDueEarly; // those who wait have made the current rest shorter
    private long dueNanos; // when the rest ends

    private enum State {
        /** Nobody has started it. */
        NEW,
        /** It fetches the keys. */
        FETCHING,
        /** It waits until it is time for the next fetch. */
        RESTING,
        CLOSED
    }

    /**
     * Makes a set without keys.
     *
     * @param opener opens streams on the event loop
     * @param wheel the timers of that loop
     * @param parsing runs what takes too long for an event loop
     */
    public RemoteKeys(
            KeyLocation location, StreamOpener opener, TimerWheel wheel, Executor parsing, LongSupplier nanoClock) {
        this.location = location;
        this.opener = opener;
        this.wheel = wheel;
        this.parsing = parsing;
        this.nanoClock = nanoClock;
        this.freshness = new SourceStatus.Freshness(nanoClock);
    }

    /** Returns where the keys come from. */
    public KeyLocation location() {
        return location;
    }

    /** Returns the keys as they are now. */
    @Override
    public JwkSet get() {
        return keys;
    }

    /** Counts fetches that brought keys. */
    public long succeeded() {
        return succeeded.get();
    }

    /** Counts fetches that brought none. */
    public long failed() {
        return failed.get();
    }

    /** Returns how old the keys are, and why they are not newer. */
    public SourceStatus status() {
        return freshness.status();
    }

    /** Begins to fetch the keys; once. */
    public void start() {
        onLoop(() -> {
            if (state == State.NEW) {
                fetch();
            }
        });
    }

    /** Ends it: the keys stay as they are. */
    public void close() {
        onLoop(() -> {
            state = State.CLOSED;
            isDueEarly = false;
            next.cancel();
            if (fetch != null) {
                fetch.probe.abandon();
                fetch = null;
            }
            waiters.tell(keys, true);
        });
    }

    /**
     * Asks for keys that are newer than those which do not verify a token, or waits for those that are being fetched. If they
     * were fetched only just now, the next fetch follows a moment later.
     *
     * @param client whose token it is
     * @param seen the keys that do not verify it
     * @param then told once, on the event loop of this; no later than that moment and a fetch take
     */
    public void renew(Object client, JwkSet seen, Consumer<RenewalOutcome> then) {
        onLoop(() -> renewHere(client, seen, then));
    }

    private void renewHere(Object client, JwkSet seen, Consumer<RenewalOutcome> then) {
        if (!keys.isEmpty() && !seen.equals(keys)) {
            then.accept(RenewalOutcome.CHANGED);
            return;
        }
        if (state == State.RESTING && !keys.isEmpty() && !isDueEarly) {
            fetchEarly();
        }
        if (state == State.NEW || state == State.FETCHING || isDueEarly) {
            waiters.add(client, seen, then);
        } else {
            boolean failed = keys.isEmpty() || status().isStale();
            then.accept(failed ? RenewalOutcome.FAILED : RenewalOutcome.SAME);
        }
    }

    /** Fetches the keys now, or when a moment has passed since the last time, if tokens may have them fetched at all. */
    private void fetchEarly() {
        long now = nanoClock.getAsLong();
        long wait = early.take(now);
        if (wait == 0) {
            fetch();
        } else if (wait != EarlyFetches.NONE) {
            isDueEarly = true;
            if (dueNanos - now > wait) {
                wheel.arm(next, TimeUnit.NANOSECONDS.toMillis(wait) + 1);
            }
        }
    }

    private void fetch() {
        state = State.FETCHING;
        isDueEarly = false;
        next.cancel();
        ask(false);
    }

    private void ask(boolean again) {
        Endpoint endpoint = location.upstream().hosts().get(0).endpoint();
        Fetch begun = new Fetch(new KeyQuestion(location, endpoint), again);
        fetch = begun;
        wheel.arm(begun.probe, TIMEOUT_MILLIS);
        begun.probe.began(
                opener.open(location.upstream(), endpoint, begun.question.kind(), null, begun.probe, begun.probe));
    }

    private void parse(Fetch answered) {
        wheel.arm(next, TIMEOUT_MILLIS);
        try {
            parsing.execute(() -> {
                Runnable result = parsed(answered.question);
                onLoop(() -> {
                    if (fetch == answered) {
                        result.run();
                    }
                });
            });
        } catch (RejectedExecutionException e) {
            onFailed(NO_TIME);
        }
    }

    /** Returns what is to be done on the event loop with an answer. */
    private Runnable parsed(KeyQuestion answered) {
        try {
            List<String> unusable = new ArrayList<>();
            JwkSet set = JwkSet.parse("the answer", answered.body(), unusable::add);
            return () -> onFetched(set, unusable, answered.lifetimeMillis());
        } catch (IOException e) {
            String problem = String.valueOf(e.getMessage());
            return () -> onFailed(problem);
        } catch (RuntimeException | StackOverflowError e) { // whatever a server may write
            return () -> onFailed("the answer is not a JSON Web Key Set");
        }
    }

    private void onFetched(JwkSet fetched, List<String> unusable, long lifetimeMillis) {
        succeeded.incrementAndGet();
        failuresInARow = 0;
        boolean isNews = status().state() != SourceStatus.State.FRESH;
        freshness.onGood(nanoClock.getAsLong());
        boolean isOther = !fetched.equals(keys);
        if (isOther) {
            keys = fetched; // else what was verified by the same keys would have to be verified again
        }
        if (isNews || isOther) {
            log.info("Fetched the keys of {}: {}", location.url(), fetched);
            if (!unusable.isEmpty()) {
                log.warn("The gateway leaves out keys of {}: {}", location.url(), String.join("; ", unusable));
            }
        }
        rest((long) (lifetimeMillis * (0.8 + 0.1 * random())));
    }

    private void onFailed(String why) {
        failed.incrementAndGet();
        failuresInARow++;
        boolean isNews = !status().isStale();
        freshness.onFailed(why);
        boolean isTooOld = !keys.isEmpty() && status().ageNanos() >= MOST_AGE_NANOS;
        if (isTooOld) {
            keys = JwkSet.NONE;
        }
        if (isNews || isTooOld) {
            log.warn(
                    "Cannot fetch the keys of {}: {}; {}",
                    location.url(),
                    why,
                    !keys.isEmpty()
                            ? "the gateway keeps those that it has"
                            : "the gateway answers requests with 503 until it has keys");
        }
        long most = Math.min(MOST_RETRY_MILLIS, FIRST_RETRY_MILLIS << Math.min(10, failuresInARow - 1));
        rest((long) (most * (0.5 + 0.5 * random())));
    }

    private void rest(long millis) {
        state = State.RESTING;
        fetch = null;
        dueNanos = nanoClock.getAsLong() + TimeUnit.MILLISECONDS.toNanos(millis);
        wheel.arm(next, millis);
        waiters.tell(keys, status().isStale());
    }

    private static double random() {
        return ThreadLocalRandom.current().nextDouble();
    }

    private void onLoop(Runnable task) {
        try {
            wheel.loop().execute(task);
        } catch (RejectedExecutionException e) {
            // The loop is being shut down, and all exchanges with it.
        }
    }

    /** Begins the next fetch, or ends one whose answer nobody has read. */
    private final class NextFetch extends Timer {
        @Override
        protected void onExpired() {
            if (state == State.FETCHING) {
                onFailed(NO_TIME);
            } else {
                fetch();
            }
        }
    }

    /** One request to the server. */
    private final class Fetch implements Probe.Listener {
        private final KeyQuestion question;
        private final Probe probe;
        private final boolean again;

        Fetch(KeyQuestion question, boolean again) {
            this.question = question;
            this.probe = new Probe(this, question);
            this.again = again;
        }

        @Override
        public void onAnswered(@Nullable String failure) {
            if (failure == null) {
                parse(this);
            } else {
                RemoteKeys.this.onFailed(failure);
            }
        }

        @Override
        public void onFailed(Failure failure) {
            if (failure.stale() && !again) {
                ask(true); // the server had closed the connection before it got the request
            } else {
                RemoteKeys.this.onFailed(failure.cause().label() + ": " + failure.detail());
            }
        }

        @Override
        public void onTimeout() {
            RemoteKeys.this.onFailed("no complete answer in " + TIMEOUT_MILLIS + " ms");
        }
    }
}
