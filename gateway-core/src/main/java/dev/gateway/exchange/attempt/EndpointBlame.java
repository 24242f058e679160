package dev.gateway.exchange.attempt;

import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;

/** Decides whether the endpoint is to blame for a failed request. Pools report failed connections. */
public final class EndpointBlame {
    /** What a failed attempt says about its endpoint. */
    public enum Finding {
        NOTHING,
        /** It took a request and did not answer it in time. */
        UNANSWERED,
        /** It took a request and reset it, or its connection, before it answered. */
        RESET,
        /** Its response broke off. */
        BROKEN_OFF,
        /** Its response was not HTTP. */
        ANSWERED_BADLY
    }

    private EndpointBlame() {}

    /**
     * Returns whether the endpoint is to blame.
     *
     * @param silent whether the gateway waited for the endpoint. An endpoint that sends slowly but steadily is healthy, and
     *     so is one that waits for the client
     */
    public static Finding of(Failure failure, boolean silent) {
        if (failure.stale() || failure.retry() == RetrySafety.ALWAYS) {
            return Finding
                    .NOTHING; // it was about to close the connection, or has said that it did not look at the request
        }
        return switch (failure.cause()) {
            // A reset that forbids a retry, such as PROTOCOL_ERROR in HTTP/2, is about the request.
            case UPSTREAM_RESET_BEFORE_HEADERS ->
                failure.retry() == RetrySafety.NEVER ? Finding.NOTHING : Finding.RESET;
            case UPSTREAM_RESET_IN_BODY -> Finding.BROKEN_OFF;
            case UPSTREAM_PROTOCOL_ERROR -> Finding.ANSWERED_BADLY;
            case UPSTREAM_TIMEOUT -> silent ? Finding.UNANSWERED : Finding.NOTHING;
            default -> Finding.NOTHING;
        };
    }

    /**
     * Reports what an attempt says.
     *
     * @param sentNanos when its request was sent
     * @param nanos now
     */
    public static void tell(Health health, Endpoint endpoint, Finding finding, long sentNanos, long nanos) {
        switch (finding) {
            case UNANSWERED -> health.onUnanswered(endpoint, sentNanos, nanos);
            case RESET -> health.onReset(endpoint, sentNanos, nanos);
            case BROKEN_OFF -> health.onBrokenOff(endpoint, sentNanos, nanos);
            case ANSWERED_BADLY -> health.onAnsweredBadly(endpoint);
            case NOTHING -> {}
        }
    }
}
