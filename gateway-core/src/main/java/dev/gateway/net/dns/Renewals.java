package dev.gateway.net.dns;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * Asks DNS again for names whose answers are in doubt, before their TTL is over. It asks for a name at most once in an
 * interval; a doubt that comes sooner is heard when the interval is over. Tells those who follow the name. Safe from any
 * thread; the questions are asked on one event loop.
 */
final class Renewals {
    static final long INTERVAL_MILLIS = 2000;

    /** More names than that are not renewed at a time, since clients may choose names. */
    static final int MAX_NAMES = 10_000;

    private final EventLoop loop;
    private final Function<Key, Future<?>> question;
    private final Map<Key, Renewal> renewals = new HashMap<>(); // used on the loop
    private final AtomicLong asked = new AtomicLong();
    private final Map<Key, Set<Follower>> followers = new ConcurrentHashMap<>();

    /**
     * A name.
     *
     * @param host in lower case
     * @param exact whether no search domain completes it
     */
    record Key(String host, boolean exact) {}

    /** Somebody who wants to know when a name has been renewed. */
    private record Follower(EventLoop loop, Runnable task) {
        void tell() {
            if (!loop.isShuttingDown()) {
                loop.execute(task);
            }
        }
    }

    /** The questions for one name in the current interval. */
    private static final class Renewal {
        final List<Promise<Boolean>> waiting = new ArrayList<>();
        boolean underWay;
        boolean intervalIsOver;
        boolean again; // in the next interval
    }

    /**
     * Makes it without names.
     *
     * @param loop where questions are asked
     * @param question asks DNS, and puts the answer into the cache before the future is complete
     */
    Renewals(EventLoop loop, Function<Key, Future<?>> question) {
        this.loop = loop;
        this.question = question;
    }

    /**
     * Asks for a name again.
     *
     * @param result completed with true when there is an answer or a failure, and with false at once if the name was asked
     *     for a moment ago
     */
    void renew(Key key, Promise<Boolean> result) {
        if (loop.isShuttingDown()) {
            result.trySuccess(false);
        } else {
            loop.execute(() -> begin(key, result));
        }
    }

    private void begin(Key key, Promise<Boolean> result) {
        Renewal known = renewals.get(key);
        if (known == null && renewals.size() < MAX_NAMES) {
            Renewal renewal = new Renewal();
            renewals.put(key, renewal);
            renewal.waiting.add(result);
            ask(key, renewal);
        } else if (known != null && known.underWay) {
            known.waiting.add(result);
        } else {
            if (known != null) {
                known.again = true;
            }
            result.trySuccess(false);
        }
    }

    private void ask(Key key, Renewal renewal) {
        asked.incrementAndGet();
        renewal.underWay = true;
        renewal.intervalIsOver = false;
        renewal.again = false;
        loop.schedule(
                () -> {
                    renewal.intervalIsOver = true;
                    goOn(key, renewal);
                },
                INTERVAL_MILLIS,
                TimeUnit.MILLISECONDS);
        question.apply(key).addListener(answered -> onAnswered(key, renewal));
    }

    private void onAnswered(Key key, Renewal renewal) {
        renewal.underWay = false;
        List<Promise<Boolean>> waiting = List.copyOf(renewal.waiting);
        renewal.waiting.clear();
        waiting.forEach(each -> each.trySuccess(true));
        followers.getOrDefault(key, Set.of()).forEach(Follower::tell);
        goOn(key, renewal);
    }

    private void goOn(Key key, Renewal renewal) {
        if (renewal.underWay || !renewal.intervalIsOver) {
            return;
        }
        if (renewal.again) {
            ask(key, renewal);
        } else {
            renewals.remove(key);
        }
    }

    /**
     * Follows a name.
     *
     * @param task called on the event loop of the follower after each renewal
     * @return ends it
     */
    Runnable follow(Key key, EventLoop on, Runnable task) {
        Follower follower = new Follower(on, task);
        followers.compute(key, (any, before) -> {
            Set<Follower> all = before == null ? ConcurrentHashMap.newKeySet() : before;
            all.add(follower);
            return all;
        });
        return () -> followers.computeIfPresent(key, (any, before) -> {
            before.remove(follower);
            return before.isEmpty() ? null : before;
        });
    }

    /** Counts names that were asked for again, each time that they were. */
    long asked() {
        return asked.get();
    }

    /** Whether somebody follows a name. */
    boolean isFollowed(Key key) {
        return followers.containsKey(key);
    }

    /** Asks again for all names that somebody follows. */
    void renewFollowed() {
        followers.keySet().forEach(key -> renew(key, loop.newPromise()));
    }
}
