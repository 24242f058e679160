package dev.gateway.upstream;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Circuit breaker limit, fair by endpoint: how many of something an upstream may have at a time, over all event loops,
 * divided among its endpoints so that one that does not give back what it takes cannot take what the others need. Safe from
 * any thread.
 */
public final class FairLimit {
    private final int max;
    private final Limit rest;
    private final List<Share> shares = new ArrayList<>(); // guarded by itself; those of endpoints that have gone, too

    FairLimit(int max) {
        this.max = max > 0 ? max : Integer.MAX_VALUE;
        this.rest = new Limit(max);
    }

    /** Makes a further part, for which nothing is kept so far. */
    Share newShare() {
        Share share = new Share(rest, max == Integer.MAX_VALUE ? max : 0);
        synchronized (shares) {
            shares.removeIf(Share::isOver);
            shares.add(share);
        }
        return share;
    }

    /**
     * Keeps for each of these endpoints its share, by weight and at least one; what rounding leaves is for all. Others do
     * not count until they are among these again: what hangs there must not be missing here. Called by one thread at a
     * time.
     *
     * @param part returns an endpoint's part of this limit
     */
    void divide(List<Host> all, List<Host> among, Function<Host, Share> part) {
        if (max == Integer.MAX_VALUE) {
            return;
        }
        int count = among.size();
        double weights = among.stream().mapToDouble(Host::weight).sum();
        int left = max;
        Set<Host> included = new HashSet<>(among);
        for (Host host : all) {
            if (!included.contains(host)) {
                part.apply(host).keep(Integer.MAX_VALUE, Integer.MAX_VALUE);
            } else if (max < count) {
                part.apply(host).keep(0, 1); // not enough for all, but nobody has two
            } else {
                int kept = 1 + (int) ((max - count) * host.weight() / weights);
                left -= kept;
                part.apply(host).keep(kept, Integer.MAX_VALUE);
            }
        }
        rest.allow(left);
    }

    /** Returns how many are taken, by all endpoints together. */
    public int taken() {
        synchronized (shares) {
            return shares.stream().mapToInt(Share::taken).sum();
        }
    }

    /** Returns how many have to be given back before anybody gets one beyond its share. */
    public int excess() {
        return rest.excess();
    }

    /** Returns how many parts it has, with those of endpoints that have gone of which something is still taken. */
    int shares() {
        synchronized (shares) {
            shares.removeIf(Share::isOver);
            return shares.size();
        }
    }
}
