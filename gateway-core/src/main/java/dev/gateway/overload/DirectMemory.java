package dev.gateway.overload;

import io.netty.util.internal.CleanableDirectBuffer;
import io.netty.util.internal.PlatformDependent;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Direct memory accounting: the memory that buffers take, of which the process has one budget. Netty counts it; its limit
 * is that of the JVM unless {@code io.netty.maxDirectMemory} says another. Safe from any thread: it only reads what Netty
 * has counted.
 */
public final class DirectMemory {
    /** However much there is, this is what those may take who could do with less. */
    private static final long AMPLE = 64 << 20;

    private static final LongAdder PAUSES = new LongAdder();
    private static final LongAdder CUTS = new LongAdder();
    private static final LongAdder FAILURES = new LongAdder();

    private static final Logger log = LoggerFactory.getLogger(DirectMemory.class);
    private static final long LOG_AGAIN_NANOS = 10_000_000_000L;
    private static final AtomicLong LOGGED = new AtomicLong(System.nanoTime() - LOG_AGAIN_NANOS);

    private DirectMemory() {}

    /** How much is left, as those see it who could do with less. Each has its way of doing so. */
    public enum Supply {
        /** What makes things faster may be taken. */
        AMPLE,
        /** Enough for everybody, as long as nobody takes more than it needs. */
        MODERATE,
        /** More than half is taken. */
        SCARCE,
        /** What is left is for those who take what they asked for, and for the operator. */
        RESERVE
    }

    /** Returns how much is left. Costs a read of a counter that seldom changes, so it may be asked for each buffer. */
    public static Supply supply() {
        return supply(used(), max());
    }

    static Supply supply(long used, long max) {
        if (used <= Math.min(AMPLE, max / 4)) {
            return Supply.AMPLE;
        }
        if (used <= max / 2) {
            return Supply.MODERATE;
        }
        return used <= max - max / 8 ? Supply.SCARCE : Supply.RESERVE;
    }

    /** Whether what makes things faster may be taken. */
    public static boolean isAmple() {
        return supply() == Supply.AMPLE;
    }

    /** Whether there is so little that whatever is not needed is to be done without. */
    public static boolean isScarce() {
        return supply().compareTo(Supply.SCARCE) >= 0;
    }

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

    /** A connection is not read from, because who takes its bytes has no room, and memory is not ample. */
    public static void onPause() {
        PAUSES.increment();
    }

    /** Returns how often that was. */
    public static long pauses() {
        return PAUSES.sum();
    }

    /** Somebody was cut who held memory for a peer that did not take it. */
    static void onCut() {
        CUTS.increment();
    }

    /** Returns how many were. */
    public static long cuts() {
        return CUTS.sum();
    }

    /**
     * Tells whether an exception means that memory could not be had. If so it is counted, and logged as one line now and
     * then: the connection that asked is ended, and there may be many.
     */
    public static boolean isShortage(Throwable cause) {
        if (!(cause instanceof OutOfMemoryError)) {
            return false;
        }
        FAILURES.increment();
        long logged = LOGGED.get();
        long now = System.nanoTime();
        if (now - logged >= LOG_AGAIN_NANOS && LOGGED.compareAndSet(logged, now)) {
            log.error(
                    "Ending a connection because direct memory ran out ({} so far): {}", failures(), cause.toString());
        }
        return true;
    }

    /** Returns how often that was. */
    public static long failures() {
        return FAILURES.sum();
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
