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
     * path upstreams may read as one of theirs ({@link dev.gateway.message.path.PathReadings}).
     */
    default boolean guards() {
        return refusesAll();
    }

    /** Whether it refuses requests for their number or size only. */
    default boolean onlyLimits() {
        return false;
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
     * Returns a transform of the request's body, null for none, which is usual. Called once, when every filter has
     * proceeded, and only if the request has a body. The body passes the transforms of several filters in the order of the
     * filters. The filter edits the head to match, with {@link RequestHead#forgetLength} unless the length stays the same.
     * A retry sends the transformed bytes again.
     */
    default @Nullable BodyTransform requestBody(RequestHead head, FilterContext context) {
        return null;
    }

    /** The request ends with trailers, which may be edited in place; after {@link #onRequest}, if at all. */
    default void onRequestTrailers(Fields trailers, FilterContext context) {}

    /** The exchange is over; called once on each filter that has proceeded, in reverse order. */
    default void onEnd(FilterContext context) {}

    /** An interim response's head is there, such as 103; the filter may take fields out of it. There may be several. */
    default void onInterim(ResponseHead head, FilterContext context) {}

    /** The final response's head is there; filters see responses in reverse order, and only their own route's. */
    default void onResponse(ResponseHead head, FilterContext context) {}

    /**
     * Returns a transform of the body of an upstream's response, null for none, which is usual. Called once, after {@link
     * #onResponse} of every filter. Filters are called in reverse order, and the body passes their transforms in that order.
     * The filter edits the head to match, with {@link ResponseHead#forgetLength} unless the length stays the same. Not
     * called for tunnels, nor for the gateway's own responses.
     *
     * @param last whether the response has no body, so that the filter can edit the head only
     */
    default @Nullable BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
        return null;
    }

    /**
     * The exchange has failed, and the gateway answers so. The filters that the request has passed may add fields to the
     * answer; its others are none of theirs. The gateway writes {@code Content-Type}, {@code Content-Length}, {@code
     * Cache-Control} and {@code Proxy-Status} itself, and drops what filters add to these.
     */
    default void onFailure(Fields answer, FilterContext context) {}

    /**
     * Whether {@link #onResponse} and {@link #onFailure} also see answers of the gateway to requests that have not passed this
     * filter. It then must not rely on {@link #onRequest}.
     */
    default boolean seesAllAnswers() {
        return false;
    }

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
