package dev.gateway.overload;

import io.netty.util.internal.CleanableDirectBuffer;
import io.netty.util.internal.PlatformDependent;

/**
 * The memory that buffers take, of which the process has one budget. Netty counts it; its limit is that of the JVM unless
 * {@code io.netty.maxDirectMemory} says another. Safe from any thread: it only reads what Netty has counted.
 */
public final class DirectMemory {
    private DirectMemory() {}

    /** Who is asked first when a buffer needs more memory than was taken before, and what happens when there is none. */
    public enum Counter {
        /** Netty counts, then allocates. It fails at once when its limit is reached. */
        NETTY,
        /**
         * The JDK counts. When its limit is reached it collects garbage and sleeps, up to half a second on the event loop,
         * before it fails. Only a process that was not started by our jar has this.
         */
        JDK
    }

    /** Returns who counts. */
    public static Counter counter() {
        if (PlatformDependent.useDirectBufferNoCleaner()) {
            return Counter.NETTY;
        }
        // Without sun.misc.Unsafe, as on Java 25 by default, Netty asks malloc through the JDK's linker, and counts
        // itself.
        CleanableDirectBuffer probe = PlatformDependent.allocateDirect(1, true);
        try {
            return probe.getClass().getName().contains("Linker") ? Counter.NETTY : Counter.JDK;
        } finally {
            probe.clean();
        }
    }

    /** Returns how many bytes were taken from the system, whether or not buffers need all of it now. */
    public static long used() {
        return Math.max(0, PlatformDependent.usedDirectMemory());
    }

    /** Returns how many bytes may be taken. */
    public static long max() {
        return PlatformDependent.maxDirectMemory();
    }
}
