package dev.gateway.overload.memory;

import io.netty.util.internal.CleanableDirectBuffer;
import io.netty.util.internal.PlatformDependent;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Direct memory accounting: how much memory buffers take. The process has one limit: that of the JVM, or of {@code
 * io.netty.maxDirectMemory}. Safe from any thread: it only reads Netty's counter.
 */
public final class DirectMemory {
    /** While all buffers together take no more than this, memory is ample. */
    private static final long AMPLE = 64 << 20;

    private static final LongAdder PAUSES = new LongAdder();
    private static final LongAdder CUTS = new LongAdder();
    private static final LongAdder FAILURES = new LongAdder();

    private static final Logger log = LoggerFactory.getLogger(DirectMemory.class);
    private static final long LOG_AGAIN_NANOS = 10_000_000_000L;
    private static final AtomicLong LOGGED = new AtomicLong(System.nanoTime() - LOG_AGAIN_NANOS);

    private DirectMemory() {}

    /** How much memory is left. Code that can do with less memory decides by it. */
    public enum Supply {
        /** Code may take memory just to be faster. */
        AMPLE,
        /** Enough, as long as code takes no more than it needs. */
        MODERATE,
        /** More than half is taken. */
        SCARCE,
        /** The rest is for peers that read what they asked for, and for the operator. */
        RESERVE
    }

    /** Returns how much is left. Reads a counter that seldom changes, so it may be called for each buffer. */
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

    /** Whether code may take memory just to be faster. */
    public static boolean isAmple() {
        return supply() == Supply.AMPLE;
    }

    /** Whether so little is left that code must not take memory that it does not need. */
    public static boolean isScarce() {
        return supply().compareTo(Supply.SCARCE) >= 0;
    }

    /** Which code counts direct memory and enforces the limit. */
    public enum Counter {
        /** Netty counts, then allocates. It fails at once when its limit is reached. */
        NETTY,
        /**
         * The JDK counts. When its limit is reached it collects garbage and sleeps, up to half a second on the event loop,
         * before it fails. This happens only in processes that were not started by the gateway's jar.
         */
        JDK
    }

    /** Returns which code counts. */
    public static Counter counter() {
        if (PlatformDependent.useDirectBufferNoCleaner()) {
            return Counter.NETTY;
        }
        // Without sun.misc.Unsafe, as on Java 25 by default, Netty calls malloc through the JDK's linker, and counts
        // itself.
        CleanableDirectBuffer probe = PlatformDependent.allocateDirect(1, true);
        try {
            return probe.getClass().getName().contains("Linker") ? Counter.NETTY : Counter.JDK;
        } finally {
            probe.clean();
        }
    }

    /** Reading from a connection pauses, because the sink of its bytes has no room, and memory is not ample. */
    public static void onPause() {
        PAUSES.increment();
    }

    /** Returns the number of such pauses. */
    public static long pauses() {
        return PAUSES.sum();
    }

    /** The gateway has ended an exchange or a stream that held memory for a peer that did not read. */
    public static void onCut() {
        CUTS.increment();
    }

    /** Returns how many it has ended. */
    public static long cuts() {
        return CUTS.sum();
    }

    /**
     * Returns whether an exception means that no memory was left. If so, counts it, and logs it at most every ten seconds,
     * because many connections may end for this reason at once.
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

    /** Returns how often no memory was left. */
    public static long failures() {
        return FAILURES.sum();
    }

    /** Returns how many bytes were taken from the system, whether or not buffers use all of them now. */
    public static long used() {
        return Math.max(0, PlatformDependent.usedDirectMemory());
    }

    /** Returns the limit in bytes. */
    public static long max() {
        return PlatformDependent.maxDirectMemory();
    }
}
