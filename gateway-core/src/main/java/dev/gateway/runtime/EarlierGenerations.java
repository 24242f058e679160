package dev.gateway.runtime;

import dev.gateway.upstream.Upstream;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * How much memory earlier generations may hold for their last exchanges: an estimate, and a limit. Exchanges that a client
 * holds open for hours would otherwise keep more with each reload.
 *
 * @param most how many bytes of heap all of them may hold
 * @param loops the number of event loops, each of which has pools for each endpoint
 */
record EarlierGenerations(long most, int loops) {
    /** One eighth: clients may fill one half, and the active generation needs room, too. */
    private static final int SHARE = 8;

    // Measured, and rounded up.
    private static final long GENERATION = 4 * 1024; // its settings and lists
    private static final long RULE = 4 * 1024; // which an exchange keeps, with its filters
    private static final long UPSTREAM = 3 * 1024;
    private static final long ENDPOINT = 1024;
    private static final long POOL = 2 * 1024; // of an endpoint on an event loop
    private static final long PLUGIN = 1024 * 1024; // the classes of a jar

    /**
     * What an earlier generation may hold.
     *
     * @param rules that its exchanges use at most
     * @param upstreams all of them, some of which it may share with other generations
     * @param plugins the code of its plugins, which it may share as well
     */
    record Held(int rules, Collection<Upstream> upstreams, Collection<?> plugins) {}

    /** Makes the limit for a heap of this size. */
    static EarlierGenerations ofHeap(long maxHeap, int loops) {
        return new EarlierGenerations(maxHeap / SHARE, loops);
    }

    /**
     * Returns how many may stay.
     *
     * @param earlier the newest first, which stays longest
     * @param active the active generation: what earlier ones share with it is not counted
     */
    int staying(List<Held> earlier, Held active) {
        Set<Object> counted = of(active);
        long bytes = 0;
        int stay = 0;
        for (Held each : earlier) {
            bytes += cost(each, counted);
            if (bytes > most) {
                break;
            }
            stay++;
        }
        return stay;
    }

    /** Returns how much they hold, by the same estimate. */
    long bytes(Collection<Held> earlier, Held active) {
        Set<Object> counted = of(active);
        return earlier.stream().mapToLong(each -> cost(each, counted)).sum();
    }

    private static Set<Object> of(Held active) {
        Set<Object> counted = new HashSet<>(active.upstreams());
        counted.addAll(active.plugins());
        return counted;
    }

    private long cost(Held held, Set<Object> counted) {
        long bytes = GENERATION + held.rules() * RULE;
        for (Upstream upstream : held.upstreams()) {
            bytes += counted.add(upstream) ? cost(upstream) : 0;
        }
        for (Object plugin : held.plugins()) {
            bytes += counted.add(plugin) ? PLUGIN : 0;
        }
        return bytes;
    }

    private long cost(Upstream upstream) {
        return UPSTREAM + upstream.endpoints().size() * (ENDPOINT + loops * POOL);
    }
}
