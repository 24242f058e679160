package dev.gateway.upstream;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Zone preference: requests stay in the zone of the gateway as far as its endpoints can take them. Endpoints there get at
 * most {@value #MOST} times the average, assuming that each zone sends equally many requests. The other requests go to
 * other zones. Guarded by the {@link Health} of its upstream, except the share.
 */
final class ZonePreference {
    /** How many times the average an endpoint may get because it is near. */
    private static final double MOST = 1.4;

    private static final double NONE = -1;

    private final @Nullable String local;
    private volatile double share = NONE;

    /** Makes it; without a local zone it prefers no endpoints. */
    ZonePreference(@Nullable String local) {
        this.local = local;
    }

    /**
     * Returns the balancer among the chosen endpoints.
     *
     * @param doubtful whether endpoints are chosen that are not in service. Then zones are ignored, because nobody knows
     *     how many requests the endpoints can take
     */
    Balancer balancer(List<Host> all, List<Host> chosen, boolean doubtful, Balancer.Policy policy) {
        List<Host> near = new ArrayList<>();
        List<Host> far = new ArrayList<>();
        for (Host host : chosen) {
            (local != null && local.equals(host.endpoint().zone()) ? near : far).add(host);
        }
        if (near.isEmpty() || far.isEmpty() || doubtful) {
            share = NONE;
            return policy.over(chosen);
        }
        double part = weight(near) / (weight(near) + weight(far));
        double nearShare = Math.min(1, MOST * part * zones(all));
        share = nearShare;
        return new ZonedBalancer(policy.over(near), policy.over(far), nearShare);
    }

    private static double weight(List<Host> hosts) {
        return hosts.stream().mapToDouble(Host::weight).sum();
    }

    /** Counts zones that have endpoints, in service or not. Endpoints without a zone do not count. */
    private static int zones(List<Host> all) {
        Set<String> zones = new HashSet<>();
        for (Host host : all) {
            String zone = host.endpoint().zone();
            if (zone != null) {
                zones.add(zone);
            }
        }
        return zones.size();
    }

    /** Returns the share of requests that stays in the zone, from 0 to 1; null if zones make no difference. */
    @Nullable
    Double share() {
        double now = share;
        return now == NONE ? null : (Double) now;
    }

    /**
     * Balancer of two groups, near and far: a share of requests goes to the near group, the rest to the far one, evenly mixed.
     * Within each group, a balancer chooses as it would without zones. A retry goes to the other group if the request has tried
     * all endpoints of one.
     */
    private static final class ZonedBalancer implements Balancer {
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
}
