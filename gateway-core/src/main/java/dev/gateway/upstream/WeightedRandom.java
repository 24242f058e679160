package dev.gateway.upstream;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Random balancer: takes any endpoint, each as likely as its weight says. Stateless. */
public final class WeightedRandom implements Balancer {
    private final Candidates candidates;
    private final LongSupplier random;

    /** Makes a balancer over these hosts. */
    public WeightedRandom(List<Host> hosts) {
        this(hosts, () -> ThreadLocalRandom.current().nextLong());
    }

    WeightedRandom(List<Host> hosts, LongSupplier random) {
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
