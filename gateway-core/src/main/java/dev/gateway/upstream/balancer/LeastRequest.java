package dev.gateway.upstream.balancer;

import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.BalancerContext;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Least request balancer (power of two choices): draws one endpoint by weight, and a second one at random. It takes the
 * second one if that has fewer requests in flight for its weight. So slow endpoints get fewer requests, and a choice costs
 * a look at two endpoints, however many there are. Counts the requests of all event loops.
 */
public final class LeastRequest implements Balancer {
    /** The policy {@code LeastRequest}. */
    public static final BalancerFeature FEATURE = BalancerFeature.of(
            "LeastRequest",
            () -> LeastRequest::new,
            "leastconn",
            "leastconnection",
            "leastconnections",
            "leastrequests",
            "weightedleastrequest",
            "p2c");

    private final Candidates candidates;
    private final LongSupplier random;

    /** Makes a balancer over these hosts. */
    public LeastRequest(List<Host> hosts) {
        this(hosts, () -> ThreadLocalRandom.current().nextLong());
    }

    /** Makes a balancer over these hosts, which draws by these numbers. */
    public LeastRequest(List<Host> hosts, LongSupplier random) {
        this.candidates = new Candidates(hosts);
        this.random = random;
    }

    @Override
    public @Nullable Endpoint choose(BalancerContext request) {
        int size = candidates.size();
        if (size <= 1) {
            return size == 0 ? null : candidates.endpoint(0);
        }
        int one = candidates.untried(candidates.draw(random.getAsLong()), request);
        int other = candidates.other(one, random.getAsLong());
        boolean better = isLessLoaded(other, one) && !candidates.isTried(other, request);
        return candidates.endpoint(better ? other : one);
    }

    /**
     * Whether one endpoint has clearly fewer requests for its weight than another. The difference must be more than one
     * request makes. Otherwise an endpoint of low weight would seem idle until its first request, and busy with it. The
     * draw has already respected the weights.
     */
    private boolean isLessLoaded(int one, int than) {
        double weight = candidates.weight(one);
        double others = candidates.weight(than);
        return candidates.host(than).requests().taken() * weight
                        - candidates.host(one).requests().taken() * others
                > Math.abs(weight - others);
    }
}
