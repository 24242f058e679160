package dev.gateway.observe.meters;

import io.micrometer.core.instrument.Meter;
import org.jspecify.annotations.Nullable;

/**
 * What one meter tells. The registry's threads read the numbers; registries refer to this weakly. The thread that refreshes
 * writes the numbers, and has the rest for itself.
 */
final class Series {
    private volatile double value;
    private volatile long count;

    /** Null while the registry has no meter for it. */
    @Nullable
    Meter meter;

    /** Whether the application has a meter of this name and these tags, which stays. */
    boolean isTaken;

    /** In which refresh it was last found among what the gateway counts. */
    long seenIn;

    private long movedNanos;

    Series(long now) {
        this.movedNanos = now;
    }

    double value() {
        return value;
    }

    long count() {
        return count;
    }

    void set(double newValue, long newCount, long now) {
        if (newValue != value || newCount != count) {
            value = newValue;
            count = newCount;
            movedNanos = now;
        }
    }

    long stillNanos(long now) {
        return now - movedNanos;
    }
}
