package dev.gateway.upstream.balancer;

import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.BalancerContext;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Random balancer: takes any endpoint, each as likely as its weight says. Stateless. */
public final class WeightedRandom implements Balancer {
    /** The policy {@code Random}. */
    public static final BalancerFeature FEATURE = BalancerFeature.of("Random", () -> WeightedRandom::new);

    private final Candidates candidates;
    private final LongSupplier random;

    /** Makes a balancer over these hosts. */
    public WeightedRandom(List<Host> hosts) {
        this(hosts, () -> ThreadLocalRandom.current().nextLong());
    }

    /** Makes a balancer over these hosts, which draws by these numbers. */
    public WeightedRandom(List<Host> hosts, LongSupplier random) {
        this.candidates = new Candidates(hosts);
        this.random = random;
    }

    @Override
    public @Nullable Endpoint choose(BalancerContext request) {
        return candidates.size() == 0
                ? null
                : candidates.endpoint(candidates.untried(candidates.draw(random.getAsLong()), request));
    }
}
