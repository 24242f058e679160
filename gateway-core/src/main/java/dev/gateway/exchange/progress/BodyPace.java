package dev.gateway.exchange.progress;

import dev.gateway.exchange.settings.BodyRate;

/**
 * Pace of one request body, by a bucket of time. Waiting for the client empties it; each byte adds the time that it may
 * take at the {@link BodyRate}, up to the grace. So a client may pause if it was faster before, but cannot save up time for
 * hours. Checked periodically, so that moving bytes costs nothing.
 */
public final class BodyPace {
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final long bytesPerSecond;
    private final long graceNanos;
    private long leftNanos;
    private long lastNanos;
    private long lastBytes;

    /** Makes the pace of a body of which nothing has arrived by now. */
    public BodyPace(BodyRate rate, long now) {
        this.bytesPerSecond = rate.bytesPerSecond();
        this.graceNanos = rate.graceMillis() * NANOS_PER_MILLI;
        this.leftNanos = graceNanos;
        this.lastNanos = now;
    }

    /**
     * Checks the body again.
     *
     * @param received how many bytes have arrived in total
     * @param isClientsTurn whether the gateway waits for the client
     * @return whether the client is too slow
     */
    public boolean isTooSlow(long received, boolean isClientsTurn, long now) {
        long bytes = received - lastBytes;
        long spent = isClientsTurn ? now - lastNanos : 0;
        lastBytes = received;
        lastNanos = now;
        leftNanos = Math.min(graceNanos, leftNanos - spent + worth(bytes));
        return leftNanos < 0;
    }

    /** Returns the time that these bytes may take. More than twice the grace would make no difference. */
    private long worth(long bytes) {
        double nanos = (double) bytes / bytesPerSecond * NANOS_PER_SECOND;
        return (long) Math.min(nanos, 2.0 * graceNanos);
    }
}
