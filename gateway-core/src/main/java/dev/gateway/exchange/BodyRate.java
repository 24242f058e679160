package dev.gateway.exchange;

/**
 * Minimum rate of request bodies. Immutable.
 *
 * @param bytesPerSecond what a client must send on average, at least 1
 * @param graceMillis how far a client may be behind that, at least 1
 */
public record BodyRate(long bytesPerSecond, long graceMillis) {
    private static final int LOOKS = 8;
    private static final long LONGEST_MILLIS = 5_000;
    private static final long SHORTEST_MILLIS = 100;

    /** Returns after how many milliseconds a body is to be looked at, again and again. */
    long periodMillis() {
        return Math.max(SHORTEST_MILLIS, Math.min(LONGEST_MILLIS, graceMillis / LOOKS));
    }
}
