package dev.gateway.overload;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Heap pressure: how full the old generation of the heap was when it was last collected. Garbage does not count. A
 * collection that is long ago tells nothing of what has been freed since. So this class asks for another one now and then
 * while new work is refused, and seldom while connections do not stay open; without that an idle process would stay
 * overloaded. It asks more and more seldom if that changes nothing. Below that it asks for none. Used by one thread.
 */
public final class HeapPressure implements Pressure {
    private static final long FRESH_NANOS = 5_000_000_000L;
    private static final long SELDOM_NANOS = 60_000_000_000L;

    /** Where so much lives on for long, a collection that finds it once more is of little use. */
    private static final long MOST_SELDOM_NANOS = 30 * SELDOM_NANOS;

    /** A collection that takes long is repeated less often: at most this part of the time goes into collections. */
    private static final int PART = 20;

    private final Heap heap;
    private final LongSupplier nanoTime;
    private volatile double limit = OverloadSettings.DEFAULT.heap();
    private boolean full; // new work is refused because of it
    private boolean closing; // connections do not stay open because of it
    private long endedNanos; // the last collection that was asked for
    private long tookNanos;
    private long seldomNanos = SELDOM_NANOS; // twice as long after each collection, until connections stay open again
    private boolean asked;

    /** What the JVM tells of its heap. */
    interface Heap {
        /** Returns which part of the old generation lived on after its last collection. */
        double livedOn();

        /** Collects all of it. */
        void collect();
    }

    /** Looks at the heap of this JVM. */
    public HeapPressure() {
        this(new OldGeneration(), System::nanoTime);
    }

    HeapPressure(Heap heap, LongSupplier nanoTime) {
        this.heap = heap;
        this.nanoTime = nanoTime;
    }

    @Override
    public Resource resource() {
        return Resource.HEAP;
    }

    @Override
    public void configure(OverloadSettings settings) {
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

    /** The pool that holds what lives long, whatever the collector calls it. */
    private static final class OldGeneration implements Heap {
        private final @Nullable MemoryPoolMXBean pool = ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(each -> each.getType() == MemoryType.HEAP && each.isCollectionUsageThresholdSupported())
                .filter(each -> each.getName().contains("Old") || each.getName().contains("Tenured"))
                .findFirst()
                .orElse(null);

        @Override
        public double livedOn() {
            MemoryUsage usage = pool == null ? null : pool.getCollectionUsage();
            if (pool == null || usage == null) {
                return 0;
            }
            long most =
                    usage.getMax() > 0 ? usage.getMax() : Runtime.getRuntime().maxMemory();
            return (double) Math.min(usage.getUsed(), pool.getUsage().getUsed()) / most;
        }

        @Override
        public void collect() {
            System.gc();
        }
    }
}
