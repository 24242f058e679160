package dev.gateway.filter.ratelimit;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * Token buckets by key, by the generic cell rate algorithm (GCRA): a table of fixed size, whatever keys come. A bucket is
 * the time, on the clock of its {@link Pace}, when it would be full again. Keys are hashes; a few places are possible for
 * each. If all are taken, the bucket that has been full for longest makes room. If none is full, one of the limit that has
 * most buckets makes room: the one that will be full next, whose key starts full again. So a flood of keys of one limit
 * leaves the buckets of others alone, unless these have more. Within a limit, who takes the place of a bucket has used up as
 * much as its key wins. Shared by event loops without locks: threads that make the bucket of a new key at the same time may
 * each let one request pass that the bucket does not count.
 */
final class BucketTable {
    static final int WAYS = 8; // keys of one set stand in one or two cache lines

    /** What one bucket takes in memory. */
    static final int BYTES = 3 * Long.BYTES;

    private static final long EMPTY = 0;
    static final long CHANGING = 1; // its owner is about to be another one

    /** The highest bits of a key say whose it is. Beyond so many limits, some count as one when they make room. */
    private static final int NUMBER_BITS = 12;

    private static final int NUMBER_SHIFT = Long.SIZE - NUMBER_BITS;
    private static final long HASH = (1L << NUMBER_SHIFT) - 1;

    final AtomicLongArray tags; // also for tests, which cannot stop a thread between two steps
    private final AtomicLongArray fullTicks;
    private final AtomicLongArray fullNanos; // the same by the loops' clocks: limits share the table, not a clock
    private final AtomicIntegerArray held = new AtomicIntegerArray(1 << NUMBER_BITS); // buckets of each limit
    private final AtomicInteger numbers = new AtomicInteger();
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

    /** Returns the number of another limit. Numbers of limits that are gone come again as late as possible. */
    int newNumber() {
        return numbers.incrementAndGet() & ((1 << NUMBER_BITS) - 1);
    }

    /** Returns the key of a hash for the limit of this number. */
    static long key(int number, long hash) {
        return ((long) number << NUMBER_SHIFT) | (hash & HASH);
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
            int place = leastNeeded(tag, nanos);
            if (place < 0) {
                continue;
            }
            long former = tags.get(place);
            if (former != CHANGING && tags.compareAndSet(place, former, CHANGING)) {
                if (former != EMPTY) {
                    held.getAndDecrement(number(former));
                    if (fullNanos.getOpaque(place) - nanos > 0) {
                        evicted.increment();
                    }
                }
                held.getAndIncrement(number(tag));
                fullTicks.set(place, now);
                fullNanos.setOpaque(place, nanos);
                tags.set(place, tag);
                return place;
            }
        }
        return -1;
    }

    private static int number(long tag) {
        return (int) (tag >>> NUMBER_SHIFT);
    }

    /** Returns a place without a bucket, else that of one that is full, else one of the limit that is to make room. */
    private int leastNeeded(long tag, long nanos) {
        int first = firstPlace(tag);
        int found = -1;
        long least = 0;
        for (int place = first; place < first + WAYS; place++) {
            long other = tags.get(place);
            if (other == EMPTY) {
                return place;
            }
            long wait = fullNanos.getOpaque(place) - nanos;
            if (other != CHANGING && wait <= 0 && (found < 0 || wait < least)) {
                found = place;
                least = wait;
            }
        }
        return found < 0 ? fullNext(first, makesRoom(first, number(tag)), nanos) : found;
    }

    /**
     * Returns the limit that makes room for a key of a limit: the one of this set that has most buckets in the table. But no
     * limit takes from one that has fewer in the set: those elsewhere may be full, and nobody needed their places.
     */
    private int makesRoom(int first, int own) {
        int most = -1;
        for (int place = first; place < first + WAYS; place++) {
            long tag = tags.get(place);
            if (tag != CHANGING && (most < 0 || held.get(number(tag)) > held.get(most))) {
                most = number(tag);
            }
        }
        return most < 0 || heldHere(first, own) >= heldHere(first, most) ? own : most;
    }

    private int heldHere(int first, int limit) {
        int count = 0;
        for (int place = first; place < first + WAYS; place++) {
            count += number(tags.get(place)) == limit ? 1 : 0;
        }
        return count;
    }

    /** Returns the place of the limit's bucket that will be full next, or -1 if it has lost its buckets meanwhile. */
    private int fullNext(int first, int limit, long nanos) {
        int found = -1;
        long least = 0;
        for (int place = first; place < first + WAYS; place++) {
            long tag = tags.get(place);
            long wait = fullNanos.getOpaque(place) - nanos;
            if (tag != CHANGING && number(tag) == limit && (found < 0 || wait < least)) {
                found = place;
                least = wait;
            }
        }
        return found;
    }
}
