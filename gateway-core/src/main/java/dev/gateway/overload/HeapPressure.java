package dev.gateway.overload;

import dev.gateway.config.OverloadConfig;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Heap pressure: how full the old generation of the heap was after its last collection. Garbage does not count. An old
 * collection does not show what was freed since, and an idle process would stay overloaded. So this class requests a
 * collection every few seconds while the gateway refuses new work. It requests one less often while connections do not stay
 * open, and ever less often if that changes nothing. Below that pressure it requests none. Used by one thread.
 */
public final class HeapPressure implements Pressure {
    private static final long FRESH_NANOS = 5_000_000_000L;
    private static final long SELDOM_NANOS = 60_000_000_000L;

    /** Maximum time between two requests: if the heap stays full for long, another collection rarely helps. */
    private static final long MOST_SELDOM_NANOS = 30 * SELDOM_NANOS;

    /** Requested collections take at most this part (a twentieth) of the time. */
    private static final int PART = 20;

    private final Heap heap;
    private final LongSupplier nanoTime;
    private volatile double limit = OverloadConfig.DEFAULT.heap();
    private boolean full; // the gateway refuses new work because of the heap
    private boolean closing; // connections do not stay open because of the heap
    private long endedNanos; // when the last requested collection ended
    private long tookNanos;
    private long seldomNanos = SELDOM_NANOS; // doubles with each collection, until connections stay open again
    private boolean asked;

    /** The heap of the JVM. */
    interface Heap {
        /** Returns which part of the old generation was still in use after its last collection. */
        double livedOn();

        /** Runs a full collection. */
        void collect();
    }

    /** Watches the heap of this JVM. */
    public HeapPressure() {
        this(new OldGeneration(), System::nanoTime);
    }

    HeapPressure(Heap heap, LongSupplier nanoTime) {
        this.heap = heap;
        this.nanoTime = nanoTime;
    }

    /** Returns how many bytes of the heap may hold what lives for long. */
    public static long maxOld() {
        return OldGeneration.max(OldGeneration.find());
    }

    @Override
    public Resource resource() {
        return Resource.HEAP;
    }

    @Override
    public void configure(OverloadConfig settings) {
        limit = settings.heap();
    }

    @Override
    public double level() {
        double level = heap.livedOn();
        decide(level);
        if (!closing) {
            seldomNanos = SELDOM_NANOS;
            return level;
        }
        long began = nanoTime.getAsLong();
        long wait = Math.max(full ? FRESH_NANOS : seldomNanos, PART * tookNanos);
        if (!asked || began - endedNanos > wait) {
            seldomNanos = full ? seldomNanos : Math.min(2 * seldomNanos, MOST_SELDOM_NANOS);
            asked = true;
            heap.collect();
            endedNanos = nanoTime.getAsLong();
            tookNanos = endedNanos - began;
            level = heap.livedOn();
            decide(level);
        }
        return level;
    }

    private void decide(double level) {
        double most = limit;
        double near = most + Overload.KEEP_ALIVE + Overload.EXACT;
        full = most > 0 && level > (full ? most - Overload.CALM : most);
        closing = most > 0 && level > (closing ? near - Overload.CALM : near);
    }

    /** The memory pool of long-lived objects; collectors give it different names. */
    private static final class OldGeneration implements Heap {
        private final @Nullable MemoryPoolMXBean pool = find();

        private static @Nullable MemoryPoolMXBean find() {
            return ManagementFactory.getMemoryPoolMXBeans().stream()
                    .filter(each -> each.getType() == MemoryType.HEAP && each.isCollectionUsageThresholdSupported())
                    .filter(each ->
                            each.getName().contains("Old") || each.getName().contains("Tenured"))
                    .findFirst()
                    .orElse(null);
        }

        private static long max(@Nullable MemoryPoolMXBean pool) {
            long known = pool == null ? -1 : pool.getUsage().getMax();
            return known > 0 ? known : Runtime.getRuntime().maxMemory();
        }

        @Override
        public double livedOn() {
            MemoryUsage usage = pool == null ? null : pool.getCollectionUsage();
            if (pool == null || usage == null) {
                return 0;
            }
            return (double) Math.min(usage.getUsed(), pool.getUsage().getUsed()) / max(pool);
        }

        @Override
        public void collect() {
            System.gc();
        }
    }
}
