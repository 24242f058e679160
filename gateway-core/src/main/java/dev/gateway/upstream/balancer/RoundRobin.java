package dev.gateway.upstream.balancer;

import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.BalancerContext;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Weighted round robin: takes endpoints in turn, each as often as its weight says, and evenly spread. The constructor
 * computes the whole sequence, so that a choice is one atomic increment.
 */
public final class RoundRobin implements Balancer {
    /** The policy {@code RoundRobin}. */
    public static final BalancerFeature FEATURE =
            BalancerFeature.of("RoundRobin", RoundRobin::policy, "wrr", "weightedroundrobin");

    private static final int MAX_TURN = 1 << 14;
    private static final int MIN_TURNS_EACH = 16;

    private final Candidates candidates;
    private final int[] turns;
    private final AtomicInteger next;

    /** Makes a balancer over these hosts. */
    public RoundRobin(List<Host> hosts) {
        this(hosts, new AtomicInteger());
    }

    private RoundRobin(List<Host> hosts, AtomicInteger next) {
        this.next = next;
        this.candidates = new Candidates(hosts);
        double[] weights = candidates.weights();
        this.turns = Turns.of(weights, length(weights));
    }

    /**
     * Returns the policy of one upstream. Its balancers continue the turn of those before: else the first endpoints would get
     * more requests than others, the more often the set of endpoints changes.
     */
    public static Policy policy() {
        return new Continued();
    }

    /** Guarded by the health of its upstream. Balancers of two zones do not share a turn, or one would skip its endpoints. */
    private static final class Continued implements Policy {
        private AtomicInteger last = new AtomicInteger();

        @Override
        public Balancer over(List<Host> hosts) {
            last = new AtomicInteger(last.get());
            return new RoundRobin(hosts, last);
        }
    }

    /** Returns the length of the sequence that has the weights exactly, or a maximum if that would be too long. */
    private static int length(double[] weights) {
        int most = Math.max(MAX_TURN, MIN_TURNS_EACH * weights.length);
        long divisor = 0;
        double total = 0;
        for (double weight : weights) {
            if (weight != Math.rint(weight)) {
                return most;
            }
            divisor = greatestCommonDivisor((long) weight, divisor);
            total += weight;
        }
        return divisor == 0 ? 0 : (int) Math.min(total / divisor, most);
    }

    private static long greatestCommonDivisor(long a, long b) {
        return b == 0 ? a : greatestCommonDivisor(b, a % b);
    }

    @Override
    public @Nullable Endpoint choose(BalancerContext request) {
        if (turns.length == 0) {
            return null;
        }
        int turn = (next.getAndIncrement() & Integer.MAX_VALUE) % turns.length;
        if (request.previous() == null) {
            return candidates.endpoint(turns[turn]);
        }
        for (int i = 0; i < MIN_TURNS_EACH; i++) { // in sequence, so that not all retries go to one neighbor
            int index = turns[(turn + i) % turns.length];
            if (!candidates.isTried(index, request)) {
                return candidates.endpoint(index);
            }
        }
        return candidates.endpoint(candidates.untried(turns[turn], request));
    }
}
