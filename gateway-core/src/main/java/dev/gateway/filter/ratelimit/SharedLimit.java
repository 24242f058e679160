package dev.gateway.filter.ratelimit;

import dev.gateway.filter.FilterContext;
import dev.gateway.message.PartDigest;
import dev.gateway.message.RequestHead;

/**
 * Limits how many requests come to several gateways in a time. A {@link LimitStore} has the buckets; what is here decides
 * while the store does not answer. A change of rate or store takes effect at once.
 */
public final class SharedLimit extends Limit {
    private final RequestLimit local;
    private final String name;
    private volatile LimitStore store;

    /**
     * Makes a limit that has counted nothing.
     *
     * @param name of rule and limit, the same in all gateways
     */
    public SharedLimit(LimitTables tables, RateLimitConfig.Rate rate, String name, LimitStore store) {
        this.local = new RequestLimit(tables, rate);
        this.name = name;
        this.store = store;
    }

    /** Changes the rate, and where it counts. */
    public void change(RateLimitConfig.Rate rate, LimitStore to) {
        local.change(rate);
        store = to;
    }

    LimitStore store() {
        return store;
    }

    /** Returns the limit of this gateway alone, whose rate is the same. */
    RequestLimit local() {
        return local;
    }

    /** Returns the bucket's key in the store. */
    String storeKey(LimitKey key, RequestHead head, FilterContext context) {
        String text = store.keyPrefix() + name;
        if (!key.isEmpty()) {
            PartDigest digest = new PartDigest();
            key.of(digest, 0, head, context);
            text += ':' + digest.end();
        }
        return text;
    }

    @Override
    long take(long key, long nanos) {
        return local.take(key, nanos);
    }

    @Override
    void giveBack(long key, long taken) {
        local.giveBack(key, taken);
    }

    @Override
    void onEnd(long key, long taken, long bytes, long nanos) {}

    @Override
    long left(long taken) {
        return local.left(taken);
    }

    @Override
    long secondsToFull(long taken) {
        return local.secondsToFull(taken);
    }

    @Override
    long secondsToWait(long taken) {
        return local.secondsToWait(taken);
    }
}
