package dev.gateway.filter.limit;

/**
 * Rate and burst of a limit, as a clock of its own. The clock counts in requests: it advances by one {@link #REQUEST} in the
 * time after which one more request may come. Buckets hold times of this clock. When the rate changes, so does the speed of
 * the clock, but not what it shows; so what a bucket has counted stays a count of requests. Immutable.
 *
 * @param originNanos a time of the event loops' clocks
 * @param originTicks what this clock showed then
 * @param ticksPerNano how fast it is
 * @param capacity how many requests a full bucket has, in ticks
 */
record Pace(long originNanos, long originTicks, double ticksPerNano, long capacity) {
    /** One request, in ticks. At a million requests a second, the clock lasts for four years. */
    static final long REQUEST = 1 << 16;

    /** Makes a clock that begins at 0. */
    static Pace of(RequestRate rate, long nanos) {
        return new Pace(nanos, 0, speed(rate), rate.burst() * REQUEST);
    }

    private static double speed(RequestRate rate) {
        return (double) (rate.requests() * REQUEST) / rate.interval().toNanos();
    }

    /** Returns the clock that follows from a time on, with another rate or burst. */
    Pace change(RequestRate rate, long nanos) {
        double speed = speed(rate);
        return speed == ticksPerNano
                ? new Pace(originNanos, originTicks, speed, rate.burst() * REQUEST)
                : new Pace(nanos, ticks(nanos), speed, rate.burst() * REQUEST);
    }

    /**
     * Decides whether a bucket has a request left (GCRA).
     *
     * @param full when the bucket would be full
     * @param now what the clock shows
     * @return how many ticks the bucket lacks after the request; if it has too little, the ticks to wait, negative
     */
    long take(long full, long now) {
        long lacks = Math.max(full - now, 0) + REQUEST;
        return lacks > capacity ? capacity - lacks : lacks;
    }

    /** Returns what the clock shows. */
    long ticks(long nanos) {
        return originTicks + (long) ((nanos - originNanos) * ticksPerNano);
    }

    /** Returns how long some ticks take, rounded up. */
    long nanos(long ticks) {
        return (long) Math.ceil(ticks / ticksPerNano);
    }
}
