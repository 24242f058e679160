package dev.gateway.upstream;

import dev.gateway.message.RequestHead;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Load balancing policy: chooses the endpoint of each attempt. Called on any event loop, concurrently. */
public interface Balancer {
    /**
     * Chooses an endpoint.
     *
     * @param head the request, for balancers that hash some of it
     * @param previous the endpoint of the attempt that failed, to be avoided where there is another, or null
     * @return null if no endpoint may be used now
     */
    @Nullable
    Endpoint choose(RequestHead head, @Nullable Endpoint previous);

    /** Returns what balances, the same way, over these endpoints only; itself if it has none of its own. */
    default Balancer over(List<Endpoint> endpoints) {
        return this;
    }
}
