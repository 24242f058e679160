package dev.gateway.testkit;

import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Leak detector: tells which buffers nobody has released. Netty asks for its detector once, when it makes the first buffer.
 * So {@link #install} must come first, or the JVM must start with the property {@code io.netty.customResourceLeakDetector},
 * whose value is the name of this class. Any thread may call it. Heap buffers of {@code Unpooled} are not tracked.
 */
public final class LeakDetector<T> extends ResourceLeakDetector<T> {
    private static final Queue<String> REPORTS = new ConcurrentLinkedQueue<>();

    /** How many buffers are not released: what is in use, and what leaked. */
    private static final AtomicInteger OPEN = new AtomicInteger();

    /** How many were not released at the last look that collected garbage. */
    private static volatile int openAtLastCollection;

    private static volatile boolean used;

    /** Makes the detector of one kind of resources; Netty does so. */
    public LeakDetector(Class<T> resource, int samplingInterval) {
        super(resource, samplingInterval);
    }

    /** Has Netty track every buffer from now on. Without effect on the detector if Netty has made a buffer before. */
    public static void install() {
        setLevel(Level.PARANOID);
        ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(new ResourceLeakDetectorFactory() {
            @Override
            @SuppressWarnings("deprecation") // there is no other way to make one
            public <T> ResourceLeakDetector<T> newResourceLeakDetector(
                    Class<T> resource, int samplingInterval, long maxActive) {
                return new LeakDetector<>(resource, samplingInterval);
            }
        });
    }

    /** Whether Netty uses this detector. */
    static boolean isInstalled() {
        PooledByteBufAllocator.DEFAULT.directBuffer().release();
        return used;
    }

    /**
     * Returns what leaked since the last call, and where it was made; null if nothing. It also says where it was used, if Netty
     * keeps that ({@code io.netty.leakDetection.targetRecords}). Collects garbage only if the number of buffers that are not
     * released has changed. So it may miss a leak that another buffer's release makes up for, and a buffer that was in use at an
     * earlier call; {@link #reportAll} finds them.
     */
    public static @Nullable String report() throws InterruptedException {
        return OPEN.get() == openAtLastCollection ? null : reportAll();
    }

    /** The same of what leaked since the last collection. Takes two collections. */
    public static @Nullable String reportAll() throws InterruptedException {
        collect();
        collect(); // what the first one found has all been told by the time that anything of the second is
        // Reports are made when something else is allocated.
        PooledByteBufAllocator.DEFAULT.directBuffer().release();
        openAtLastCollection = OPEN.get();
        String report = REPORTS.poll();
        REPORTS.clear();
        return report;
    }

    private static void collect() throws InterruptedException {
        ReferenceQueue<Object> collected = new ReferenceQueue<>();
        WeakReference<Object> sentinel = new WeakReference<>(new Object(), collected);
        System.gc();
        if (collected.remove(10_000) != sentinel) {
            throw new AssertionError("nothing was collected, so nothing can be said about leaks");
        }
    }

    @Override
    public @Nullable ResourceLeakTracker<T> track(T resource) {
        return counted(super.track(resource));
    }

    @Override
    public @Nullable ResourceLeakTracker<T> trackForcibly(T resource) {
        return counted(super.trackForcibly(resource));
    }

    private static <T> @Nullable ResourceLeakTracker<T> counted(@Nullable ResourceLeakTracker<T> tracker) {
        if (tracker == null) {
            return null;
        }
        used = true;
        OPEN.incrementAndGet();
        return new Counted<>(tracker);
    }

    /** A tracker whose end is counted. */
    private record Counted<T>(ResourceLeakTracker<T> tracker) implements ResourceLeakTracker<T> {
        @Override
        public void record() {
            tracker.record();
        }

        @Override
        public void record(Object hint) {
            tracker.record(hint);
        }

        @Override
        public boolean close(T resource) {
            boolean closed = tracker.close(resource);
            if (closed) {
                OPEN.decrementAndGet();
            }
            return closed;
        }
    }

    @Override
    protected boolean needReport() {
        return true;
    }

    @Override
    protected void reportTracedLeak(String resourceType, String records) {
        REPORTS.add(resourceType + records);
    }

    @Override
    protected void reportUntracedLeak(String resourceType) {
        REPORTS.add(resourceType);
    }
}
