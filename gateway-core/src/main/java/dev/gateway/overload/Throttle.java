package dev.gateway.overload;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Counts events of which the first is logged at once, and then at most one a minute. Safe from any thread. */
public final class Throttle {
    private static final long PERIOD_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier clock;
    private final AtomicLong count = new AtomicLong();
    private final AtomicLong next;

    /** Makes it; the first event is due. */
    public Throttle(LongSupplier clock) {
        this.clock = clock;
        this.next = new AtomicLong(clock.getAsLong());
    }

    /** Counts an event; returns how many there were if it is time to log, else 0. */
    public long count() {
        long times = count.incrementAndGet();
        long now = clock.getAsLong();
        long due = next.get();
        return now - due >= 0 && next.compareAndSet(due, now + PERIOD_NANOS) ? times : 0;
    }
}
