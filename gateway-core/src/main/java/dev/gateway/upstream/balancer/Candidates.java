package dev.gateway.upstream.balancer;

import dev.gateway.upstream.BalancerContext;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * The endpoints that a balancer chooses from, with their current weights. Draws one by weight in constant time (alias
 * method), and replaces one that the request has already tried. Immutable.
 */
public final class Candidates {
    private final Host[] hosts;
    private final Endpoint[] endpoints;
    private final double[] weights;
    private final boolean uniform;
    private final int[] alias; // for each slot: the candidate that has the part of the slot beyond kept
    private final int[] kept; // for each slot: the part that its own candidate has, of 2^31

    /** Makes them of hosts, in this order. */
    public Candidates(List<Host> hosts) {
        this.hosts = hosts.toArray(Host[]::new);
        int size = this.hosts.length;
        endpoints = new Endpoint[size];
        weights = new double[size];
        for (int i = 0; i < size; i++) {
            endpoints[i] = this.hosts[i].endpoint();
            double weight = this.hosts[i].weight();
            weights[i] = weight > 0 ? weight : 1;
        }
        uniform = Arrays.stream(weights).distinct().count() <= 1;
        alias = new int[size];
        kept = new int[size];
        fill();
    }

    private void fill() {
        double mean = Arrays.stream(weights).average().orElse(1);
        double[] parts = new double[weights.length];
        Deque<Integer> small = new ArrayDeque<>();
        Deque<Integer> large = new ArrayDeque<>();
        for (int i = 0; i < parts.length; i++) {
            parts[i] = weights[i] / mean;
            alias[i] = i;
            kept[i] = Integer.MAX_VALUE;
            (parts[i] < 1 ? small : large).add(i);
        }
        while (!small.isEmpty() && !large.isEmpty()) {
            int less = small.remove();
            int more = large.remove();
            kept[less] = (int) (parts[less] * Integer.MAX_VALUE);
            alias[less] = more;
            parts[more] -= 1 - parts[less];
            (parts[more] < 1 ? small : large).add(more);
        }
    }

    /** Returns how many there are. */
    public int size() {
        return hosts.length;
    }

    /** Returns the host of a candidate. */
    public Host host(int i) {
        return hosts[i];
    }

    /** Returns the endpoint of a candidate. */
    public Endpoint endpoint(int i) {
        return endpoints[i];
    }

    /** Returns the weight of a candidate, more than 0. */
    public double weight(int i) {
        return weights[i];
    }

    /** Returns a copy of all weights. */
    public double[] weights() {
        return weights.clone();
    }

    /** Whether all weights are the same. */
    public boolean isUniform() {
        return uniform;
    }

    /** Draws a candidate at random by weight. There must be at least one. */
    public int draw(long random) {
        int slot = below(random, hosts.length);
        return (random & Integer.MAX_VALUE) < kept[slot] ? slot : alias[slot];
    }

    /** Draws another candidate than this one; weights do not matter. There must be at least two. */
    public int other(int than, long random) {
        int i = than + 1 + below(random, hosts.length - 1);
        return i < hosts.length ? i : i - hosts.length;
    }

    private static int below(long random, int bound) {
        return (int) (((random >>> Integer.SIZE) * bound) >>> Integer.SIZE);
    }

    /** Whether the request has already tried this candidate. */
    public boolean isTried(int i, BalancerContext request) {
        Endpoint previous = request.previous();
        return previous != null && (endpoints[i].equals(previous) || request.isTried(endpoints[i]));
    }

    /**
     * Returns this candidate if the request has not tried it, else the next one that it has not tried. If it has tried all,
     * returns one other than that of the previous attempt.
     */
    public int untried(int i, BalancerContext request) {
        Endpoint previous = request.previous();
        if (previous == null || !isTried(i, request)) {
            return i;
        }
        int best = i;
        for (int k = 1; k < hosts.length; k++) {
            int next = (i + k) % hosts.length;
            if (!isTried(next, request)) {
                return next;
            }
            if (endpoints[best].equals(previous) && !endpoints[next].equals(previous)) {
                best = next;
            }
        }
        return best;
    }
}
