package dev.gateway.filter.ratelimit;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits how many requests or bytes come in a time, by token buckets. A change of its rate takes effect at once, and keeps what
 * was counted.
 */
public abstract sealed class BucketLimit extends Limit permits RequestLimit, ByteLimit {
    private final LimitTables tables;
    private final BucketTable buckets;
    private final int number;
    private final AtomicLong all = new AtomicLong(); // the bucket without a key, which never makes room for others
    private volatile Pace pace;

    /**
     * Makes a limit that has counted nothing.
     *
     * @param unit ticks of what it counts
     */
    BucketLimit(LimitTables tables, RateLimitConfig.Rate rate, long unit) {
        this.tables = tables;
        this.buckets = tables.buckets();
        this.number = buckets.newNumber();
        this.pace = Pace.of(rate, unit, tables.nanoTime());
    }

    /** Changes the rate. */
    public final void change(RateLimitConfig.Rate rate) {
        pace = pace.change(rate, tables.nanoTime());
    }

    final Pace pace() {
        return pace;
    }

    private long own(long key) {
        return BucketTable.key(number, key);
    }

    @Override
    final long take(long key, long nanos) {
        return key == ALL ? takeOfAll(nanos) : buckets.take(own(key), pace, nanos);
    }

    private long takeOfAll(long nanos) {
        Pace current = pace;
        long now = current.ticks(nanos);
        for (; ; ) {
            long full = all.get();
            long lacks = current.take(full, now);
            if (lacks < 0 || all.compareAndSet(full, now + lacks)) {
                return lacks;
            }
        }
    }

    @Override
    final void giveBack(long key, long taken) {
        putBack(key, 1);
    }

    /** Puts back units that were taken. */
    final void putBack(long key, int units) {
        if (key == ALL) {
            all.getAndAdd(-units * pace.unit());
        } else {
            buckets.giveBack(own(key), units, pace);
        }
    }

    /**
     * Takes some ticks more, whether or not the bucket has them.
     *
     * @param atLeast how many ticks the bucket lacks then, if not more
     */
    final void charge(long key, long ticks, long atLeast, long nanos) {
        Pace current = pace;
        if (key == ALL) {
            long now = current.ticks(nanos);
            all.updateAndGet(full -> now + Pace.charge(full, now, ticks, atLeast));
        } else {
            buckets.charge(own(key), ticks, atLeast, current, nanos);
        }
    }

    @Override
    final long left(long taken) {
        Pace current = pace;
        return Math.max(0, current.capacity() - taken) / current.unit();
    }

    @Override
    final long secondsToFull(long taken) {
        return seconds(pace.nanos(taken));
    }

    @Override
    final long secondsToWait(long taken) {
        return seconds(pace.nanos(-taken));
    }
}
