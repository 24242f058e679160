package dev.gateway.filter.ratelimit;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * Permits by key: how many requests of each key are in flight, in a table of fixed size. A place holds part of the key's
 * hash and a count; it is free when the count is 0. A few places are possible for each key. If other keys have all of them,
 * the request passes and is not counted. Shared by event loops without locks; a key never gets more permits than it may
 * have, as long as it is counted.
 */
final class PermitTable {
    static final int WAYS = 16;

    /** What one place takes in memory. */
    static final int BYTES = Long.BYTES;

    /** The most permits of a key. */
    static final int MOST = 0xffff;

    /** The key has as many permits as it may. */
    static final int DENIED = -1;

    /** There is no room to count the key. */
    static final int UNCOUNTED = -2;

    private static final long COUNT = MOST;

    private final AtomicLongArray places;
    private final int sets;
    private final LongAdder uncounted = new LongAdder();

    /** Makes an empty table of a power of two of places. */
    PermitTable(int places) {
        if (Integer.bitCount(places) != 1 || places < WAYS) {
            throw new IllegalArgumentException("not a power of two, or too small: " + places);
        }
        this.places = new AtomicLongArray(places);
        this.sets = places / WAYS;
    }

    /** Takes a permit; returns its place, to be released once, or {@link #DENIED} or {@link #UNCOUNTED}. */
    int take(long key, int max) {
        long tag = tag(key);
        int first = firstPlace(key);
        for (; ; ) {
            int held = 0;
            int found = -1; // the key's place, else a free one
            long before = 0;
            for (int place = first; place < first + WAYS; place++) {
                long value = places.get(place);
                if (value == 0) {
                    found = found < 0 ? place : found;
                } else if ((value & ~COUNT) == tag) {
                    held += (int) (value & COUNT);
                    found = place;
                    before = value;
                }
            }
            if (held >= max) {
                return DENIED;
            }
            if (found < 0) {
                uncounted.increment();
                return UNCOUNTED;
            }
            if (places.compareAndSet(found, before, (before == 0 ? tag : before) + 1)) {
                return confirm(found, tag, first, max);
            }
        }
    }

    /** Two threads may have found different free places for a new key: together they must not be too many. */
    private int confirm(int taken, long tag, int first, int max) {
        int held = held(tag, first);
        if (held > max) {
            release(taken);
            return DENIED;
        }
        return taken;
    }

    private int held(long tag, int first) {
        int held = 0;
        for (int place = first; place < first + WAYS; place++) {
            long value = places.get(place);
            if (value != 0 && (value & ~COUNT) == tag) {
                held += (int) (value & COUNT);
            }
        }
        return held;
    }

    /** Gives a permit back. */
    void release(int place) {
        for (; ; ) {
            long value = places.get(place);
            long less = (value & COUNT) == 1 ? 0 : value - 1;
            if (places.compareAndSet(place, value, less)) {
                return;
            }
        }
    }

    /** Returns how many permits a key has. */
    int held(long key) {
        return held(tag(key), firstPlace(key));
    }

    /** Returns how many permits a place has given. */
    int heldAt(int place) {
        return (int) (places.get(place) & COUNT);
    }

    /** Returns how many requests were not counted for want of room. */
    long uncounted() {
        return uncounted.sum();
    }

    /** Returns how many places are taken. */
    int used() {
        int used = 0;
        for (int place = 0; place < places.length(); place++) {
            used += places.get(place) == 0 ? 0 : 1;
        }
        return used;
    }

    private static long tag(long key) {
        return key & ~COUNT;
    }

    private int firstPlace(long key) {
        return (int) (key & (sets - 1)) * WAYS; // the bits that are not part of the tag
    }
}
