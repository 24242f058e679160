package dev.gateway.listener;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Rate limit of accepted connections (a token bucket) of one listener, which its sockets share. After a quiet second, as
 * many may come at once as otherwise in a second. Any thread.
 */
final class AcceptRate {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private final AtomicLong next; // when the next connection is due

    /** Makes a bucket that is full. */
    AcceptRate(long now) {
        next = new AtomicLong(now - SECOND);
    }

    /**
     * A connection was accepted.
     *
     * @param perSecond how many are accepted in a second, 0 for any number
     * @return for how many milliseconds no other is to be accepted
     */
    long accepted(long now, int perSecond) {
        if (perSecond == 0) {
            return 0;
        }
        long slot = SECOND / perSecond;
        return millis(next.updateAndGet(due -> Math.max(due - now, -SECOND) + slot + now) - now);
    }

    /** Returns for how many milliseconds no connection is to be accepted. */
    long pause(long now, int perSecond) {
        return perSecond == 0 ? 0 : millis(next.get() - now);
    }

    private static long millis(long nanos) {
        return nanos <= 0 ? 0 : (nanos + MILLI - 1) / MILLI;
    }
}
