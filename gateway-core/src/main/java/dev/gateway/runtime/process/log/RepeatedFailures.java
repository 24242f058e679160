package dev.gateway.runtime.process.log;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Which stack traces the log shows: of the same failure at the same place one in a minute. A client that provokes a failure by a
 * request could else fill the log, and hide in it. Bounded; safe from any thread.
 */
final class RepeatedFailures {
    private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);
    private static final int MOST = 64;
    private static final String OTHERS = "others";

    private final LongSupplier nanoClock;
    private final ConcurrentHashMap<String, Seen> seen = new ConcurrentHashMap<>();

    private static final class Seen {
        final AtomicLong shownNanos;
        final AtomicLong left = new AtomicLong();

        Seen(long now) {
            shownNanos = new AtomicLong(now);
        }
    }

    RepeatedFailures(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Returns how often such an event has been left out since one was shown, or -1 if this one is to be left out, too. */
    long ask(ILoggingEvent event) {
        IThrowableProxy failure = event.getThrowableProxy();
        if (failure == null) {
            return 0;
        }
        long now = nanoClock.getAsLong();
        String key = key(event, failure);
        Seen known = seen.get(key);
        if (known == null) {
            if (seen.size() >= MOST) {
                seen.values().removeIf(each -> now - each.shownNanos.get() > MINUTE);
            }
            known = seen.putIfAbsent(seen.size() >= MOST ? OTHERS : key, new Seen(now));
            if (known == null) {
                return 0;
            }
        }
        long shown = known.shownNanos.get();
        if (now - shown > MINUTE && known.shownNanos.compareAndSet(shown, now)) {
            return known.left.getAndSet(0);
        }
        known.left.incrementAndGet();
        return -1;
    }

    private static String key(ILoggingEvent event, IThrowableProxy failure) {
        StackTraceElementProxy[] frames = failure.getStackTraceElementProxyArray();
        return event.getLoggerName() + ' ' + failure.getClassName() + ' ' + (frames.length == 0 ? "" : frames[0]);
    }
}
