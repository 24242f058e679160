package dev.gateway.upstream;

import dev.gateway.message.RequestHead;
import dev.gateway.stream.SourceAddress;
import org.jspecify.annotations.Nullable;

/** What a {@link Balancer} may ask of the request that it chooses an endpoint for. Of use on the request's event loop only. */
public interface BalancerContext {
    /** Returns the request's head as the upstream will get it. */
    RequestHead head();

    /** Returns the address of the client, past trusted proxies. */
    SourceAddress client();

    /** Returns the endpoint of the attempt before, to be avoided where there is another; null for the first attempt. */
    @Nullable
    Endpoint previous();

    /** Whether an earlier attempt was made at the endpoint. */
    boolean isTried(Endpoint endpoint);
}
