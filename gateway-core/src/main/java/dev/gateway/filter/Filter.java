package dev.gateway.filter;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import org.jspecify.annotations.Nullable;

/**
 * HTTP filter: a step that a request passes on its way upstream and its response on the way back. One instance serves every
 * exchange of a route on every event loop, so it keeps no state of an exchange; methods that get a head may edit it in
 * place.
 */
public interface Filter {
    /**
     * Whether it refuses requests, or asks who sends them. The routes that have such a filter also take requests whose
     * path upstreams may read as one of theirs ({@link dev.gateway.message.PathReadings}).
     */
    default boolean guards() {
        return refusesAll();
    }

    /** Whether it refuses every request. */
    default boolean refusesAll() {
        return false;
    }

    /** The request's head is there; its body is not read until every filter has proceeded. */
    default Verdict onRequest(RequestHead head, FilterContext context) {
        return Verdict.PROCEED;
    }

    /**
     * Returns what looks at the first bytes of the body, or of the tunnel, before any goes upstream; null for nothing,
     * which is usual. Asked once, when every filter has proceeded.
     */
    default @Nullable BodyInspector inspector(RequestHead head, InspectionContext context) {
        return null;
    }

    /**
     * Returns what transforms the request's body, null for nothing, which is usual. Asked once, when every filter has
     * proceeded, and only if a body follows; bytes pass the transforms of several filters in the order of these. It may
     * edit the head to say so: {@link RequestHead#forgetLength} unless the length stays the same. If the request is sent
     * again, what was transformed is.
     */
    default @Nullable BodyTransform requestBody(RequestHead head, FilterContext context) {
        return null;
    }

    /** The request ends with trailers, which may be edited in place; after {@link #onRequest}, if at all. */
    default void onRequestTrailers(Fields trailers, FilterContext context) {}

    /** The exchange is over; called once on each filter that has proceeded, in reverse order. */
    default void onEnd(FilterContext context) {}

    /** The final response's head is there; filters see responses in reverse order, and only their own route's. */
    default void onResponse(ResponseHead head, FilterContext context) {}

    /**
     * Returns what transforms the body of an upstream's response, null for nothing, which is usual. Asked once, after
     * {@link #onResponse} of every filter; filters are asked in reverse order, and bytes pass their transforms in that
     * order. It may edit the head to say so: {@link ResponseHead#forgetLength} unless the length stays the same. Tunnels
     * have no body, and answers of the gateway are not transformed.
     *
     * @param last whether no body follows, so that only the head can be edited
     */
    default @Nullable BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
        return null;
    }

    /**
     * The exchange has failed, and the gateway answers so. The filters that the request has passed may add fields to the
     * answer; its others are none of theirs.
     */
    default void onFailure(Fields answer, FilterContext context) {}

    /**
     * Chooses the body of an error: of a failure after {@link #onFailure}, of an error that an upstream or a filter has
     * answered after {@link #onResponse}. The gateway calls the filters that the request has passed in reverse order, until
     * one chooses another body.
     */
    default ErrorBody errorBody(ErrorAnswer answer, FilterContext context) {
        return ErrorBody.UNCHANGED;
    }

    /** The response ends with trailers, which may be edited in place; after {@link #onResponse}, if at all. */
    default void onResponseTrailers(Fields trailers, FilterContext context) {}
}
