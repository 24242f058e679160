package dev.gateway.upstream;

import org.jspecify.annotations.Nullable;

/**
 * Balancer of two groups, near and far: a share of requests goes to the near group, the rest to the far one, evenly mixed.
 * Within each group, a balancer chooses as it would without zones. A retry goes to the other group if the request has tried
 * all endpoints of one.
 */
final class ZonedBalancer implements Balancer {
    /** The golden section of 2^32: its multiples fill the range evenly, however many of them there are. */
    private static final int STEP = 0x9e3779b9;

    private final Balancer near;
    private final Balancer far;
    private final long threshold; // of 2^31

    private int turn; // not exact: event loops may overwrite each other's value, which does not change the shares

    /**
     * Makes it from two balancers, each with at least one endpoint.
     *
     * @param nearShare the share of requests for the near group, from 0 to 1
     */
    ZonedBalancer(Balancer near, Balancer far, double nearShare) {
        this.near = near;
        this.far = far;
        this.threshold = Math.round(nearShare * (1L + Integer.MAX_VALUE));
    }

    @Override
    public @Nullable Endpoint choose(BalancerContext request) {
        boolean isNear = isNear();
        Endpoint one = (isNear ? near : far).choose(request);
        if (request.previous() == null || (one != null && !request.isTried(one))) {
            return one;
        }
        Endpoint other = (isNear ? far : near).choose(request);
        return other != null && other.equals(request.previous()) ? one : other;
    }

    private boolean isNear() {
        if (threshold > Integer.MAX_VALUE) {
            return true;
        }
        turn += STEP;
        return (turn & Integer.MAX_VALUE) < threshold;
    }

    @Override
    public boolean timesAnswers() {
        return near.timesAnswers() || far.timesAnswers();
    }
}
