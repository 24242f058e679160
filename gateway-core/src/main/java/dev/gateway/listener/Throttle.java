package dev.gateway.listener;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Counts something that is to be told the first time, and then once a minute at most. Any thread. */
final class Throttle {
    private static final long PERIOD_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier clock;
    private final AtomicLong count = new AtomicLong();
    private final AtomicLong next;

    Throttle(LongSupplier clock) {
        this.clock = clock;
        this.next = new AtomicLong(clock.getAsLong());
    }

    /** Counts one more; returns how many there were, or 0 if that has been told lately. */
    long count() {
        long times = count.incrementAndGet();
        long now = clock.getAsLong();
        long due = next.get();
        return now - due >= 0 && next.compareAndSet(due, now + PERIOD_NANOS) ? times : 0;
    }
}
