package dev.gateway.overload;

/**
 * How often one event loop refuses at most, so that clients which ask again at once leave most of its time to others. Who
 * is refused more often gets a time during which its next attempt is not looked at. Confined to its loop.
 */
final class RefusalPace {
    /** So much may be refused at once without anybody being kept waiting. */
    static final int BURST = 400;

    /** Nobody is kept waiting for longer, however many there are: the second that the refusal's {@code Retry-After} asks for. */
    static final long LONGEST_NANOS = 1_000_000_000;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final long slotNanos;
    private long next; // when the next refusal is due
    private boolean begun;

    /**
     * Makes a pace.
     *
     * @param slotNanos how long each refusal takes of the pace: an answer on a connection that stays open
     */
    RefusalPace(long slotNanos) {
        this.slotNanos = slotNanos;
    }

    /**
     * Something is refused.
     *
     * @param now by the loop's clock
     * @param slots how much work it is, 1 for an answer on a connection that stays open
     * @return for how many milliseconds the client is to be left alone, 0 for not at all
     */
    long refuse(long now, int slots) {
        if (!begun || next - now < -BURST * slotNanos) {
            begun = true;
            next = now - BURST * slotNanos;
        }
        next = Math.min(next - now + slots * slotNanos, LONGEST_NANOS) + now;
        return Math.max(0, next - now) / NANOS_PER_MILLI;
    }
}
