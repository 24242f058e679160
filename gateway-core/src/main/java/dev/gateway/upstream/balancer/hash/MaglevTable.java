package dev.gateway.upstream.balancer.hash;

import dev.gateway.message.KeyHash;
import dev.gateway.upstream.balancer.Candidates;
import dev.gateway.upstream.balancer.Turns;
import java.util.Arrays;

/**
 * Maglev table (consistent hashing): which endpoint gets the requests of a key. Depends on addresses and weights only, so
 * that all replicas have the same table. If an endpoint goes, few keys of the others move. Immutable.
 */
final class MaglevTable {
    /** Number of slots, a prime. It is the same for almost any number of endpoints: another size would move all keys. */
    private static final int SIZE = 65_537;

    private static final int LARGE = 1_048_573;

    /** Minimum number of slots per endpoint, on average: with fewer, shares would differ too much from the weights. */
    private static final int SLOTS = 10;

    private final int[] slots;

    MaglevTable(Candidates candidates) {
        double[] weights = candidates.weights();
        slots = new int[weights.length * SLOTS <= SIZE ? SIZE : LARGE];
        Arrays.fill(slots, -1);
        long[] offset = new long[weights.length];
        long[] step = new long[weights.length];
        for (int i = 0; i < weights.length; i++) {
            long hash = KeyHash.of(candidates.endpoint(i).toString());
            offset[i] = Long.remainderUnsigned(hash, slots.length);
            step[i] = 1 + Long.remainderUnsigned(KeyHash.next(hash), slots.length - 1);
        }
        for (int i : Turns.of(weights, slots.length)) {
            while (slots[(int) offset[i]] >= 0) {
                offset[i] = (offset[i] + step[i]) % slots.length;
            }
            slots[(int) offset[i]] = i;
        }
    }

    /** Returns the index of the candidate that gets the requests of a key. There must be at least one. */
    int find(long hash) {
        return slots[(int) Long.remainderUnsigned(hash, slots.length)];
    }
}
