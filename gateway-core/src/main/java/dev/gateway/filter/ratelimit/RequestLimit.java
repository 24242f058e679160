package dev.gateway.filter.ratelimit;

/** Limits how many requests come in a time. */
public final class RequestLimit extends BucketLimit {
    /** Makes a limit that has counted nothing. */
    public RequestLimit(LimitTables tables, RateLimitConfig.Rate rate) {
        super(tables, rate, Pace.REQUEST);
    }

    @Override
    void onEnd(long key, long taken, long bytes, long nanos) {}
}
