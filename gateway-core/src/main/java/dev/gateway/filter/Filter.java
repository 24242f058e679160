package dev.gateway.filter;

import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;

/**
 * A step that a request passes on its way upstream and its response on the way back. One instance serves every exchange
 * of a route on every event loop, so it keeps no state of an exchange; both methods may edit the head in place.
 */
public interface Filter {
    /** The request's head is there; its body is not read until every filter has proceeded. */
    default Verdict onRequest(RequestHead head, FilterContext context) {
        return Verdict.PROCEED;
    }

    /** The final response's head is there; filters see responses in reverse order, and only their own route's. */
    default void onResponse(ResponseHead head, FilterContext context) {}
}
