package dev.gateway.filter.ratelimit;

/**
 * Limits how many bytes of bodies and WebSockets pass in a time, in both directions. A request passes if its bucket has a
 * byte left. What it has moved is taken when it ends, even if the bucket has less: then the key waits for longer.
 */
public final class ByteLimit extends BucketLimit {
    /** Makes a limit that has counted nothing. */
    public ByteLimit(LimitTables tables, RateLimitConfig.Rate rate) {
        super(tables, rate, Pace.BYTE);
    }

    @Override
    void onEnd(long key, long taken, long bytes, long nanos) {
        charge(key, bytes - 1, 0, nanos); // it had one in advance
    }
}
