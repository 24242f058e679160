package dev.gateway.filter.ratelimit;

import java.util.concurrent.atomic.AtomicInteger;

/** Limits how many requests are in flight at a time, WebSockets and other tunnels included. */
public final class ConcurrencyLimit extends Limit {
    /** What was taken, if it is not a place of the table. */
    private static final long OF_ALL = 1L << 32;

    private static final long UNCOUNTED = 2L << 32;

    private final PermitTable permits;
    private final AtomicInteger all = new AtomicInteger();
    private volatile int max;

    /** Makes a limit that has counted nothing. */
    public ConcurrencyLimit(LimitTables tables, int max) {
        this.permits = tables.permits();
        this.max = max;
    }

    /** Changes how many there may be. */
    public void change(int most) {
        max = most;
    }

    @Override
    long take(long key, long nanos) {
        if (key != ALL) {
            int place = permits.take(key, max);
            return place == PermitTable.UNCOUNTED ? UNCOUNTED : place;
        }
        if (all.incrementAndGet() > max) {
            all.decrementAndGet();
            return PermitTable.DENIED;
        }
        return OF_ALL;
    }

    @Override
    void onEnd(long key, long taken, long bytes, long nanos) {
        giveBack(key, taken);
    }

    @Override
    void giveBack(long key, long taken) {
        if (taken == OF_ALL) {
            all.decrementAndGet();
        } else if (taken != UNCOUNTED) {
            permits.release((int) taken);
        }
    }

    @Override
    long left(long taken) {
        int inFlight = taken == OF_ALL ? all.get() : taken == UNCOUNTED ? 1 : permits.heldAt((int) taken);
        return Math.max(0, max - inFlight);
    }

    @Override
    long secondsToFull(long taken) {
        return 0;
    }

    @Override
    long secondsToWait(long taken) {
        return 1; // as for whatever else may be over any moment
    }
}
