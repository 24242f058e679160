package dev.gateway.exchange.attempt;

import dev.gateway.upstream.BalancerContext;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.Upstream;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Chooses the endpoint of an attempt: the balancer's choice, but for a retry one that the request has not tried. */
public final class EndpointChoice {
    private static final int MAX_CHOICES = 8;

    private EndpointChoice() {}

    /** Returns the chosen endpoint, null if there is none to choose. */
    public static @Nullable Endpoint choose(Upstream upstream, BalancerContext request) {
        Endpoint chosen = upstream.balancer().choose(request);
        if (chosen == null || request.previous() == null) {
            return chosen;
        }
        boolean repeated = false; // a hash, for example, will not choose another one
        for (int i = 0; !repeated && chosen != null && !isFresh(upstream, request, chosen) && i < MAX_CHOICES; i++) {
            Endpoint next = upstream.balancer().choose(request);
            repeated = chosen.equals(next);
            chosen = next;
        }
        if (chosen != null && isFresh(upstream, request, chosen)) {
            return chosen;
        }
        Endpoint other = untried(upstream, request);
        return other == null ? chosen : other;
    }

    /** Whether no attempt was there, and its last request did not fail. */
    public static boolean isFresh(Upstream upstream, BalancerContext request, Endpoint endpoint) {
        return !request.isTried(endpoint) && !upstream.host(endpoint).isFailing();
    }

    /** Whether there is an endpoint that may be chosen and was not tried. */
    public static boolean hasUntried(Upstream upstream, BalancerContext request) {
        return untried(upstream, request) != null;
    }

    /**
     * Returns an ejected endpoint that the request has not tried, null if there is none. Endpoints ejected for failed
     * connections come before those ejected for bad answers: another failed connection costs the request nothing.
     */
    public static @Nullable Endpoint spare(Upstream upstream, BalancerContext request) {
        List<Host> hosts = upstream.hosts();
        int start = hosts.isEmpty() ? 0 : ThreadLocalRandom.current().nextInt(hosts.size());
        Endpoint reached = null;
        for (int i = 0; i < hosts.size(); i++) {
            Host host = hosts.get((start + i) % hosts.size());
            if (host.isSpare() && !request.isTried(host.endpoint())) {
                if (host.isUnreached()) {
                    return host.endpoint();
                }
                reached = host.endpoint();
            }
        }
        return reached;
    }

    /** Whether an attempt makes sense now: the last connection to a usable endpoint succeeded, or no endpoint is usable. */
    static boolean isWorthTrying(Upstream upstream) {
        boolean any = false;
        for (Host host : upstream.hosts()) {
            if (isUsable(host)) {
                if (!host.isUnreached()) {
                    return true;
                }
                any = true;
            }
        }
        return !any;
    }

    /** Whether an endpoint may come back soon: checks have not found it unhealthy for longer than this. */
    public static boolean isAnyHopeful(Upstream upstream, long nanos, long millis) {
        for (Host host : upstream.hosts()) {
            if (isUsable(host) && !host.isUnhealthyForLonger(millis, nanos)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isUsable(Host host) {
        return host.isChosen() || host.isSpare();
    }

    /** Whether any endpoint has answered a request since this time. */
    public static boolean isAnyHeardSince(Upstream upstream, long nanos) {
        for (Host host : upstream.hosts()) {
            if (host.isHeardSince(nanos)) {
                return true;
            }
        }
        return false;
    }

    /** Returns an endpoint that may be chosen and was not tried, preferably one whose last request did not fail. */
    private static @Nullable Endpoint untried(Upstream upstream, BalancerContext request) {
        List<Host> hosts = upstream.hosts();
        int start = hosts.isEmpty() ? 0 : ThreadLocalRandom.current().nextInt(hosts.size()); // spreads retries
        Endpoint failing = null;
        for (int i = 0; i < hosts.size(); i++) {
            Host host = hosts.get((start + i) % hosts.size());
            if (host.isChosen() && !request.isTried(host.endpoint())) {
                if (!host.isFailing()) {
                    return host.endpoint();
                }
                failing = failing == null ? host.endpoint() : failing;
            }
        }
        return failing;
    }
}
