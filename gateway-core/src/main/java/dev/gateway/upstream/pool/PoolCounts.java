package dev.gateway.upstream.pool;

/**
 * Connection pool counts: how many connections an upstream has, and how many requests wait for one, at some moment.
 *
 * @param idle established connections without a stream
 * @param active established connections with at least one stream
 * @param connecting connections being made
 * @param pending requests that wait for a connection
 */
public record PoolCounts(int idle, int active, int connecting, int pending) {
    /** All counts are 0. */
    public static final PoolCounts NONE = new PoolCounts(0, 0, 0, 0);

    /** Returns the sums. */
    public PoolCounts plus(PoolCounts other) {
        return new PoolCounts(
                idle + other.idle, active + other.active, connecting + other.connecting, pending + other.pending);
    }
}
