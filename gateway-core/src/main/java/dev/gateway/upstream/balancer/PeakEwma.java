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
 * Peak EWMA balancer: draws two endpoints, and takes the one with the smaller product of latency and requests in flight.
 * There a request probably waits less. Latency is a moving average that rises at once with a slow answer. An endpoint that
 * has not answered yet gets one request at a time.
 */
public final class PeakEwma implements Balancer {
    /** The policy {@code PeakEwma}. */
    public static final BalancerFeature FEATURE =
            BalancerFeature.of("PeakEwma", () -> PeakEwma::new, "ewma", "leasttime");

    /** Microseconds that are more than any answer takes. */
    private static final double UNKNOWN = 1e12;

    private final Candidates candidates;
    private final LongSupplier random;
    private final LongSupplier clock;
    private final double meanWeight;

    /** Makes a balancer over these hosts. */
    public PeakEwma(List<Host> hosts) {
        this(hosts, () -> ThreadLocalRandom.current().nextLong(), System::nanoTime);
    }

    /** Makes a balancer over these hosts, which draws by these numbers and has the time of this clock. */
    public PeakEwma(List<Host> hosts, LongSupplier random, LongSupplier clock) {
        this.candidates = new Candidates(hosts);
        this.random = random;
        this.clock = clock;
        double total = 0;
        for (double weight : candidates.weights()) {
            total += weight;
        }
        this.meanWeight = total / Math.max(1, candidates.size());
    }

    @Override
    public boolean timesAnswers() {
        return true;
    }

    @Override
    public @Nullable Endpoint choose(BalancerContext request) {
        int size = candidates.size();
        if (size <= 1) {
            return size == 0 ? null : candidates.endpoint(0);
        }
        int one = candidates.untried(candidates.draw(random.getAsLong()), request);
        // Both draws respect the weights. If all weights are equal, the second draw excludes the first endpoint.
        int other = candidates.isUniform()
                ? candidates.other(one, random.getAsLong())
                : candidates.draw(random.getAsLong());
        long now = clock.getAsLong();
        boolean better = other != one && wait(other, now) < wait(one, now) && !candidates.isTried(other, request);
        return candidates.endpoint(better ? other : one);
    }

    private double wait(int i, long now) {
        Host host = candidates.host(i);
        double inFlight = host.requests().taken() * meanWeight / candidates.weight(i);
        return host.latency().isUnknown()
                ? inFlight * UNKNOWN
                : (inFlight + 1) * host.latency().microsAt(now);
    }
}
