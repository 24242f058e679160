package dev.gateway.upstream;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Latency of one endpoint (peak EWMA): rises at once with a slow answer, and falls with time. All event loops write it
 * without a lock; if two write at the same moment, one value may be lost.
 */
public final class Latency {
    private static final double DECAY_MILLIS = 10_000;
    private static final long NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private static final long FAILURE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * Upper half: microseconds as a float. Lower half: time of the last update in milliseconds. 0 before the first answer.
     */
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

    /** A request failed. It counts as slow, so that an endpoint that fails fast does not seem to be fast. */
    void addFailure(long now) {
        add(FAILURE_NANOS, now);
    }

    /** Takes over the latency of the endpoint in the previous generation. */
    void inherit(Latency before) {
        state.setOpaque(before.state.getOpaque());
    }

    /** Whether nothing is known. */
    public boolean isUnknown() {
        return state.getOpaque() == 0;
    }

    /** Returns how many microseconds an answer takes. The value decays with time since the last answer; 0 if unknown. */
    public double microsAt(long now) {
        long known = state.getOpaque();
        return micros(known) * decay(known, now);
    }
}
