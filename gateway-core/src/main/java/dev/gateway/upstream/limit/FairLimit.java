package dev.gateway.upstream.limit;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * Circuit breaker limit, fair by endpoint: how many of something (connections or requests) an upstream may have at a time,
 * over all event loops. Each endpoint has its share, so that one that hangs cannot use up what the others need. Safe from
 * any thread.
 */
public final class FairLimit {
    private final int max;
    private final CircuitBreakerLimit rest;
    private final List<Share> shares = new ArrayList<>(); // guarded by itself; those of endpoints that have gone, too

    /** Makes a limit; 0 means no limit. */
    public FairLimit(int max) {
        this.max = max > 0 ? max : Integer.MAX_VALUE;
        this.rest = new CircuitBreakerLimit(max);
    }

    /** Makes the share of another endpoint. Until the next {@link #divide}, nothing is reserved for it. */
    public Share newShare() {
        Share share = new Share(rest, max == Integer.MAX_VALUE ? max : 0);
        synchronized (shares) {
            shares.removeIf(Share::isOver);
            shares.add(share);
        }
        return share;
    }

    /**
     * Divides the limit among some endpoints: reserves for each its share by weight, at least one. All may take what
     * rounding leaves. Other endpoints do not count against the limit: what hangs there must not be missing here. Called by
     * one thread at a time.
     *
     * @param all all endpoints
     * @param among those that get a share
     * @param weight returns the weight of an endpoint
     * @param part returns an endpoint's share of this limit
     */
    public <E> void divide(List<E> all, List<E> among, ToDoubleFunction<E> weight, Function<E, Share> part) {
        if (max == Integer.MAX_VALUE) {
            return;
        }
        int count = among.size();
        double weights = among.stream().mapToDouble(weight).sum();
        int left = max;
        Set<E> included = new HashSet<>(among);
        for (E endpoint : all) {
            if (!included.contains(endpoint)) {
                part.apply(endpoint).keep(Integer.MAX_VALUE, Integer.MAX_VALUE);
            } else if (max < count) {
                part.apply(endpoint).keep(0, 1); // the limit is lower than the number of endpoints: at most one each
            } else {
                int kept = 1 + (int) ((max - count) * weight.applyAsDouble(endpoint) / weights);
                left -= kept;
                part.apply(endpoint).keep(kept, Integer.MAX_VALUE);
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

    /** Returns how many must be given back before anybody gets one beyond its share. */
    public int excess() {
        return rest.excess();
    }

    /** Returns how many shares there are, including those of removed endpoints that are still in use. */
    public int shares() {
        synchronized (shares) {
            shares.removeIf(Share::isOver);
            return shares.size();
        }
    }
}
