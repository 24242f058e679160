package dev.gateway.filter.ratelimit;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;

/** A limit of a rule: what it has counted, which outlives reloads. Shared by event loops. */
public abstract sealed class Limit permits BucketLimit, ConcurrencyLimit, SharedLimit {
    /** The key of all requests together. */
    static final long ALL = 0;

    /** What keys are hashed with, so that those of one limit are not those of another one. */
    private final long purpose = ThreadLocalRandom.current().nextLong();

    private final LongAdder allowed = new LongAdder();
    private final LongAdder denied = new LongAdder();

    final long purpose() {
        return purpose;
    }

    /**
     * Takes one request, or one byte, for a request.
     *
     * @return a value for {@link #giveBack} and {@link #left}; negative if the limit refuses the request
     */
    abstract long take(long key, long nanos);

    /** Puts back what was taken for a request that another limit refuses. */
    abstract void giveBack(long key, long taken);

    /**
     * The request that one was taken for has ended.
     *
     * @param key that was taken from, which only a {@link ByteLimit} is told
     * @param bytes how many it has moved, in both directions
     */
    abstract void onEnd(long key, long taken, long bytes, long nanos);

    /** Returns how much more of the key may come now, as far as it is known. */
    abstract long left(long taken);

    /** Returns in how many seconds the key has all that it may have, 0 if time does not tell. */
    abstract long secondsToFull(long taken);

    /** Returns in how many seconds a request that was refused may come again. */
    abstract long secondsToWait(long taken);

    final void countAllowed() {
        allowed.increment();
    }

    final void countDenied() {
        denied.increment();
    }

    /** Returns how many requests this limit and all others let pass. */
    public final long allowed() {
        return allowed.sum();
    }

    /** Returns how many requests this limit refused. */
    public final long denied() {
        return denied.sum();
    }

    static long seconds(long nanos) {
        return nanos / 1_000_000_000 + (nanos % 1_000_000_000 > 0 ? 1 : 0); // rounded up, and no overflow
    }
}
