package dev.gateway.listener;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Rate limit of accepted connections (a token bucket) of one listener, which its sockets share. After a quiet second, it
 * allows the connections of one second at once. Safe from any thread.
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
     * @param perSecond the maximum number of connections in a second, 0 for no limit
     * @return how many milliseconds not to accept another one
     */
    long accepted(long now, int perSecond) {
        if (perSecond == 0) {
            return 0;
        }
        long slot = SECOND / perSecond;
        return millis(next.updateAndGet(due -> Math.max(due - now, -SECOND) + slot + now) - now);
    }

    /** Returns how many milliseconds not to accept a connection. */
    long pause(long now, int perSecond) {
        return perSecond == 0 ? 0 : millis(next.get() - now);
    }

    private static long millis(long nanos) {
        return nanos <= 0 ? 0 : (nanos + MILLI - 1) / MILLI;
    }
}
