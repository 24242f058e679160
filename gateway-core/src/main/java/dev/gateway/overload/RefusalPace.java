package dev.gateway.overload;

/**
 * How often one event loop refuses at most, so that clients which ask again at once leave most of its time to others. Who
 * is refused more often gets a time during which its next attempt is not looked at. Confined to its loop.
 */
final class RefusalPace {
    /** A refusal on a connection that stays open takes some 20 µs; so this is a sixth of the loop's time. */
    static final long SLOT_NANOS = 125_000;

    /** So much may be refused without anybody being kept waiting. */
    static final long BURST_NANOS = 50_000_000;

    /** Nobody is kept waiting for longer, however many there are. */
    static final long LONGEST_NANOS = 500_000_000;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private long next; // when the next refusal is due
    private boolean begun;

    /**
     * Something is refused.
     *
     * @param now by the loop's clock
     * @param slots how much work it is, 1 for an answer on a connection that stays open
     * @return for how many milliseconds the client is to be left alone, 0 for not at all
     */
    long refuse(long now, int slots) {
        if (!begun || next - now < -BURST_NANOS) {
            begun = true;
            next = now - BURST_NANOS;
        }
        next = Math.min(next - now + slots * SLOT_NANOS, LONGEST_NANOS) + now;
        return Math.max(0, next - now) / NANOS_PER_MILLI;
    }
}
