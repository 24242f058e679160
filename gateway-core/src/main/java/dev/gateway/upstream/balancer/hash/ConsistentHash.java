package dev.gateway.upstream.balancer.hash;

import dev.gateway.message.KeyHash;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.BalancerContext;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.balancer.Candidates;
import dev.gateway.upstream.balancer.LeastRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Hash balancer (Maglev, with bounded load): requests with the same key go to the same endpoint, unless it has many more
 * requests in flight than its share. Then the next endpoints of the key take them. Requests without a key go to an endpoint
 * with few requests.
 */
public final class ConsistentHash implements Balancer {
    /** An endpoint with fewer requests in flight is not overloaded, whatever the others have. */
    static final int ALWAYS_TAKES = 16;

    private static final int PROBES = 8;
    private static final double PERCENT = 100;

    private final Candidates candidates;
    private final MaglevTable table;
    private final List<HashKey> keys;
    private final int balanceFactor;
    private final double totalWeight;
    private final Balancer withoutKey;

    // Not exact: event loops may overwrite each other's values. Then one of them counts a little earlier or later.
    private int untilCount;
    private double mean = Double.MAX_VALUE; // requests in flight for a weight of one

    /**
     * Makes a balancer over these hosts.
     *
     * @param balanceFactor how many percent of its share an endpoint may have in flight, 0 for no limit
     */
    public ConsistentHash(List<Host> hosts, List<HashKey> keys, int balanceFactor) {
        this.candidates = new Candidates(hosts);
        this.table = new MaglevTable(candidates);
        this.keys = List.copyOf(keys);
        this.balanceFactor = balanceFactor;
        this.withoutKey = new LeastRequest(hosts);
        double weights = 0;
        for (double weight : candidates.weights()) {
            weights += weight;
        }
        this.totalWeight = weights;
    }

    /** Returns the policy: its balancers are made with these keys, and this factor. */
    static Policy policy(List<HashKey> keys, int balanceFactor) {
        return new Policy() {
            @Override
            public Balancer over(List<Host> hosts) {
                return new ConsistentHash(hosts, keys, balanceFactor);
            }

            @Override
            public boolean ignoresZones() {
                return true;
            }
        };
    }

    @Override
    public @Nullable Endpoint choose(BalancerContext request) {
        if (candidates.size() == 0) {
            return null;
        }
        long hash = hash(request);
        if (hash == KeyHash.NONE) {
            return withoutKey.choose(request);
        }
        if (balanceFactor != 0) {
            count();
        }
        long probe = hash;
        int fallback = -1;
        for (int i = 0; i < PROBES; i++) {
            int index = table.find(probe);
            probe = KeyHash.next(probe);
            if (candidates.isTried(index, request)) {
                continue;
            }
            if (!isOverloaded(index)) {
                return candidates.endpoint(index);
            }
            if (fallback < 0 || inFlight(index) < inFlight(fallback)) {
                fallback = index;
            }
        }
        return candidates.endpoint(fallback >= 0 ? fallback : candidates.untried(table.find(hash), request));
    }

    @Override
    public boolean keeps(BalancerContext request) {
        return hash(request) != KeyHash.NONE;
    }

    private long hash(BalancerContext request) {
        long hash = KeyHash.NONE;
        for (int i = 0; i < keys.size(); i++) { // no iterator is made
            long part = keys.get(i).of(request);
            if (part != KeyHash.NONE) {
                hash = hash == KeyHash.NONE ? part : KeyHash.next(hash) ^ part;
                if (keys.get(i).terminal()) {
                    return hash;
                }
            }
        }
        return hash;
    }

    private int inFlight(int index) {
        return candidates.host(index).requests().taken();
    }

    private boolean isOverloaded(int index) {
        int inFlight = balanceFactor == 0 ? 0 : inFlight(index);
        return inFlight >= ALWAYS_TAKES && inFlight >= balanceFactor / PERCENT * mean * candidates.weight(index);
    }

    /**
     * Counts all requests in flight, once per as many choices as there are endpoints, so that a choice has a constant cost.
     */
    private void count() {
        if (--untilCount < 0) {
            untilCount = candidates.size();
            long inFlight = 0;
            for (int i = 0; i < candidates.size(); i++) {
                inFlight += inFlight(i);
            }
            mean = (inFlight + candidates.size()) / totalWeight; // includes the requests that come until the next count
        }
    }
}
