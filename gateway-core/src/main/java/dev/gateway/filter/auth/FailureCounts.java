package dev.gateway.filter.auth;

import java.util.Iterator;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** How often logins have failed of late, by clients and by users. Bounded; safe from any thread. */
public final class FailureCounts {
    static final int MOST_PER_MINUTE = 10;
    private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);
    private static final int MOST_KEYS = 10_000;

    private final LongSupplier nanoClock;
    private final ConcurrentHashMap<Object, Minute> minutes = new ConcurrentHashMap<>();

    private record Minute(long begunNanos, int failures) {}

    /** Makes it, without failures. */
    public FailureCounts(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** A login has failed of whom or what this key stands for. */
    void add(Object key) {
        if (minutes.size() >= MOST_KEYS) {
            makeRoom();
        }
        long now = nanoClock.getAsLong();
        minutes.merge(
                key,
                new Minute(now, 1),
                (last, first) -> isOver(last, now) ? first : new Minute(last.begunNanos, last.failures + 1));
    }

    /** Whether there was a failure within a minute. */
    boolean any(Object key) {
        return count(key) > 0;
    }

    /** Whether there were so many failures within a minute that there must not be more. */
    boolean isFull(Object key) {
        return count(key) >= MOST_PER_MINUTE;
    }

    private int count(Object key) {
        Minute minute = minutes.get(key);
        return minute == null || isOver(minute, nanoClock.getAsLong()) ? 0 : minute.failures;
    }

    private static boolean isOver(Minute minute, long now) {
        return now - minute.begunNanos > MINUTE;
    }

    /** Drops what is over, or else whatever comes first. */
    private void makeRoom() {
        long now = nanoClock.getAsLong();
        minutes.values().removeIf(minute -> isOver(minute, now));
        Iterator<Object> keys = minutes.keySet().iterator();
        while (minutes.size() >= MOST_KEYS && keys.hasNext()) {
            keys.next();
            keys.remove();
        }
    }

    int size() {
        return minutes.size();
    }
}
