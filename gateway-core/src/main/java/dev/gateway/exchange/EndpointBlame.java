package dev.gateway.exchange;

import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;

/** Tells how an endpoint did that had a request and failed it; how connections do, their pools tell. */
final class EndpointBlame {
    /** What a failed attempt tells of its endpoint. */
    enum Finding {
        NOTHING,
        /** It took a request and did not answer it. */
        UNANSWERED,
        /** It did not answer as it should. */
        ANSWERED_BADLY
    }

    private EndpointBlame() {}

    /**
     * Finds whether the endpoint is to blame.
     *
     * @param silent whether it owes an answer still: one that answers slowly but steadily is well, and so is one that waits
     *     for the client
     */
    static Finding of(Failure failure, boolean silent) {
        if (failure.stale() || failure.retry() == RetrySafety.ALWAYS) {
            return Finding
                    .NOTHING; // it was about to close the connection, or has said that it did not look at the request
        }
        return switch (failure.cause()) {
            // What the same request would meet again, such as PROTOCOL_ERROR in HTTP/2, tells of the request.
            case UPSTREAM_RESET_BEFORE_HEADERS ->
                failure.retry() == RetrySafety.NEVER ? Finding.NOTHING : Finding.UNANSWERED;
            case UPSTREAM_RESET_IN_BODY, UPSTREAM_PROTOCOL_ERROR -> Finding.ANSWERED_BADLY;
            case UPSTREAM_TIMEOUT -> silent ? Finding.UNANSWERED : Finding.NOTHING;
            default -> Finding.NOTHING;
        };
    }

    static void tell(Health health, Endpoint endpoint, Finding finding) {
        switch (finding) {
            case UNANSWERED -> health.onUnanswered(endpoint);
            case ANSWERED_BADLY -> health.onAnsweredBadly(endpoint);
            case NOTHING -> {}
        }
    }
}
