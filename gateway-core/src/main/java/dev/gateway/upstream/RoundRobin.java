package dev.gateway.upstream;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Weighted round robin: takes endpoints in turn, each as often as its weight says and as evenly spread as can be (smooth
 * weighted round robin). The whole turn is computed beforehand, so that a choice is one atomic increment.
 */
public final class RoundRobin implements Balancer {
    private static final int MAX_TURN = 1 << 14;

    private final Endpoint[] turn;
    private final AtomicInteger next = new AtomicInteger();

    /** Makes a balancer over these. */
    public RoundRobin(List<Host> hosts) {
        this.turn = turn(hosts);
    }

    private static Endpoint[] turn(List<Host> hosts) {
        int[] weights = new int[hosts.size()];
        long divisor = 0;
        long total = 0;
        for (int i = 0; i < weights.length; i++) {
            weights[i] = Math.max(1, hosts.get(i).endpoint().weight());
            divisor = greatestCommonDivisor(weights[i], divisor);
            total += weights[i];
        }
        // A turn too long to be kept is shortened; a weight then counts at least once.
        double scale = divisor == 0 ? 1 : 1.0 / Math.max((double) divisor, (double) total / MAX_TURN);
        int length = 0;
        for (int i = 0; i < weights.length; i++) {
            weights[i] = Math.max(1, (int) Math.round(weights[i] * scale));
            length += weights[i];
        }
        Endpoint[] turn = new Endpoint[length];
        long[] credit = new long[weights.length];
        for (int t = 0; t < length; t++) {
            int best = 0;
            for (int i = 0; i < weights.length; i++) {
                credit[i] += weights[i];
                if (credit[i] > credit[best]) {
                    best = i;
                }
            }
            credit[best] -= length;
            turn[t] = hosts.get(best).endpoint();
        }
        return turn;
    }

    private static long greatestCommonDivisor(long a, long b) {
        return b == 0 ? a : greatestCommonDivisor(b, a % b);
    }

    @Override
    public @Nullable Endpoint choose(BalancerContext request) {
        if (turn.length == 0) {
            return null;
        }
        int start = (next.getAndIncrement() & Integer.MAX_VALUE) % turn.length;
        Endpoint chosen = turn[start];
        Endpoint previous = request.previous();
        for (int i = 1; previous != null && chosen.equals(previous) && i < turn.length; i++) {
            chosen = turn[(start + i) % turn.length];
        }
        return chosen;
    }
}
