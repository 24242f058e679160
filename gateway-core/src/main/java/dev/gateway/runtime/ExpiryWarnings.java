package dev.gateway.runtime;

import dev.gateway.observe.metrics.state.CertificateExpiry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warns of certificates that have expired or soon will: whenever new ones are used, and once a day. Used by one thread. */
final class ExpiryWarnings {
    private static final Logger log = LoggerFactory.getLogger(ExpiryWarnings.class);
    private static final Duration SOON = Duration.ofDays(14);
    private static final long AGAIN_NANOS = TimeUnit.DAYS.toNanos(1);

    private final LongSupplier clock;
    private long toldNanos; // when it warned of all

    /**
     * Makes it; of those that are used now, the validation of the configuration has warned.
     *
     * @param clock a monotonic clock in nanoseconds, which a change of the time of day does not move
     */
    ExpiryWarnings(LongSupplier clock) {
        this.clock = clock;
        this.toldNanos = clock.getAsLong();
    }

    /** Whether all are to be looked at, which they then are not for a day. */
    boolean isDue() {
        long now = clock.getAsLong();
        boolean due = now - toldNanos >= AGAIN_NANOS;
        if (due) {
            toldNanos = now;
        }
        return due;
    }

    /** Warns of those among these that have expired or soon will. */
    static void tell(List<CertificateExpiry> certificates, Instant now) {
        for (CertificateExpiry each : certificates) {
            Instant end = Instant.ofEpochSecond(each.notAfterSeconds());
            if (!end.isAfter(now)) {
                log.warn("The certificate {} of {} {} expired at {}", each.name(), each.kind(), each.owner(), end);
            } else if (end.isBefore(now.plus(SOON))) {
                log.warn(
                        "The certificate {} of {} {} expires soon, at {}", each.name(), each.kind(), each.owner(), end);
            }
        }
    }
}
