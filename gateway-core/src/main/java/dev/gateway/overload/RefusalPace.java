package dev.gateway.overload;

/**
 * Limits how often one event loop refuses, so that clients that try again at once leave most of its time to others. Beyond
 * that pace, a refused client gets a delay during which the loop ignores its next attempt. Confined to its loop.
 */
final class RefusalPace {
    /** The number of refusals at once that cause no delay. */
    static final int BURST = 400;

    /** Maximum delay of a client: the second that the refusal's {@code Retry-After} asks for. */
    static final long LONGEST_NANOS = 1_000_000_000;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final long slotNanos;
    private long next; // when the next refusal is due
    private boolean begun;

    /**
     * Makes a pace.
     *
     * @param slotNanos the time between two refusals on connections that stay open
     */
    RefusalPace(long slotNanos) {
        this.slotNanos = slotNanos;
    }

    /**
     * Counts a refusal.
     *
     * @param now by the loop's clock
     * @param slots how much work it is, 1 for an answer on a connection that stays open
     * @return how many milliseconds to ignore the client, 0 for not at all
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
