package dev.gateway.listener;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs why a listener accepts nothing for a while: the first time at once, then once a minute, with a count. Any thread. */
final class AcceptTrouble {
    private static final Logger log = LoggerFactory.getLogger(AcceptTrouble.class);
    private static final long PERIOD_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Kind failures;
    private final Kind pauses;

    AcceptTrouble(LongSupplier clock) {
        failures = new Kind(clock);
        pauses = new Kind(clock);
    }

    /** A connection could not be accepted. */
    void onFailed(String listener, Throwable cause) {
        long count = failures.count();
        if (count > 0) {
            log.warn(
                    "listener {} could not accept a connection ({} times by now): {}",
                    listener,
                    count,
                    cause.toString());
        }
    }

    /** Nothing is accepted until a client leaves. */
    void onFull(String listener, int max) {
        long count = pauses.count();
        if (count > 0) {
            log.warn(
                    "listener {} lets new clients wait ({} times by now): {} are connected to this process, as many as its"
                            + " limit of open files (ulimit -n) leaves room for",
                    listener,
                    count,
                    max);
        }
    }

    /** One thing that goes wrong. */
    private static final class Kind {
        private final LongSupplier clock;
        private final AtomicLong count = new AtomicLong();
        private final AtomicLong next;

        Kind(LongSupplier clock) {
            this.clock = clock;
            this.next = new AtomicLong(clock.getAsLong());
        }

        /** Returns how often it has gone wrong, or 0 if that has been told lately. */
        long count() {
            long times = count.incrementAndGet();
            long now = clock.getAsLong();
            long due = next.get();
            return now - due >= 0 && next.compareAndSet(due, now + PERIOD_NANOS) ? times : 0;
        }
    }
}
