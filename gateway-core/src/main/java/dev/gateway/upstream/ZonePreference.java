package dev.gateway.upstream;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Zone preference: requests stay in the zone of the gateway as far as its endpoints can take them. They get {@value #MOST}
 * times their part of all weights, for each zone that sends requests; what is beyond goes to the other zones. Guarded by the
 * {@link Health} of its upstream, but for the share.
 */
final class ZonePreference {
    /** How many times the average an endpoint may get because it is near. */
    private static final double MOST = 1.4;

    private static final double NONE = -1;

    private final @Nullable String local;
    private volatile double share = NONE;

    /** Makes it; without a local zone it prefers nobody. */
    ZonePreference(@Nullable String local) {
        this.local = local;
    }

    /**
     * Returns what balances among the chosen.
     *
     * @param doubtful whether endpoints are chosen that are not in service: then their number does not say what they can
     *     take
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

    /** Counts zones that have endpoints, in service or not. Endpoints that are in none are far, and count for nothing here. */
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
}
