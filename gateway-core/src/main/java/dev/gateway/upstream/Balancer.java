package dev.gateway.upstream;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Load balancing policy: chooses the endpoint of each attempt. Called on any event loop, concurrently. */
public interface Balancer {
    /**
     * Chooses an endpoint.
     *
     * @param request what is to be sent, and what was tried before; of use during the call only
     * @return null if no endpoint may be used now
     */
    @Nullable
    Endpoint choose(BalancerContext request);

    /** Whether it is of use to tell hosts how long answers take. */
    default boolean timesAnswers() {
        return false;
    }

    /**
     * Makes a balancer of one upstream, off the event loops, each time that other endpoints may be chosen. What must
     * outlive that is kept in the hosts.
     */
    @FunctionalInterface
    interface Policy {
        /** Returns what balances over exactly these, of which there may be none. */
        Balancer over(List<Host> hosts);
    }
}
