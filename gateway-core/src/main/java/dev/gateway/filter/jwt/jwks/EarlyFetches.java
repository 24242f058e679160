package dev.gateway.filter.jwt.jwks;

import java.util.concurrent.TimeUnit;

/**
 * How often tokens with unknown keys may have the keys fetched early: a few times soon after another, and in the long run
 * seldom, so that strangers cannot flood the server. Confined to one event loop.
 */
final class EarlyFetches {
    /** None at present. */
    static final long NONE = -1;

    /** Two never begin within that time. */
    static final long SPACING_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** In the long run, one in this time. */
    static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** So many after a quiet time. */
    static final int BURST = 5;

    private boolean used;
    private long lastNanos; // when the last one begins
    private long fullNanos; // when there are as many as after a quiet time (GCRA)

    /** Takes one; returns in how many nanoseconds it may begin, or {@link #NONE}. */
    long take(long now) {
        long lacks = INTERVAL_NANOS + (used ? Math.max(0, fullNanos - now) : 0);
        if (lacks > BURST * INTERVAL_NANOS) {
            return NONE;
        }
        long wait = used ? Math.max(0, SPACING_NANOS - (now - lastNanos)) : 0;
        used = true;
        lastNanos = now + wait;
        fullNanos = now + lacks;
        return wait;
    }
}
