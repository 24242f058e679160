package dev.gateway.filter.limit;

import java.util.concurrent.atomic.AtomicLong;

/** Limits how many requests come in a time. A change of its rate takes effect at once, and keeps what was counted. */
public final class RequestLimit extends Limit {
    private final LimitTables tables;
    private final BucketTable buckets;
    private final AtomicLong all = new AtomicLong(); // the bucket without a key, which never makes room for others
    private volatile Pace pace;

    /** Makes a limit that has counted nothing. */
    public RequestLimit(LimitTables tables, RequestRate rate) {
        this.tables = tables;
        this.buckets = tables.buckets();
        this.pace = Pace.of(rate, tables.nanoTime());
    }

    /** Changes the rate. */
    public void change(RequestRate rate) {
        pace = pace.change(rate, tables.nanoTime());
    }

    @Override
    long take(long key, long nanos) {
        return key == ALL ? takeOfAll(nanos) : buckets.take(key, pace, nanos);
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
    void giveBack(long key, long taken) {
        if (key == ALL) {
            all.getAndAdd(-Pace.REQUEST);
        } else {
            buckets.giveBack(key);
        }
    }

    @Override
    void onEnd(long taken) {}

    @Override
    long left(long taken) {
        return Math.max(0, pace.capacity() - taken) / Pace.REQUEST;
    }

    @Override
    long secondsToFull(long taken) {
        return seconds(pace.nanos(taken));
    }

    @Override
    long secondsToWait(long taken) {
        return seconds(pace.nanos(-taken));
    }
}
