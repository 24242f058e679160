package dev.gateway.testkit;

import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Leak detector: tells which buffers nobody has released. Netty asks for its detector once, when it makes the first buffer.
 * So {@link #install} must come first, or the JVM must start with the property {@code io.netty.customResourceLeakDetector},
 * whose value is the name of this class. Any thread may call it. Heap buffers of {@code Unpooled} are not tracked.
 */
public final class LeakDetector<T> extends ResourceLeakDetector<T> {
    private static final Queue<String> REPORTS = new ConcurrentLinkedQueue<>();

    /** Whether there was a buffer since the last look. Most tests make none, and a look takes two collections. */
    private static volatile boolean tracked;

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
        return tracked;
    }

    /** Returns what leaked since the last call, and where it was used last; null if nothing. */
    public static @Nullable String report() throws InterruptedException {
        if (!tracked) {
            return null;
        }
        collect();
        collect(); // what the first one found has all been told by the time that anything of the second is
        // Reports are made when something else is allocated.
        PooledByteBufAllocator.DEFAULT.directBuffer().release();
        tracked = false;
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
        tracked = true;
        return super.track(resource);
    }

    @Override
    public @Nullable ResourceLeakTracker<T> trackForcibly(T resource) {
        tracked = true;
        return super.trackForcibly(resource);
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
