package dev.gateway.observe.counts;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Latency histogram for percentiles. How long things took, finely enough for percentiles: eight buckets to each doubling
 * from 33 µs to 137 s, so that a bucket is at most an eighth wider than its lower bound. One event loop records, any thread
 * reads. Takes 720 bytes. Counts wrap around, so only differences of two readings mean something.
 */
public final class FineHistogram {
    private static final int PARTS_BITS = 3;
    private static final int PARTS = 1 << PARTS_BITS;
    private static final int FIRST_BIT = 15; // 2^15 ns are 33 µs
    private static final int LAST_BIT = 37; // 2^37 ns are 137 s
    private static final double NANOS_PER_SECOND = 1e9;

    /** How many buckets there are: the first for what is shorter, the last for what is longer. */
    public static final int BUCKETS = (LAST_BIT - FIRST_BIT) * PARTS + 2;

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(int[].class);

    private final int[] counts = new int[BUCKETS];

    /** Records a duration. */
    public void record(long nanos) {
        int bucket = bucket(nanos);
        ELEMENT.setOpaque(counts, bucket, (int) ELEMENT.getOpaque(counts, bucket) + 1);
    }

    /** Returns the bucket of a duration. */
    public static int bucket(long nanos) {
        if (nanos < 1L << FIRST_BIT) {
            return 0;
        }
        if (nanos >= 1L << LAST_BIT) {
            return BUCKETS - 1;
        }
        int bit = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos);
        return 1 + (bit - FIRST_BIT) * PARTS + (int) (nanos >>> (bit - PARTS_BITS) & (PARTS - 1));
    }

    /** Returns where a bucket begins. */
    private static double seconds(int bucket) {
        if (bucket == 0) {
            return 0;
        }
        int index = bucket - 1;
        long part = 1L << (FIRST_BIT + index / PARTS - PARTS_BITS);
        return (PARTS + index % PARTS) * part / NANOS_PER_SECOND;
    }

    /** Adds what was counted to a sum of several event loops. */
    public void addTo(int[] sums) {
        for (int i = 0; i < BUCKETS; i++) {
            sums[i] += (int) ELEMENT.getOpaque(counts, i);
        }
    }

    /** Returns how many are in all buckets together. */
    public static long count(int[] buckets) {
        long sum = 0;
        for (int bucket : buckets) {
            sum += Integer.toUnsignedLong(bucket);
        }
        return sum;
    }

    /**
     * Returns the duration that a part did not exceed, as if those of a bucket were spread evenly over it. NaN if there
     * were none; 137 s for all that took longer.
     */
    public static double quantile(double part, int[] buckets) {
        long count = count(buckets);
        if (count == 0) {
            return Double.NaN;
        }
        double rank = part * count;
        long below = 0;
        for (int i = 0; i < BUCKETS - 1; i++) {
            long here = Integer.toUnsignedLong(buckets[i]);
            if (here > 0 && below + here >= rank) {
                double lower = seconds(i);
                return lower + (seconds(i + 1) - lower) * Math.max(0, rank - below) / here;
            }
            below += here;
        }
        return seconds(BUCKETS - 1);
    }
}
