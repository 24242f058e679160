package dev.gateway.upstream;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Peak EWMA balancer: of two endpoints, takes the one where a request probably waits less: latency times requests in flight.
 * Latency is a moving average that follows a slow answer at once. An endpoint that has not answered yet gets one request
 * at a time.
 */
public final class PeakEwma implements Balancer {
    /** Microseconds that are more than any answer takes. */
    private static final double UNKNOWN = 1e12;

    private final Candidates candidates;
    private final LongSupplier random;
    private final LongSupplier clock;
    private final double meanWeight;

    /** Makes a balancer over these. */
    public PeakEwma(List<Host> hosts) {
        this(hosts, () -> ThreadLocalRandom.current().nextLong(), System::nanoTime);
    }

    PeakEwma(List<Host> hosts, LongSupplier random, LongSupplier clock) {
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
        // Weights are kept because both are drawn by weight. If they are equal, the two may as well be different.
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
