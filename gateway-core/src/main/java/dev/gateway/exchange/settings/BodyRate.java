package dev.gateway.exchange.settings;

/**
 * Minimum rate of request bodies. Immutable.
 *
 * @param bytesPerSecond how much a client must send on average, at least 1
 * @param graceMillis how far behind a client may be, at least 1
 */
public record BodyRate(long bytesPerSecond, long graceMillis) {
    private static final int LOOKS = 8;
    private static final long LONGEST_MILLIS = 5_000;
    private static final long SHORTEST_MILLIS = 100;

    /** Returns the milliseconds between two checks of a body. */
    public long periodMillis() {
        return Math.max(SHORTEST_MILLIS, Math.min(LONGEST_MILLIS, graceMillis / LOOKS));
    }
}
