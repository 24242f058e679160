package dev.gateway.upstream;

import java.util.ArrayList;
import java.util.List;

/**
 * How many of something an upstream may have at a time, over all event loops, divided among its endpoints so that one that
 * does not give back what it takes cannot take what the others need. Safe from any thread.
 */
public final class FairLimit {
    private final int max;
    private final Limit rest;
    private final List<Share> shares = new ArrayList<>(); // complete before anybody else sees this

    FairLimit(int max) {
        this.max = max > 0 ? max : Integer.MAX_VALUE;
        this.rest = new Limit(max);
    }

    /** Makes a further part, for which nothing is kept so far. */
    Share newShare() {
        Share share = new Share(rest, max == Integer.MAX_VALUE ? max : 0);
        shares.add(share);
        return share;
    }

    /** Returns how many are taken, by all endpoints together. */
    public int taken() {
        int sum = 0;
        for (Share share : shares) {
            sum += share.taken();
        }
        return sum;
    }
}
