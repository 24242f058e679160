package dev.gateway.upstream;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Latency of one endpoint (peak EWMA): rises at once with a slow answer, and falls with time. All event loops write it
 * without a lock; of two that write at the same moment, one may be forgotten.
 */
public final class Latency {
    private static final double DECAY_MILLIS = 10_000;
    private static final long NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private static final long FAILURE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Microseconds as a float in the upper half, and when, in milliseconds, in the lower. 0 before the first answer. */
    private final AtomicLong state = new AtomicLong();

    private static float micros(long state) {
        return Float.intBitsToFloat((int) (state >>> Integer.SIZE));
    }

    private static double decay(long state, long now) {
        int millis = (int) (now / NANOS_PER_MILLI) - (int) state;
        return millis <= 0 ? 1 : Math.exp(-millis / DECAY_MILLIS);
    }

    /** An answer took so long. */
    public void add(long nanos, long now) {
        long before = state.getOpaque();
        float taken = Math.max(1f, nanos / 1000f);
        double left = decay(before, now);
        float micros =
                before == 0 || taken >= micros(before) ? taken : (float) (micros(before) * left + taken * (1 - left));
        if (left < 1 || micros != micros(before)) {
            state.setOpaque(
                    (long) Float.floatToRawIntBits(micros) << Integer.SIZE | (now / NANOS_PER_MILLI & 0xffff_ffffL));
        }
    }

    /** A request failed: to fail fast must not look like being fast. */
    void addFailure(long now) {
        add(FAILURE_NANOS, now);
    }

    /** Takes over what another one knows. */
    void inherit(Latency before) {
        state.setOpaque(before.state.getOpaque());
    }

    /** Whether nothing is known. */
    boolean isUnknown() {
        return state.getOpaque() == 0;
    }

    /** Returns how many microseconds an answer takes, less the longer none has been; 0 if nothing is known. */
    double microsAt(long now) {
        long known = state.getOpaque();
        return micros(known) * decay(known, now);
    }
}
