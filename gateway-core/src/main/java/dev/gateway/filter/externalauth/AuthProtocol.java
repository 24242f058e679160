package dev.gateway.filter.externalauth;

import dev.gateway.filter.FilterContext;
import dev.gateway.filter.UpstreamCall;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;

/** How an auth server is asked, and what its answers mean. Immutable, safe from any thread. */
interface AuthProtocol {
    /**
     * Returns the question about a request.
     *
     * @param tls whether it is asked by TLS
     */
    UpstreamCall.Request question(RequestHead head, boolean tls, FilterContext context, AuthPolicy policy);

    /** Takes out of a request, or its trailers, what only the server may say. */
    void remove(Fields request);

    /** Returns what an answer decides. The callee owns the answer's body. */
    AuthDecision decision(UpstreamCall.Answer answer, AuthPolicy policy);

    /** Whether an answer that broke off refused the request, or may have done so. */
    boolean mayRefuse(int status);
}
