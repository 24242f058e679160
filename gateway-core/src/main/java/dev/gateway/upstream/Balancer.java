package dev.gateway.upstream;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Load balancing policy: chooses the endpoint of each attempt. Called on any event loop, concurrently. */
public interface Balancer {
    /**
     * Chooses an endpoint.
     *
     * @param request the request, and which endpoints it has tried; valid during the call only
     * @return null if there is no endpoint to choose
     */
    @Nullable
    Endpoint choose(BalancerContext request);

    /** Whether the request belongs to the endpoint that this chooses for it, and leaves that only if it must. */
    default boolean keeps(BalancerContext request) {
        return false;
    }

    /** Whether this balancer uses the latency of hosts, so that callers must measure it. */
    default boolean timesAnswers() {
        return false;
    }

    /**
     * Makes a balancer for one upstream, each time that the set of endpoints to choose from changes; not on an event loop.
     * State that must survive such a change belongs in the hosts.
     */
    @FunctionalInterface
    interface Policy {
        /** Returns a balancer that chooses among these hosts; the list may be empty. */
        Balancer over(List<Host> hosts);

        /** Whether it chooses the same endpoint wherever the gateway is, so that zones do not count. */
        default boolean ignoresZones() {
            return false;
        }
    }
}
