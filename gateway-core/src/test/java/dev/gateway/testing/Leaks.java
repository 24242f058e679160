package dev.gateway.testing;

import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Fails a test class after which Netty reports a buffer that nobody released. Installed for every class before the
 * first one is loaded.
 */
public final class Leaks implements LauncherSessionListener, AfterAllCallback {
    private static final Queue<String> REPORTS = new ConcurrentLinkedQueue<>();

    /** Whether there was a buffer since the last look. Most classes make none, and a look takes two collections. */
    private static volatile boolean tracked;

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(new ResourceLeakDetectorFactory() {
            @Override
            @SuppressWarnings("deprecation") // there is no other way to make one
            public <T> ResourceLeakDetector<T> newResourceLeakDetector(
                    Class<T> resource, int samplingInterval, long maxActive) {
                return new Detector<>(resource, samplingInterval);
            }
        });
    }

    @Override
    public void afterAll(ExtensionContext context) throws InterruptedException {
        if (context.getParent().flatMap(ExtensionContext::getTestClass).isPresent()) {
            return; // a nested class: its outer class looks
        }
        String report = report();
        if (report != null) {
            throw new AssertionError("a buffer leaked: " + report);
        }
    }

    /** Returns what leaked since the last call, or null. */
    static @Nullable String report() throws InterruptedException {
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

    private static final class Detector<T> extends ResourceLeakDetector<T> {
        Detector(Class<T> resource, int samplingInterval) {
            super(resource, samplingInterval);
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
}
