package dev.gateway.exchange;

/**
 * Pace of one request body, by a bucket of time: waiting for the client takes from it, each byte that comes gives back what
 * it may take at the {@link BodyRate}, up to the grace. So a pause is forgiven if more came before, but nobody can save up
 * for hours. Looked at now and then; what moves meanwhile costs nothing.
 */
final class BodyPace {
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final long bytesPerSecond;
    private final long graceNanos;
    private long leftNanos;
    private long lastNanos;
    private long lastBytes;

    /** Makes the pace of a body of which nothing has come at that time. */
    BodyPace(BodyRate rate, long now) {
        this.bytesPerSecond = rate.bytesPerSecond();
        this.graceNanos = rate.graceMillis() * NANOS_PER_MILLI;
        this.leftNanos = graceNanos;
        this.lastNanos = now;
    }

    /**
     * Looks at the body again.
     *
     * @param received how many bytes of it have come in all
     * @param isClientsTurn whether it is the client that the body waits for
     * @return whether the client is too slow
     */
    boolean isTooSlow(long received, boolean isClientsTurn, long now) {
        long bytes = received - lastBytes;
        long spent = isClientsTurn ? now - lastNanos : 0;
        lastBytes = received;
        lastNanos = now;
        leftNanos = Math.min(graceNanos, leftNanos - spent + worth(bytes));
        return leftNanos < 0;
    }

    /** More than twice the grace is never of use. */
    private long worth(long bytes) {
        double nanos = (double) bytes / bytesPerSecond * NANOS_PER_SECOND;
        return (long) Math.min(nanos, 2.0 * graceNanos);
    }
}
