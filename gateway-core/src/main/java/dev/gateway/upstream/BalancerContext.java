package dev.gateway.upstream;

import dev.gateway.message.RequestHead;
import dev.gateway.stream.SourceAddress;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Balancer} may know of the request that it chooses an endpoint for. Called on the request's event loop only.
 */
public interface BalancerContext {
    /** Returns the request's head as the upstream will get it. */
    RequestHead head();

    /** Returns the address of the client, past trusted proxies. */
    SourceAddress client();

    /** Returns the endpoint of the previous attempt, which the balancer avoids if it can; null for the first attempt. */
    @Nullable
    Endpoint previous();

    /** Whether an earlier attempt was made at the endpoint. */
    boolean isTried(Endpoint endpoint);
}
