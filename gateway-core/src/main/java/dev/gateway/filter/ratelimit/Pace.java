package dev.gateway.filter.ratelimit;

/**
 * Rate and burst of a limit, as a clock of its own. The clock counts in units, requests or bytes: it advances by one unit in
 * the time after which one more may come. Buckets hold times of this clock. When the rate changes, so does the speed of the
 * clock, but not what it shows; so what a bucket has counted stays a count of units. Immutable.
 *
 * @param unit ticks of a request or byte
 * @param originNanos a time of the event loops' clocks
 * @param originTicks what this clock showed then
 * @param ticksPerNano how fast it is
 * @param capacity how many units a full bucket has, in ticks
 */
record Pace(long unit, long originNanos, long originTicks, double ticksPerNano, long capacity) {
    /** One request, in ticks. At a million requests a second, the clock lasts for four years. */
    static final long REQUEST = 1 << 16;

    /** One byte, in ticks. At ten gigabytes a second, the clock lasts for 29 years. */
    static final long BYTE = 1;

    /** Makes a clock that begins at 0. */
    static Pace of(RateLimitConfig.Rate rate, long unit, long nanos) {
        return new Pace(unit, nanos, 0, speed(rate, unit), rate.burst() * unit);
    }

    private static double speed(RateLimitConfig.Rate rate, long unit) {
        return (double) (rate.quota() * unit) / rate.interval().toNanos();
    }

    /** Returns the clock that follows from a time on, with another rate or burst. */
    Pace change(RateLimitConfig.Rate rate, long nanos) {
        double speed = speed(rate, unit);
        return speed == ticksPerNano
                ? new Pace(unit, originNanos, originTicks, speed, rate.burst() * unit)
                : new Pace(unit, nanos, ticks(nanos), speed, rate.burst() * unit);
    }

    /**
     * Decides whether a bucket has a unit left, and takes it (GCRA).
     *
     * @param full when the bucket would be full
     * @param now what the clock shows
     * @return how many ticks the bucket lacks then; if it has too little, the ticks to wait, negative
     */
    long take(long full, long now) {
        long lacks = Math.max(full - now, 0) + unit;
        return lacks > capacity ? capacity - lacks : lacks;
    }

    /** Returns how many ticks a bucket lacks after some were taken, whether or not it had them; at least so many. */
    static long charge(long full, long now, long ticks, long atLeast) {
        return Math.max(Math.max(full - now, 0) + ticks, atLeast);
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
