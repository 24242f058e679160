package dev.gateway.filter.ratelimit;

import dev.gateway.message.KeyedHash;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Limit tables of a process: where the limits of all routes keep what they count by key. They take memory when the first
 * limit needs them, a share of the heap, and never more. Made by the thread that reloads; any thread may ask for counts.
 */
public final class LimitTables {
    private static final int HEAP_SHARE = 64; // buckets may take this part of the heap, permits a fourth of it
    private static final int LEAST = 1 << 12;
    private static final int MOST = 1 << 20;

    private final KeyedHash hash = KeyedHash.random();
    private final LongSupplier nanoClock;
    private final long heapBytes;
    private volatile @Nullable BucketTable buckets;
    private volatile @Nullable PermitTable permits;

    /** Makes the tables of this process. */
    public LimitTables() {
        this(System::nanoTime, Runtime.getRuntime().maxMemory());
    }

    /** Makes tables by the event loops' clock, for a heap of that size. */
    LimitTables(LongSupplier nanoClock, long heapBytes) {
        this.nanoClock = nanoClock;
        this.heapBytes = heapBytes;
    }

    KeyedHash hash() {
        return hash;
    }

    long nanoTime() {
        return nanoClock.getAsLong();
    }

    BucketTable buckets() {
        BucketTable table = buckets;
        if (table == null) {
            table = new BucketTable(places(heapBytes / HEAP_SHARE / BucketTable.BYTES));
            buckets = table;
        }
        return table;
    }

    PermitTable permits() {
        PermitTable table = permits;
        if (table == null) {
            table = new PermitTable(places(heapBytes / HEAP_SHARE / 4 / PermitTable.BYTES));
            permits = table;
        }
        return table;
    }

    private static int places(long wanted) {
        return Integer.highestOneBit((int) Math.max(LEAST, Math.min(MOST, wanted)));
    }

    /** Returns how often a key lost its count, or was not counted, because a table had no room for it. */
    public long untracked() {
        BucketTable table = buckets;
        PermitTable others = permits;
        return (table == null ? 0 : table.evicted() + table.uncounted()) + (others == null ? 0 : others.uncounted());
    }
}
