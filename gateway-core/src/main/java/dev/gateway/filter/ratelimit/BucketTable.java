package dev.gateway.filter.ratelimit;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * Token buckets by key, by the generic cell rate algorithm (GCRA): a table of fixed size, whatever keys come. A bucket is
 * the time, on the clock of its {@link Pace}, when it would be full again. Keys are hashes; a few places are possible for
 * each. If all are taken, the bucket that has been full for longest makes room, else the one that will be full next, and
 * its key starts full again. Shared by event loops without locks: threads that make the bucket of a new key at the same
 * time may each let one request pass that the bucket does not count.
 */
final class BucketTable {
    static final int WAYS = 8; // keys of one set stand in one or two cache lines

    /** What one bucket takes in memory. */
    static final int BYTES = 3 * Long.BYTES;

    private static final long EMPTY = 0;
    static final long CHANGING = 1; // its owner is about to be another one

    final AtomicLongArray tags; // also for tests, which cannot stop a thread between two steps
    private final AtomicLongArray fullTicks;
    private final AtomicLongArray fullNanos; // the same by the loops' clocks: limits share the table, not a clock
    private final int sets;
    private final LongAdder evicted = new LongAdder();
    private final LongAdder uncounted = new LongAdder();

    /** Makes an empty table of a power of two of buckets. */
    BucketTable(int buckets) {
        if (Integer.bitCount(buckets) != 1 || buckets < WAYS) {
            throw new IllegalArgumentException("not a power of two, or too small: " + buckets);
        }
        this.tags = new AtomicLongArray(buckets);
        this.fullTicks = new AtomicLongArray(buckets);
        this.fullNanos = new AtomicLongArray(buckets);
        this.sets = buckets / WAYS;
    }

    /**
     * Takes a unit out of a bucket.
     *
     * @return how many ticks the bucket then lacks; if it had too little, the ticks to wait until it has enough, negative
     */
    long take(long key, Pace pace, long nanos) {
        long tag = tag(key);
        long now = pace.ticks(nanos);
        for (; ; ) {
            int place = findOrClaim(tag, now, nanos);
            if (place < 0) {
                return pace.unit(); // as a new key's first
            }
            long full = fullTicks.get(place);
            long lacks = pace.take(full, now);
            if (lacks < 0) {
                return lacks;
            }
            if (fullTicks.compareAndSet(place, full, now + lacks)) {
                fullNanos.setOpaque(place, nanos + pace.nanos(lacks));
                return lacks;
            }
        }
    }

    /** Puts back units that were taken. */
    void giveBack(long key, int units, Pace pace) {
        int place = find(tag(key));
        if (place >= 0) {
            fullTicks.getAndAdd(place, -units * pace.unit());
        }
    }

    /**
     * Takes some ticks out of a bucket, whether or not it has them.
     *
     * @param atLeast how many ticks the bucket lacks then, if not more
     */
    void charge(long key, long ticks, long atLeast, Pace pace, long nanos) {
        long tag = tag(key);
        long now = pace.ticks(nanos);
        for (; ; ) {
            int place = findOrClaim(tag, now, nanos);
            if (place < 0) {
                return;
            }
            long full = fullTicks.get(place);
            long lacks = Pace.charge(full, now, ticks, atLeast);
            if (fullTicks.compareAndSet(place, full, now + lacks)) {
                fullNanos.setOpaque(place, nanos + pace.nanos(lacks));
                return;
            }
        }
    }

    /** Returns the place of a bucket, which it makes if need be, or -1 if others are changing all places at this moment. */
    private int findOrClaim(long tag, long now, long nanos) {
        int place = find(tag);
        if (place < 0) {
            place = claim(tag, now, nanos);
            if (place < 0) {
                uncounted.increment();
            }
        }
        return place;
    }

    /** Returns how many buckets have made room before they were full. */
    long evicted() {
        return evicted.sum();
    }

    /** Returns how many requests passed without a bucket, as others were changing all places. */
    long uncounted() {
        return uncounted.sum();
    }

    private static long tag(long key) {
        return key == EMPTY || key == CHANGING ? key + 2 : key;
    }

    private int firstPlace(long tag) {
        return (int) ((tag >>> 32) & (sets - 1)) * WAYS;
    }

    private int find(long tag) {
        int first = firstPlace(tag);
        for (int place = first; place < first + WAYS; place++) {
            if (tags.get(place) == tag) {
                return place;
            }
        }
        return -1;
    }

    /** Makes a full bucket; returns its place, or -1 if all places change at this moment. */
    private int claim(long tag, long now, long nanos) {
        for (int tries = 0; tries < WAYS; tries++) {
            int place = leastNeeded(firstPlace(tag), nanos);
            if (place < 0) {
                return -1;
            }
            long former = tags.get(place);
            if (former != CHANGING && tags.compareAndSet(place, former, CHANGING)) {
                if (former != EMPTY && fullNanos.getOpaque(place) - nanos > 0) {
                    evicted.increment();
                }
                fullTicks.set(place, now);
                fullNanos.setOpaque(place, nanos);
                tags.set(place, tag);
                return place;
            }
        }
        return -1;
    }

    /** Returns a place without a bucket, else that of the bucket that is full first. */
    private int leastNeeded(int first, long nanos) {
        int found = -1;
        long least = 0;
        for (int place = first; place < first + WAYS; place++) {
            long tag = tags.get(place);
            if (tag == EMPTY) {
                return place;
            }
            long wait = fullNanos.getOpaque(place) - nanos;
            if (tag != CHANGING && (found < 0 || wait < least)) {
                found = place;
                least = wait;
            }
        }
        return found;
    }
}
